import { documentFiles } from '@dispatch/core'
import { createLocalFiles, StorageUnavailable } from '@dispatch/files'
import { createDataKeys } from '@dispatch/tables'
import { createHash } from 'node:crypto'
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { chainBody } from '../support/chains.ts'
import { clockAt } from '../support/clock.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { readingOf } from '../support/reading.ts'
import { invoiceRequest, type Login, startService } from '../support/service.ts'
import { testProviders } from './support/providers.ts'

const clock = clockAt('2026-03-14T09:30:00.000Z')
const providers = await testProviders(t)
let restore = (): Promise<void> => Promise.resolve()
/** Alters the document that they are given, where it is stored, or removes it. */
const careless: Record<string, (path: string, bytes: Buffer) => Promise<void>> = {
  altering: (path, bytes) => writeFile(path, Buffer.concat([bytes.subarray(0, -1), Buffer.from('!')])),
  removing: (path) => rm(path)
}
for (const [code, damage] of Object.entries(careless)) {
  await providers.add(code, {}, async ({ document: { id } }: any, { reference }) => {
    const path = await pathOf(id)
    const bytes = await readFile(path)
    await damage(path, bytes)
    restore = () => writeFile(path, bytes)
    return { id: `${code}-${reference}`, status: 'created' }
  })
}
const service = await startService(t, { config: { providerDirectories: providers.directories }, replacements: { now: clock.now } })
for (const code of Object.keys(careless)) await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
const { events, outbox } = readingOf(service)
const sent = await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number: 'Zoë/7 "x"' }) })
const document = sent.body.generatedDocument
const link: string = new URL(document.url).pathname

/** Where the bytes of a document lie. */
async function pathOf (documentId: string): Promise<string> {
  const { storage_key: key } = await service.app.get('database').owner.selectFrom('documents').select('storage_key').where('document_id',
    '=', documentId).executeTakeFirstOrThrow()
  return join(service.app.get('config').dataDirectory, 'files', key)
}

type Download = { status: number, headers: Headers, bytes: Buffer }

async function download (path: string, login?: Login): Promise<Download> {
  const authorization = `Basic ${Buffer.from(`${login?.email}:${login?.password}`).toString('base64')}`
  const response = await fetch(service.url + path, { headers: login === undefined ? {} : { authorization } })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

const demo: Login = { email: 'demo@example.com', password: 'demo-password' }

for (const [way, path, login] of [
  ['with credentials', `/api/v1/documents/${document.id}`, demo],
  [
    'by its signed link',
    link,
    undefined
  ]
] as const) {
  await t.test(`a document is downloaded ${way}, whole and harmless`, async (t) => {
    const { status, headers, bytes } = await download(path, login)
    t.equal(status, 200)
    t.equal(bytes.subarray(0, 5).toString(), '%PDF-')
    t.equal(bytes.length, document.size)
    t.equal(createHash('sha256').update(bytes).digest('hex'), document.sha256)
    t.equal(headers.get('content-length'), String(document.size))
    t.equal(headers.get('content-type'), 'application/pdf')
    t.equal(headers.get('content-disposition'), 'attachment; filename="Invoice-Zo_-7-x-.pdf"; filename*=UTF-8\'\'Invoice-Zo%C3%AB-7-x-.pdf')
    t.equal(headers.get('x-content-type-options'), 'nosniff')
    contains(t, headers.get('content-security-policy'), 'sandbox')
    contains(t, headers.get('cache-control'), 'no-store')
  })
}

await t.test('a document is one page of PDF for a small invoice, kept for 30 days', (t) => {
  has(t, document, { filename: 'Invoice-Zoë-7-x-.pdf', contentType: 'application/pdf', pages: 1, expiresAt: '2026-04-13T09:30:00.000Z' })
  t.end()
})

await t.test('a link that was altered in any place, shortened or made longer is a 404', async (t) => {
  const token = link.slice('/d/'.length)
  const flipped = Array.from(token, (sign, index) => `${token.slice(0, index)}${sign === 'A' ? 'B' : 'A'}${token.slice(index + 1)}`)
  for (const altered of [...flipped, token.slice(1), `${token}A`, token.toLowerCase(), 'x']) {
    const { status, body, headers } = await service.send('GET', `/d/${altered}`, {}, null)
    t.equal(status, 404, altered)
    has(t, body, { error: 'not_found' })
    lacks(t, JSON.stringify(body), document.id)
    t.equal(headers.get('content-disposition'), null)
  }
})

await t.test('a document needs credentials under its id', async (t) => {
  t.equal((await download(`/api/v1/documents/${document.id}`)).status, 401)
})

await t.test('a document of another company is a 404, as is one that does not exist', async (t) => {
  const { admin, operator } = await service.company('other')
  for (const login of [admin, operator]) {
    has(t, await service.send('GET', `/api/v1/documents/${document.id}`, {}, login), { status: 404, body: { error: 'not_found' } })
  }
  for (const id of ['x', '1', '00000000-0000-7000-8000-000000000000']) {
    has(t, await service.send('GET', `/api/v1/documents/${id}`), { status: 404, body: { error: 'not_found' } })
  }
})

await t.test('the answer of a dispatch later has the same link', async (t) => {
  const { body } = await service.send('GET', `/api/v1/dispatches/${sent.body.dispatchId}`)
  t.strictSame(body.steps[0].generatedDocument, document)
})

await t.test('the same data at the same moment give the same bytes', async (t) => {
  const { member } = await service.company('again')
  const again = await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number: 'Zoë/7 "x"' }) }, member)
  t.equal(again.body.generatedDocument.sha256, document.sha256)
  t.not(again.body.generatedDocument.id, document.id)
})

