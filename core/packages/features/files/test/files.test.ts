import { PDFDocument } from '@cantoo/pdf-lib'
import { sql } from 'kysely'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { until } from '../../../../../test/core/work/support.ts'
import { formIn, openConsole } from '../../../../../test/plugins/support/console.ts'
import { testProviders } from '../../../../../test/plugins/support/providers.ts'
import { clockAt } from '../../../../../test/support/clock.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { readingOf } from '../../../../../test/support/reading.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../../../../../test/support/service.ts'
import { mailServer } from '../../../../../test/support/smtp.ts'
import { sweepAndWork } from '../../../../../test/support/sweep.ts'
import { createNetwork } from '../../../vendor-io/network.ts'
import { maxFiles } from '../contract/files.ts'
import { createUploadedFiles } from '../service/files.ts'
import { createScan } from '../service/scan.ts'

const day = 24 * 3600
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)
const pdf = Buffer.from('%PDF-1.7\n%Terms of Acme Tea\n%%EOF\n')
/** A PDF with so many pages, of A4 unless given; `turned` by so many degrees. */
async function pages (count: number, turned = 0, size: [width: number, height: number] = [595, 842]): Promise<Buffer> {
  const made = await PDFDocument.create()
  for (let page = 0; page < count; page++) made.addPage(size).setRotation({ type: 'degrees', angle: turned } as never)
  return Buffer.from(await made.save())
}
async function locked (): Promise<Buffer> {
  const made = await PDFDocument.load(await pages(1))
  made.encrypt({ ownerPassword: 'owner', userPassword: '' })
  return Buffer.from(await made.save())
}

/** A scanner that refuses what has the word "virus" in it, and is away while `away`. */
let away = false
const requested: number[] = []
const scanner = createHttpServer((request, response) => {
  void buffer(request).then((bytes) => {
    requested.push(bytes.length)
    const clean = !bytes.includes('virus')
    response.writeHead(away ? 500 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(clean ? { clean } : { clean, name: 'Test-Signature' }))
  })
}).listen(0, '127.0.0.1')
await once(scanner, 'listening')
t.teardown(() => scanner.close())
const portOf = (server: { address: () => unknown }): number => (server.address() as AddressInfo).port

const providers = await testProviders(t)
const narrow =
  'idempotency: { kind: \'none\' }, maxSize: 400, inlinePictures: false, attachments: { most: 1, types: [\'application/pdf\'] }'
await providers.add('narrow', { of: 'email', settings: '{ allowedSenders: AllowedSenders() }', service: narrow },
  () => Promise.resolve({ id: '1', status: 'sent' }))
const taken = () => Promise.resolve({ id: '1', status: 'sent' })
await providers.add('short', { of: 'postal', service: 'idempotency: { kind: \'none\' }, mailTypes: [\'SIMPLE\'], maxPages: 3' }, taken)
await providers.add('plain', {}, taken)
const clock = clockAt('2026-03-14T09:30:00Z')
const mails = await mailServer(t)
const service = await startService(t, {
  config: { providerDirectories: providers.directories, scan: { url: `http://127.0.0.1:${portOf(scanner)}/scan` }, filesQuota: 300_000 },
  replacements: {
    now: clock.now,
    network: createNetwork({ loopback: 'allowed', ca: [mails.ca], route: mails.route })
  }
})
const { app, url } = service
const newest = { 'x-api-version': '1.1.0' }
const send: typeof service.send = (method, path, { headers = {}, ...sending } = {}, ...login) =>
  service.send(method, path, { ...sending, headers: { ...newest, ...headers } }, ...login)
const smtp = { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] }
await send('PUT', '/api/v1/company/providers/smtp', { body: { settings: smtp } })
await send('PUT', '/api/v1/company/providers/narrow', { body: { settings: { allowedSenders: ['@acme.test'] } } })
for (const code of ['short', 'plain']) await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })

const path = '/api/v1/files'
const upload = (bytes: Buffer | string, name: string, type = 'application/octet-stream', login?: Login): Promise<Answer> =>
  send('POST', `${path}?filename=${encodeURIComponent(name)}`, { body: Buffer.from(bytes), headers: { 'content-type': type } }, login)
const form = (...parts: [name: string, bytes: Buffer | string, filename: string, type?: string][]): Promise<Answer> => {
  const boundary = 'a-boundary'
  const pieces = parts.map(([name, bytes, filename, type = 'application/octet-stream']) => [
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\ncontent-type: ${type}\r\n\r\n`,
    bytes,
    '\r\n'
  ]).flat()
  const body = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)))
  return send('POST', path, { body, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } })
}
const mail = (attachments: object[], more: object = {}) => ({
  providerName: 'smtp',
  from: 'billing@acme.test',
  to: 'ada@example.com',
  subject: 'Hello',
  body: '<p>Hello <img src="cid:logo"></p>',
  attachments,
  ...more
})
const sendMail = (attachments: object[], more: object = {}, login?: Login): Promise<Answer> =>
  send('POST', '/api/email', { body: mail(attachments, more) }, login)
const validate = (attachments: object[], more: object = {}): Promise<Answer> =>
  send('POST', '/api/email/validate', { body: mail(attachments, more) })
/** What the simulator has got that has a field. */
const atSimulator = async (field: string): Promise<object> => (await readingOf(service).outbox()).find((one) => field in one)
/** The files on the disk. */
const stored = async (): Promise<string[]> => {
  const all = await readdir(join(app.get('config').dataDirectory, 'files', 'files'), { recursive: true }).catch(() => [])
  return all.filter((name) => /[0-9a-f-]{36}/.test(name))
}
const remove = (id: string): Promise<Answer> => send('DELETE', `${path}/${id}`)
const { sweep } = createUploadedFiles({
  database: app.get('database'),
  files: app.get('files'),
  uses: app.get('fileUses'),
  receive: app.get('receive'),
  log: app.get('log'),
  now: clock.now,
  quota: 0,
  scan: undefined
})

await t.test('a mail carries files that were uploaded, the document of another dispatch, and a picture in its text', async (t) => {
  const terms = await form(['file', pdf, 'C:\\docs\\Terms.pdf', 'application/pdf'])
  has(t, terms, {
    status: 201,
    body: {
      filename: 'Terms.pdf',
      contentType: 'application/pdf',
      size: pdf.length,
      createdAt: '2026-03-14T09:30:00.000Z',
      expiresAt: '2026-03-15T09:30:00.000Z'
    }
  })
  t.equal(requested.at(-1), pdf.length, 'the scanner got all of it')
  const logo = await upload(picture, 'logo.png', 'image/png')
  has(t, logo, { status: 201, body: { contentType: 'image/png' } })
  const invoice = await send('POST', '/api/invoicing', { body: invoiceRequest() })
  has(t, invoice, { status: 200 })
  const { body: { generatedDocument } } = invoice
  const attachments = [
    { fileId: terms.body.id },
    { documentId: generatedDocument.id, filename: 'Your invoice.pdf' },
    { fileId: logo.body.id, inline: 'logo' }
  ]
  has(t, await validate(attachments), { status: 200, body: { result: 'success' } })
  has(t, await send('GET', `${path}/${terms.body.id}`), { body: { expiresAt: '2026-03-15T09:30:00.000Z' } }, 'validation keeps nothing')
  has(t, await sendMail(attachments), { status: 200 })
  const source = mails.mails.at(-1)?.source ?? ''
  contains(t, source, 'filename=Terms.pdf')
  contains(t, source, /filename="Your invoice\.pdf"/)
  contains(t, source, 'Content-ID: <logo>')
  for (const bytes of [pdf, picture]) contains(t, source.replaceAll('\r\n', ''), bytes.toString('base64'))
  has(t, await send('GET', `${path}/${terms.body.id}`), { body: { expiresAt: '2026-04-13T09:30:00.000Z' } }, 'a dispatch keeps it')
  has(t, await send('GET', path), { body: { data: [{ id: logo.body.id }, { id: terms.body.id }] } })

  const chain = await send('POST', '/api/invoicing/email', {
    body: {
      ...invoiceRequest(),
      email: {
        providerName: 'smtp',
        from: 'billing@acme.test',
        to: 'ada@example.com',
        subject: 'S',
        body: 'T',
        attachments: [{ fileId: terms.body.id }]
      }
    }
  })
  has(t, chain, { status: 200 })
  const [, first, second] = (mails.mails.at(-1)?.source ?? '').split(/Content-Disposition: attachment; filename=/)
  contains(t, first ?? '', chain.body.generatedDocument.filename, 'the document of the chain comes first')
  contains(t, second ?? '', 'Terms.pdf')
  await remove(terms.body.id)
  await remove(logo.body.id)
})

await t.test('a file that is not what it says, holds a virus, is empty or too large, and another form leave nothing behind', async (t) => {
  const before = await stored()
  const refused: [ask: () => Promise<Answer>, status: number, path: string, code: string][] = [
    [() => upload(picture, 'invoice.pdf'), 422, '/file', 'not_what_it_says'],
    [() => upload(picture, 'x', 'application/pdf'), 422, '/file', 'not_what_it_says'],
    [() => upload('MZ\0\0program', 'notes.txt', 'text/plain'), 422, '/file', 'not_what_it_says'],
    [() => upload('Plain words.', 'scan.png', 'image/png'), 422, '/file', 'not_what_it_says'],
    [() => upload('%PDF-1.7\nvirus', 'x.pdf'), 422, '/file', 'infected'],
    [() => upload('', 'x.txt'), 422, '/file', 'empty'],
    [() => form(), 400, '/file', 'required'],
    [() => form(['other', 'x', 'x.txt']), 400, '/other', 'unknown_field'],
    [() => upload(Buffer.alloc(310_000, 'a'), 'x.txt', 'text/plain'), 422, '/file', 'over_quota']
  ]
  for (const [ask, status, place, code] of refused) {
    has(t, await ask(), { status, body: { details: [{ path: place, code }] } }, code)
  }
  const bomb = await send('POST', path, {
    body: gzipSync(Buffer.alloc(60 * 1024 * 1024)),
    headers: { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' }
  })
  has(t, bomb, { status: 413, body: { error: 'payload_too_large' } })
  away = true
  has(t, await upload(pdf, 'x.pdf'), { status: 503, body: { error: 'service_unavailable' } }, 'nothing is taken unscanned')
  away = false
  t.strictSame(await stored(), before)
  has(t, await send('GET', path), { body: { data: [] } })
})

await t.test('all files of a company have room for so many bytes together, and what is removed makes room', async (t) => {
  const half = Buffer.alloc(200_000, 'a')
  const first = await upload(half, 'a.txt', 'text/plain')
  has(t, first, { status: 201 })
  const answers = await Promise.all([upload(half, 'b.txt', 'text/plain'), upload(half, 'c.txt', 'text/plain')])
  t.strictSame(answers.map(({ status }) => status), [422, 422])
  const { admin } = await service.company('roomy')
  has(t, await upload(half, 'a.txt', 'text/plain', admin), { status: 201 }, 'another company has its own')
  t.equal((await remove(first.body.id)).status, 204)
  t.equal((await remove(first.body.id)).status, 404)
  const again = await upload(half, 'b.txt', 'text/plain')
  has(t, again, { status: 201 })
  await remove(again.body.id)
})

await t.test('a company has so many files at most', async (t) => {
  const { admin, companyId } = await service.company('busy')
  await sql`insert into files (file_id, company_id, user_id, test, filename, content_type, size, sha256, storage_key, created_at, expires_at)
    select gen_random_uuid(), ${companyId}, (select min(user_id) from users where company_id = ${companyId}), false, 'x', 'text/plain', 1, '',
      'files/' || gen_random_uuid(), ${clock.now()}, ${clock.now()} from generate_series(1, ${maxFiles - 1})`.execute(
    app.get('database').owner
  )
  const answers = await Promise.all(['a', 'b'].map((name) => upload('x', `${name}.txt`, 'text/plain', admin)))
  t.strictSame(answers.map(({ status }) => status).toSorted(), [201, 422])
  has(t, await upload('x', 'c.txt', 'text/plain', admin), { body: { details: [{ path: '/file', code: 'too_many' }] } })
  await sweep()
  const { rows } = await sql`select from files where company_id = ${companyId}`.execute(app.get('database').owner)
  t.equal(rows.length, 1, 'all that have expired go in one sweep')
  has(t, await upload('x', 'c.txt', 'text/plain', admin), { status: 201 })
})

await t.test('a path begins with a document that is there already: it is sent as it is, and stays when its file goes', async (t) => {
  const whole = await pages(2)
  const [terms, logo] = [await upload(whole, 'Terms.pdf'), await upload(picture, 'logo.png')]
  const document = { fileId: terms.body.id }
  const chain = {
    providerName: 'smtp',
    document,
    email: { from: 'billing@acme.test', to: 'ada@example.com', subject: 'S', body: 'T' }
  }
  has(t, await send('POST', '/api/file/email/validate', { body: chain }), { status: 200, body: { result: 'success' } })
  const sent = await send('POST', '/api/file/email', { body: chain })
  has(t, sent, {
    status: 200,
    body: { generatedDocument: { filename: 'Terms.pdf', sha256: terms.body.sha256, contentType: 'application/pdf' } }
  })
  contains(t, (mails.mails.at(-1)?.source ?? '').replaceAll('\r\n', ''), whole.toString('base64'))
  await remove(terms.body.id)
  const { id } = sent.body.generatedDocument
  t.equal((await send('GET', `/api/v1/documents/${id}`)).status, 200)
  const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
  const letter = { providerName: 'simulator', document: { documentId: id }, postal: { recipient } }
  has(t, await send('POST', '/api/postal', { body: letter }), {
    status: 200,
    body: { generatedDocument: { sha256: terms.body.sha256 } }
  })
  const signers = [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }]
  const refused: [path: string, body: object, status: number, place: string, code: string][] = [
    ['postal', { ...letter, document: { fileId: logo.body.id } }, 422, '/document', 'no_pdf'],
    ['postal', { ...letter, document }, 422, '/document/fileId', 'not_found'],
    ['postal', { ...letter, template: { id: 1, data: {} } }, 400, '/document', 'contradiction'],
    ['postal', { ...letter, document: {} }, 400, '/document', 'type'],
    ['file', { document: { documentId: id }, file: { outputFormat: 'DOCX' } }, 422, '/file/outputFormat', 'contradiction'],
    ['file/esign', { providerName: 'simulator', document: { documentId: id }, esign: { signers } }, 422, '/esign/places',
      'no_places_to_sign']
  ]
  for (const [path, body, status, place, code] of refused) {
    const answers = [await send('POST', `/api/${path}/validate`, { body }), await send('POST', `/api/${path}`, { body })]
    for (const answer of answers) {
      has(t, answer, { status, body: { details: [{ path: place, code }] } }, `${path} ${code}`)
    }
  }
  await remove(logo.body.id)
})

await t.test('a letter has further documents: one PDF in their order, whose pages are known before it is sent', async (t) => {
  const [one, two, secret] = await Promise.all([upload(await pages(1), 'one.pdf'), upload(await pages(2), 'two.pdf'),
    upload(await locked(), 'secret.pdf')])
  const [broken, logo] = [await upload(pdf, 'broken.pdf'), await upload(picture, 'logo.png')]
  const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
  const letter = (documents: object[], more: object = { document: { fileId: one.body.id } }) => ({
    providerName: 'short',
    ...more,
    postal: { recipient, documents }
  })
  const both = letter([{ fileId: two.body.id }])
  has(t, await send('POST', '/api/postal/validate', { body: both }), { status: 200, body: { result: 'success' } })
  const sent = await send('POST', '/api/postal', { body: both })
  has(t, sent, { status: 200, body: { generatedDocument: { filename: 'one.pdf', pages: 3 } } })
  const whole = await fetch(sent.body.generatedDocument.url.replace('https://dispatch.example.com', url))
  t.equal((await PDFDocument.load(await whole.arrayBuffer())).getPageCount(), 3)

  const data = { number: 'G-1', date: '2026-03-14', subject: 'Hello', sender: recipient, recipient, paragraphs: ['Dear Ada'] }
  const ofTemplate = letter([{ fileId: two.body.id }], { template: { id: 30, data } })
  has(t, await send('POST', '/api/postal', { body: ofTemplate }), { status: 200, body: { generatedDocument: { pages: 3 } } })
  const after = { ...invoiceRequest(), postal: { providerName: 'short', recipient, documents: [{ fileId: two.body.id }] } }
  has(t, await send('POST', '/api/invoicing/postal/validate', { body: after }), { status: 200 })
  has(t, await send('POST', '/api/invoicing/postal', { body: after }), {
    status: 200,
    body: { generatedDocument: { pages: 1 }, steps: [{ generatedDocument: { pages: 1 } }, { generatedDocument: { pages: 3 } }] }
  })

  const refused: [body: object, place: string, code: string][] = [
    [letter([{ fileId: two.body.id }, { fileId: one.body.id }]), '/postal/documents', 'not_supported_by_provider'],
    [letter([{ fileId: two.body.id }, { fileId: one.body.id }], { template: { id: 30, data } }), '/postal/documents',
      'not_supported_by_provider'],
    [letter([{ fileId: secret.body.id }]), '/postal/documents/0', 'encrypted_pdf'],
    [letter([{ fileId: one.body.id }, { fileId: broken.body.id }]), '/postal/documents/1', 'unreadable_pdf'],
    [letter([{ fileId: logo.body.id }]), '/postal/documents/0', 'no_pdf'],
    [letter([{ fileId: one.body.id }], { document: { fileId: broken.body.id } }), '/document', 'unreadable_pdf'],
    [letter([{ documentId: one.body.id }]), '/postal/documents/0/documentId', 'not_found']
  ]
  const tooMany = {
    ...invoiceRequest(),
    postal: { providerName: 'short', recipient, documents: [two, two].map(({ body: { id } }) => ({ fileId: id })) }
  }
  const brokenFirst = {
    providerName: 'short',
    document: { fileId: broken.body.id },
    postal: { recipient, documents: [{ fileId: one.body.id }] }
  }
  for (const [path, body, place, code] of [
    ['invoicing/postal', tooMany, '/postal/documents', 'not_supported_by_provider'],
    ['file/postal', brokenFirst, '/document', 'unreadable_pdf']
  ] as const) {
    for (const way of [`/api/${path}/validate`, `/api/${path}`]) {
      has(t, await send('POST', way, { body }), { status: 422, body: { details: [{ path: place, code }] } }, `${way} ${place}`)
    }
  }
  for (const [body, place, code] of refused) {
    const { status, body: { details } } = await send('POST', '/api/postal/validate', { body })
    t.equal(status, 422, code)
    has(t, details, [{ path: place, code }], `${place} ${code}`)
    has(t, await send('POST', '/api/postal', { body }), { status: 422, body: { details: [{ path: place, code }] } })
  }
  for (const { body: { id } } of [one, two, secret, broken, logo]) await remove(id)
})

await t.test('an envelope has a document that is given, with places for its signers', async (t) => {
  const files = { contract: await pages(2), terms: await pages(1, 0, [612, 792]), turned: await pages(1, 90) }
  const [contract, terms, turned] = await Promise.all([upload(files.contract, 'contract.pdf'), upload(files.terms, 'terms.pdf'),
    upload(files.turned, 'turned.pdf')])
  const signers = ['Ada', 'Grace'].map((firstName) => ({ email: `${firstName.toLowerCase()}@example.com`, firstName, lastName: 'L' }))
  const places = [{ signer: 1, page: 2, x: 72, y: 600 }, { signer: 2, page: 3, x: 72, y: 700, width: 150, height: 40 }]
  const documents = [{ fileId: terms.body.id }]
  const envelope = (esign: object, more: object = {}) => ({
    providerName: 'simulator',
    document: { fileId: contract.body.id },
    signers,
    esign,
    ...more
  })
  const { places: _, ...none } = { places, documents }
  const whole = envelope({ places, documents })
  has(t, await send('POST', '/api/esign/validate', { body: whole }), { status: 200, body: { result: 'success' } })
  const sent = await send('POST', '/api/esign', { body: whole })
  has(t, sent, { status: 200, body: { generatedDocument: { filename: 'contract.pdf', pages: 3 } } })
  has(t, await atSimulator('signatures'), {
    signatures: [
      { signer: 1, page: 2, x: 72, y: 600, width: 200, height: 60, pageSize: { width: 595, height: 842 } },
      { signer: 2, page: 3, width: 150, height: 40, pageSize: { width: 612, height: 792 } }
    ]
  }, 'each with the size of its page')
  const { signers: _signers, ...rest } = envelope({})
  const chain = { ...rest, esign: { signers, places: places.map((place) => ({ ...place, page: 1 })) } }
  has(t, await send('POST', '/api/file/esign', { body: chain }), { status: 200 })
  has(t, await atSimulator('signatures'), { signatures: [{ page: 1, pageSize: { width: 595, height: 842 } }, { page: 1 }] })
  const refused: [body: object, place: string, code: string][] = [
    [envelope(none), '/esign/places', 'no_places_to_sign'],
    [envelope({ places: places.slice(0, 1), documents }), '/esign/places', 'no_places_to_sign'],
    [envelope({ places }), '/esign/places/1/page', 'unknown_page'],
    [envelope({ places: [...places, { signer: 3, page: 1, x: 0, y: 0 }], documents }), '/esign/places/2/signer', 'unknown_signer'],
    [envelope({ places: [...places, { signer: 1, page: 1, x: 500, y: 0 }], documents }), '/esign/places/2', 'outside_page'],
    [envelope({ places: [...places, { signer: 1, page: 2, x: 100, y: 620 }], documents }), '/esign/places/2', 'overlapping'],
    [envelope({ places, documents: [{ fileId: turned.body.id }] }), '/esign/places/1/page', 'turned_page']
  ]
  for (const [body, place, code] of refused) {
    has(t, await send('POST', '/api/esign/validate', { body }), { status: 422, body: { details: [{ path: place, code }] } }, code)
  }
  const later = { ...chain, sendAt: new Date(clock.now().getTime() + 3_600_000).toISOString() }
  const { body: { dispatchId } } = await send('POST', '/api/file/esign', { body: later })
  const ill = signers.map((signer) => ({ ...signer, email: 'reject@example.com' }))
  const failed = await send('POST', '/api/esign', { body: { ...whole, signers: ill } })
  t.not(failed.status, 200)
  clock.advance(3631)
  await sweepAndWork(app.get('pipeline'), app.get('pipelineParts'))
  has(t, await send('GET', `/api/v1/dispatches/${dispatchId}`), { body: { status: 'succeeded' } }, 'places in what is sent later')

  for (const { body: { id } } of [contract, terms, turned]) await remove(id)
  const again = { body: { esign: { signers, places } } }
  const retried = await send('POST', `/api/v1/dispatches/${failed.body.dispatchId}/retry`, again)
  has(t, retried, { status: 200 }, 'its files are not needed any more')
  has(t, await atSimulator('signatures'), { signatures: [{ pageSize: { width: 595 } }, { page: 3, pageSize: { width: 612 } }] })
})

await t.test('an invoice has files beside it, where its vendor takes some', async (t) => {
  const sheet = await upload(picture, 'sheet.png')
  const invoice = {
    ...invoiceRequest(),
    providerName: 'simulator',
    invoicing: { attachments: [{ fileId: sheet.body.id, filename: 'hours.png' }] }
  }
  has(t, await send('POST', '/api/invoicing', { body: invoice }), { status: 200 })
  has(t, await atSimulator('attachments'), { attachments: [{ filename: 'hours.png', sha256: sheet.body.sha256 }] })
  has(t, await send('POST', '/api/invoicing/validate', { body: { ...invoice, providerName: 'plain' } }), {
    status: 422,
    body: { details: [{ path: '/invoicing/attachments', code: 'not_supported_by_provider' }] }
  })
  await remove(sheet.body.id)
})

await t.test('version 1.0.1 knows no attachments, and no document in place of a template', async (t) => {
  const fileId = '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90'
  const headers = { 'x-api-version': '1.0.1' }
  for (const [way, body, place] of [
    ['email', mail([{ fileId }]), '/attachments'],
    ['file', { document: { fileId } }, '/document'],
    ['invoicing/email', { ...invoiceRequest(), email: { ...mail([{ fileId }]) } }, '/email/attachments']
  ] as const) {
    const { status, body: { details } } = await send('POST', `/api/${way}`, { body, headers })
    t.equal(status, 400)
    t.ok((details as { path: string, code: string }[]).some(({ path, code }) => path === place && code === 'unknown_field'), way)
  }
  const { body: { details } } = await send('POST', '/api/file', { body: {}, headers })
  has(t, details, [{ path: '/template', code: 'required', message: 'The field "template" is required, or "fileContent" instead.' }])
})

await t.test('nobody names a file or a document that they may not see: there is none', async (t) => {
  const { admin, member } = await service.company('other')
  const own = await upload(pdf, 'x.pdf')
  const theirs = await upload(pdf, 'x.pdf', 'application/pdf', admin)
  const none = (field: string, index = 0) => ({
    status: 422,
    body: { error: 'validation_failed', details: [{ path: `/attachments/${index}/${field}`, code: 'not_found' }] }
  })
  has(t, await sendMail([{ fileId: own.body.id }, { fileId: theirs.body.id }]), none('fileId', 1))
  has(t, await validate([{ fileId: theirs.body.id }]), none('fileId'))
  t.equal((await send('GET', `${path}/${own.body.id}`, {}, admin)).status, 404)
  t.equal((await send('DELETE', `${path}/${own.body.id}`, {}, admin)).status, 404)
  const { body: { generatedDocument } } = await send('POST', '/api/invoicing', { body: invoiceRequest() }, member)
  has(t, await sendMail([{ documentId: generatedDocument.id }]), none('documentId'))
  const { body: key } = await send('POST', '/api/v1/keys', { body: { name: 'Shop', mode: 'live', scopes: ['send', 'read_own'] } }, member)
  const headers = { authorization: `Bearer ${key.key}` }
  const ofAdmin = (await send('POST', '/api/email/validate', { body: mail([{ fileId: theirs.body.id }]), headers }, member)).body
  has(t, ofAdmin, { details: [{ code: 'not_found' }] }, 'a key sees what its user has uploaded')
  has(t, await sendMail([{ fileId: own.body.id, documentId: own.body.id }]), { status: 400 })
  has(t, await sendMail([{}]), { status: 400 })
  await remove(own.body.id)
})

await t.test('a provider says how many files it takes, of which types, and how large a mail may be', async (t) => {
  const [terms, logo] = [await upload(pdf, 'x.pdf'), await upload(picture, 'logo.png')]
  const ids = [{ fileId: terms.body.id }, { fileId: logo.body.id, inline: 'logo' }]
  const refused = await validate(ids, { providerName: 'narrow' })
  has(t, refused, {
    status: 422,
    body: {
      details: [
        { path: '/attachments', message: /at most 1 files/ },
        { path: '/attachments/1', message: /does not take image\/png/ }
      ]
    }
  })
  has(t, await validate([{ fileId: terms.body.id }], { providerName: 'narrow', body: 'T' }), { status: 200 })
  const large = await upload(Buffer.concat([pdf, Buffer.alloc(400, 'a')]), 'y.pdf')
  has(t, await validate([{ fileId: large.body.id }], { providerName: 'narrow', body: 'T' }), {
    status: 422,
    body: { details: [{ path: '/body', message: /at most 400 bytes/ }] }
  })
  has(t, await validate([{ fileId: terms.body.id, inline: 'logo' }]), {
    body: { details: [{ path: '/attachments/0/inline', code: 'no_picture' }] }
  })
  for (const { body: { id } } of [terms, logo, large]) await remove(id)
})

await t.test('a file that no dispatch uses goes after 24 hours, one that is used after 30 days, and what was never recorded', async (t) => {
  const [unused, used] = [await upload(pdf, 'x.pdf'), await upload(pdf, 'y.pdf')]
  has(t, await sendMail([{ fileId: used.body.id }]), { status: 200 })
  clock.advance(2 * day)
  t.equal((await send('GET', `${path}/${unused.body.id}`)).status, 404)
  has(t, await sendMail([{ fileId: unused.body.id }]), { status: 422, body: { details: [{ code: 'not_found', message: /24 hours/ }] } })
  const [own = ''] = (await stored()).filter((name) => name.endsWith(used.body.id))
  const folder = join(app.get('config').dataDirectory, 'files', 'files')
  const lost = own.replace(used.body.id, '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90')
  await writeFile(join(folder, lost), 'x')
  await sweep()
  const left = await stored()
  t.ok(left.includes(own))
  lacks(t, left.join(), unused.body.id)
  t.notOk(left.includes(lost))
  clock.advance(29 * day)
  await sweep()
  t.strictSame(await stored(), [])
})

await t.test('who fills in a form uploads a file on the way, comes back to it, and chooses the file there', async (t) => {
  const { open, follow, post, signIn } = openConsole(service)
  const cookie = await signIn()
  const page = (await follow('/send?template=30&service=postal', cookie)).body
  contains(t, page, 'formaction="/console/send/files"')
  const fields: Record<string, string> = { ...formIn(page), ':add': 'request.documents' }
  const { ':once': draft = '' } = fields
  const way = (await post('/send/files', fields, cookie)).headers.get('location')
  t.equal(way, `/console/files?draft=${draft}`)
  const body = new FormData()
  body.append('file', new Blob([pdf], { type: 'application/pdf' }), 'Beside.pdf')
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const taken = await fetch(`${url}${way ?? ''}`, { method: 'POST', redirect: 'manual', body, headers })
  const there = taken.headers.get('location') ?? ''
  const [, id = ''] = /added=([0-9a-f-]+)/.exec(there) ?? []
  contains(t, (await open(there.slice('/console'.length), cookie)).body, `href="/console/send?draft=${draft}"`)
  contains(t, (await post('/send', fields, cookie)).body, `<option value="${id}">Beside.pdf</option>`)
  await remove(id)
})

await t.test('the console takes a file, tells its id, and removes it', async (t) => {
  const { open, post, confirm, signIn } = openConsole(service)
  const cookie = await signIn()
  const body = new FormData()
  body.append('file', new Blob([pdf], { type: 'application/pdf' }), 'Terms.pdf')
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const taken = await fetch(`${url}/console/files`, { method: 'POST', redirect: 'manual', body, headers })
  t.equal(taken.status, 303)
  const place = taken.headers.get('location') ?? ''
  const [, id = ''] = /added=([0-9a-f-]+)/.exec(place) ?? []
  const page = (await open(place.slice('/console'.length), cookie)).body
  for (const text of ['Terms.pdf', id, 'application/pdf']) contains(t, page, text)
  // The answer comes before the end of the form: nothing waits for the whole of it.
  const begun = new TransformStream<Uint8Array, Uint8Array>()
  const writer = begun.writable.getWriter()
  const answered = fetch(`${url}/console/files`, {
    method: 'POST',
    redirect: 'manual',
    body: begun.readable,
    duplex: 'half',
    headers: { ...headers, 'content-type': 'multipart/form-data; boundary=a-boundary' }
  })
  await writer.write(Buffer.from('--a-boundary\r\ncontent-disposition: form-data; name="other"; filename="x"\r\n\r\nx'))
  t.equal((await answered).status, 400)
  await writer.close().catch(() => undefined)
  const wrong = new FormData()
  wrong.append('file', new Blob([picture], { type: 'application/pdf' }), 'x.pdf')
  const refused = await fetch(`${url}/console/files`, { method: 'POST', redirect: 'manual', body: wrong, headers })
  t.equal(refused.status, 422)
  contains(t, await refused.text(), 'is said to be application/pdf')
  t.equal((await post('/files', { file: 'a.pdf' }, cookie)).status, 422, 'a form without a file is answered, too')
  contains(t, (await post(`/files/${id}/remove`, {}, cookie)).body, 'Remove Terms.pdf')
  t.equal((await confirm(`/files/${id}/remove`, {}, cookie)).status, 303)
  lacks(t, (await open('/files', cookie)).body, id)
})

await t.test('a daemon of ClamAV is asked bit by bit; what it does not scan is not taken', async (t) => {
  const heard: Buffer[] = []
  let answer = 'stream: OK\0'
  const daemon = createServer((socket: Socket) => {
    let all = Buffer.alloc(0)
    socket.on('data', (piece) => {
      all = Buffer.concat([all, Buffer.from(piece)])
      if (!all.subarray(-4).equals(Buffer.alloc(4))) return
      heard.push(all)
      if (answer === '') socket.destroy()
      else socket.end(answer)
    })
    socket.on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  await once(daemon, 'listening')
  t.teardown(() => daemon.close())
  const scan = createScan({ host: '127.0.0.1', port: portOf(daemon) })
  const ask = () => scan({ bytes: Readable.from([Buffer.from('ab'), Buffer.from('c')]), size: 3 })
  t.strictSame(await ask(), { verdict: 'clean' })
  t.equal(heard[0]?.toString('latin1'), 'zINSTREAM\0\0\0\0\x02ab\0\0\0\x01c\0\0\0\0')
  answer = 'stream: Eicar-Signature FOUND\0'
  t.strictSame(await ask(), { verdict: 'infected', name: 'Eicar-Signature' })
  answer = 'INSTREAM size limit exceeded. ERROR\0'
  t.strictSame(await ask(), { verdict: 'too large' })
  for (const wrong of ['stream: ERROR\0', '']) {
    answer = wrong
    await t.rejects(ask())
  }
  daemon.close()
  await t.rejects(createScan({ path: '/nowhere/clamd.ctl' })({ bytes: Readable.from([]), size: 0 }))
})

await t.test('a file of a mail that is sent later is kept until 30 days after that, also when it is moved', async (t) => {
  const { body: { id } } = await upload(pdf, 'later.pdf')
  const newest = { 'x-api-version': '1.1.0' }
  const ahead = (days: number): string => new Date(clock.now().getTime() + days * day * 1000).toISOString()
  const expiry = async (): Promise<string> => (await send('GET', `${path}/${id}`)).body.expiresAt as string
  const { body: { dispatchId } } = await send('POST', '/api/email', {
    body: mail([{ fileId: id }], { sendAt: ahead(100) }),
    headers: newest
  })
  t.equal(await expiry(), ahead(130))
  t.equal((await send('PUT', `/api/v1/dispatches/${dispatchId}/schedule`, { body: { sendAt: ahead(200) }, headers: newest })).status, 200)
  t.equal(await expiry(), ahead(230))
})

await t.test('a file that something names which waits is kept as long as that does, and counts meanwhile', async (t) => {
  const hour = 3600
  const [drafted, batched, unused, cancelled, deferred] = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((name) => upload(pdf, `${name}.pdf`))
  )
  const ids = { drafted: drafted?.body.id, batched: batched?.body.id, unused: unused?.body.id, cancelled: cancelled?.body.id }
  const contract = await upload(await pages(1), 'contract.pdf')
  const envelope = await send('POST', '/api/esign', {
    body: {
      providerName: 'simulator',
      document: { fileId: contract.body.id },
      signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'L' }],
      esign: { places: [{ signer: 1, page: 1, x: 72, y: 600 }] },
      deferred: [{ on: 'esign.completed', service: 'email', ...mail([{ fileId: deferred?.body.id }]) }]
    }
  })
  has(t, envelope, { status: 200 })
  const draft = await send('POST', '/api/v1/drafts', { body: { service: 'email', request: mail([{ fileId: ids.drafted }]) } })
  has(t, draft, { status: 201 })
  const rows = await send('POST', '/api/v1/batches?service=email&hold=true', {
    body: Buffer.from(`${JSON.stringify(mail([{ fileId: ids.batched }]))}\n`),
    headers: { 'content-type': 'application/x-ndjson' }
  })
  has(t, rows, { status: 202 })
  // It is checked at the time of the clock, at which its file is still there.
  await until('it is checked', async () => (await send('GET', `/api/v1/batches/${rows.body.batchId}`)).body.status === 'paused')
  const sendAt = new Date(clock.now().getTime() + 100 * day * 1000).toISOString()
  const later = await send('POST', '/api/email', { body: mail([{ fileId: ids.cancelled }], { sendAt }) })
  const there = async (id: string): Promise<number> => (await send('GET', `${path}/${id}`)).status
  const expiry = async (id: string): Promise<string> => (await send('GET', `${path}/${id}`)).body.expiresAt as string
  const fromNow = (seconds: number): string => new Date(clock.now().getTime() + seconds * 1000).toISOString()
  await sweep()
  t.equal(await expiry(ids.cancelled), fromNow(130 * day), 'what is sent later keeps it')
  has(t, await send('POST', `/api/v1/dispatches/${later.body.dispatchId}/cancel`), { status: 200 })
  await sweep()
  t.equal(await expiry(ids.cancelled), fromNow(30 * day), 'and lets go of it')
  for (let days = 0; days < 4; days++) {
    clock.advance(13 * hour)
    await sweep()
    clock.advance(11 * hour)
  }
  t.strictSame(await Promise.all([ids.drafted, ids.batched, ids.unused].map(there)), [200, 200, 404])
  clock.advance(30 * hour)
  t.equal(await there(ids.batched), 404, 'while nothing sweeps')
  await sweep()
  t.equal(await there(ids.batched), 200, 'a service that was down for long finds them')
  t.equal((await send('DELETE', `/api/v1/drafts/${draft.body.id}`)).status, 204)
  has(t, await send('POST', `/api/v1/batches/${rows.body.batchId}/cancel`), { status: 200 })
  clock.advance(25 * hour)
  await sweep()
  t.strictSame(await Promise.all([ids.drafted, ids.batched].map(there)), [404, 404], 'once that has ended they go')
  for (let days = 0; days < 30; days++) {
    clock.advance(day)
    await sweep()
  }
  t.strictSame(await Promise.all([deferred?.body.id, contract.body.id].map(there)), [200, 404], 'what waits for a signature keeps its file')
  has(t, await send('POST', `/api/v1/dispatches/${envelope.body.dispatchId}/cancel`), { status: 200 })
  clock.advance(2 * day)
  await sweep()
  t.equal(await there(deferred?.body.id), 404)
})

await t.test('a document expires as its company says for the services of its path, where that is sooner', async (t) => {
  has(t, await send('PUT', '/api/v1/company/retention', { body: { days: 20, services: { upload: 5 } } }), { status: 200 })
  const made = async (path: string, body: object): Promise<string> =>
    (await send('POST', `/api/${path}`, { body })).body.generatedDocument.expiresAt as string
  const ahead = (days: number): string => new Date(clock.now().getTime() + days * day * 1000).toISOString()
  const content = { fileContent: { templateName: 'Invoice', data: (invoiceRequest()['template'] as { data: object }).data } }
  t.equal(await made('invoicing', invoiceRequest({}, { providerName: 'simulator' })), ahead(20))
  t.equal(await made('file/upload', { ...content, providerName: 'simulator' }), ahead(5))
  const part = '--edge\r\ncontent-disposition: form-data; name="file"; filename="x.pdf"\r\n\r\n%PDF-1.7\r\n--edge--\r\n'
  const uploaded = { body: Buffer.from(part), headers: { 'content-type': 'multipart/form-data; boundary=edge' } }
  has(t, await send('POST', '/api/upload', uploaded), { status: 200, body: { generatedDocument: { expiresAt: ahead(5) } } })
  has(t, await send('PUT', '/api/v1/company/retention', { body: { days: null, services: {} } }), { status: 200 })
  t.equal(await made('invoicing', invoiceRequest({}, { providerName: 'simulator' })), ahead(30))
})