await t.test('it lies sealed on the disk; without its key it is closed, and not said to be damaged', async (t) => {
  const { member } = await service.company('sealed')
  const { body } = await service.send('POST', '/api/invoicing', { body: invoiceRequest() }, member)
  const { id, size } = body.generatedDocument as { id: string, size: number }
  const bytes = await readFile(await pathOf(id))
  t.notOk(bytes.includes('%PDF'))
  t.equal(bytes.length, size + 68)
  // As another process, which does not remember the key.
  const { app } = service
  const database = app.get('database')
  const keys = createDataKeys({ place: createLocalFiles(t.testdir()), database, keyring: app.get('keyring'), log: app.get('log') })
  const files = documentFiles(createLocalFiles(join(app.get('config').dataDirectory, 'files'), keys))
  const { storage_key: key, sha256 } = await database.owner.selectFrom('documents').select(['storage_key', 'sha256'])
    .where('document_id', '=', id).executeTakeFirstOrThrow()
  const refused = await files.stream({ key, size, sha256 }).catch((error: unknown) => error)
  has(t, refused, { word: 'service_unavailable' })
})

const losses: Record<string, [lose: (path: string, size: number) => Promise<void>, told: string]> = {
  'was truncated': [(path, size) => truncate(path, size - 1), 'it was altered'],
  'is missing': [(path) => rm(path), 'its file is missing']
}

for (const [what, [lose, reported]] of Object.entries(losses)) {
  await t.test(`of a document that ${what} on the disk nobody gets a byte: the answer says so at once, the timeline once`, async (t) => {
    const { body } = await service.send('POST', '/api/invoicing', { body: invoiceRequest() })
    const { id, size, url } = body.generatedDocument
    await lose(await pathOf(id), size)
    for (const answer of [
      await service.send('GET', `/api/v1/documents/${id}`),
      await service.send('GET', new URL(url).pathname, {}, null)
    ]) {
      has(t, answer, { status: 500, body: { error: 'document_damaged' } })
      contains(t, answer.body.message, reported)
      t.equal(answer.headers.get('content-disposition'), null)
    }
    t.strictSame((await events(body.dispatchId, 'damaged')).map(({ actor, facts }) => ({ actor, facts })), [{
      actor: { kind: 'system' },
      facts: { documentId: id }
    }])
    t.equal(
      service.log.filter((line) => line.includes('"level":50') && line.includes(id) && line.includes('is not what was stored')).length,
      2,
      'and the operators read of it'
    )
  })
}

await t.test('a document is not said to be damaged because its storage is away', async (t) => {
  const kept = createLocalFiles(t.testdir())
  let isAway = false
  const files = documentFiles({
    ...kept,
    stream: (file) => isAway ? Promise.reject(new StorageUnavailable('away', undefined)) : kept.stream(file)
  })
  const { send } = await startService(t, { replacements: { files } })
  const { body: { dispatchId, generatedDocument: { id } } } = await send('POST', '/api/invoicing', { body: invoiceRequest() })
  isAway = true
  has(t, await send('GET', `/api/v1/documents/${id}`), { status: 503, body: { error: 'service_unavailable' } })
  const { body: { data } } = await send('GET', `/api/v1/dispatches/${dispatchId}/events`)
  t.ok(data.length > 0)
  t.strictSame(data.filter(({ kind }: { kind: string }) => kind === 'damaged'), [])
  isAway = false
  t.equal((await send('GET', `/api/v1/documents/${id}`)).status, 200)
})

for (const [next, providerName, why] of [
  ['email', 'altering', /was altered/],
  ['postal', 'altering', /was altered/],
  [
    'upload',
    'altering',
    /was altered/
  ],
  ['email', 'removing', /is missing/]
] as const) {
  await t.test(`a document that is damaged on its way through a chain reaches nobody by ${next}: ` +
    `${providerName}; restored, it does`, async (t) => {
    const body = chainBody(['invoicing', next], invoiceRequest()['template'], { providerName })
    const sent = (await outbox()).length
    const { status, body: { error, dispatchId, steps } } = await service.send('POST', `/api/invoicing/${next}`, { body })
    has(t, { status, error, steps }, {
      status: 422,
      error: 'partially_dispatched',
      steps: [{ status: 'accepted' }, { status: 'rejected', error: { error: 'document_damaged', message: why } }]
    })
    t.strictSame((await events(dispatchId, 'failed')).map(({ facts }) => facts), [{ outcome: 'rejected', error: 'document_damaged' }])
    t.equal((await outbox()).length, sent)
    await restore()
    has(t, await service.send('POST', `/api/v1/dispatches/${dispatchId}/retry`), { status: 200, body: { status: 'succeeded' } })
    t.equal((await outbox()).length, sent + 1)
  })
}

await t.test('after 30 days neither credentials nor link lead to it', async (t) => {
  clock.advance(30 * 24 * 3600 - 1)
  t.equal((await download(link)).status, 200)
  t.equal((await download(`/api/v1/documents/${document.id}`, demo)).status, 200)
  clock.advance(1)
  t.equal((await download(link)).status, 404)
  t.equal((await download(`/api/v1/documents/${document.id}`, demo)).status, 404)
})
