import { PDFDocument } from '@cantoo/pdf-lib'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { extractText } from 'unpdf'
import { chainBody } from '../support/chains.ts'
import { has } from '../support/matching.ts'
import { invoiceRequest, startService } from '../support/service.ts'
import { testProviders } from './support/providers.ts'

const window = '{ left: 22, top: 50, width: 80, height: 28 }'
const service = `mailTypes: ['SIMPLE'], duplex: true, idempotency: { kind: 'none' }, maxPages: 2, addressPage: {
  when: { '/settings/addressPage': { const: true } }, window: ${window}, windows: { setting: 'side', places: { right: ${window} } } }`
const facts = {
  of: 'postal' as const,
  settings: '{ side: Type.Optional(Type.String({ title: \'Side\' })) }',
  requestSettings: '{ addressPage: Type.Optional(Type.Boolean({ title: \'Page\' })) }',
  service
}

/** What the vendor got, in order: the texts of the pages of each letter. */
const sent: string[][] = []
const providers = await testProviders(t)
let meanwhile: (document: string) => Promise<void> = () => Promise.resolve()
await providers.add('window', facts, async ({ document }, { documents }) => {
  sent.push((await extractText(Uint8Array.from(await documents.bytes(document, 0, document.size)))).text)
  await meanwhile(document.id)
  return { id: 'l1', status: 'accepted' }
})
const { app, log, send } = await startService(t, { config: { providerDirectories: providers.directories } })
await send('PUT', '/api/v1/company/providers/window', { body: { settings: { side: 'right' } } })

const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
const address = 'Ada Lovelace 12 rue de la Paix 75002 Paris FRANCE'
const data = {
  sender: { name: 'Acme', address: '1 High St', city: 'London', country: 'GB' },
  recipient,
  date: '2026-03-14',
  subject: 'Order',
  paragraphs: ['The engine is ready.']
}
const letter = (changes: object = {}): object => ({
  providerName: 'window',
  template: { id: 30, data },
  postal: { recipient },
  settings: { addressPage: true },
  ...changes
})
const flat = (text: string | undefined): string => (text ?? '').replaceAll(/\s+/g, ' ').trim()

await t.test('a page with the address comes before a letter, where the provider declares one and the request has it', async (t) => {
  const { status, body } = await send('POST', '/api/postal', { body: letter() })
  has(t, [status, body.generatedDocument], [200, { pages: 1 }])
  const [[first, second, ...more] = []] = sent.splice(0)
  t.same([flat(first), more], [address, []])
  has(t, flat(second), /The engine is ready/)
  const opened = await send('GET', new URL(body.generatedDocument.url).pathname + new URL(body.generatedDocument.url).search)
  t.equal(opened.status, 200)

  t.equal((await send('POST', '/api/postal', { body: letter({ settings: {} }) })).status, 200)
  t.equal(sent.splice(0)[0]?.length, 1, 'else the letter goes as it is')
})

await t.test('so it does before the document of a chain, which stays what it is for the others', async (t) => {
  const more = { postal: { recipient, providerName: 'window', settings: { addressPage: true } } }
  const { status, body } = await send('POST', '/api/invoicing/postal', {
    body: chainBody(['invoicing', 'postal'], invoiceRequest()['template'], more)
  })
  has(t, [status, body.steps[1].providerResponse], [200, { id: 'l1' }])
  const [[first, second] = []] = sent.splice(0)
  t.equal(flat(first), address)
  has(t, flat(second), /Consulting/)
})

await t.test('its pages count: a letter of two pages is one too many, and so is the empty back of the address', async (t) => {
  const two = { ...data, paragraphs: Array.from({ length: 30 }, () => 'The engine is ready. '.repeat(8)) }
  const postal = { recipient, duplex: true }
  for (const changes of [{ template: { id: 30, data: two } }, { postal }]) {
    for (const path of ['/api/postal/validate', '/api/postal']) {
      has(t, await send('POST', path, { body: letter(changes) }), {
        status: 422,
        body: { details: [{ path: '/template', code: 'not_supported_by_provider', message: /at most 2 pages, and this has 3/ }] }
      })
    }
  }
  t.same(sent, [])
})

const newer = { 'x-api-version': '1.1.0' }

async function small (encrypted = false): Promise<Uint8Array> {
  const pdf = await PDFDocument.create()
  pdf.addPage()
  if (encrypted) pdf.encrypt({ ownerPassword: 'owner', userPassword: '' })
  return pdf.save()
}

/** A letter whose document is a file that was uploaded. */
async function given (pdf: Uint8Array, changes: object = {}): Promise<object> {
  const { body: { id } } = await send('POST', '/api/v1/files', { body: pdf, headers: { 'content-type': 'application/pdf' } })
  return letter({ template: undefined, document: { fileId: id }, ...changes })
}

const tooLong = { ...recipient, address: Array.from({ length: 30 }, () => 'Floor').join('\n') }

await t.test('an address that does not fit is told by a validation, and a chain is refused before anything of it is done', async (t) => {
  const more = { postal: { recipient: tooLong, providerName: 'window', settings: { addressPage: true } } }
  const chain = chainBody(['invoicing', 'postal'], invoiceRequest()['template'], more)
  const single = await given(await small(), { postal: { recipient: tooLong } })
  for (const [path, body] of [['invoicing/postal/validate', chain], ['invoicing/postal', chain], ['postal/validate', single]] as const) {
    has(t, await send('POST', `/api/${path}`, { body, headers: newer }), {
      status: 422,
      body: {
        error: 'validation_failed',
        details: [{ path: '/postal/recipient', code: 'no_room', message: /too long for the window/ }]
      }
    }, path)
  }
  t.same(sent, [])
})

await t.test('the page is made before an attempt is recorded: where it cannot be, nothing has begun', async (t) => {
  const { status, body } = await send('POST', '/api/postal', {
    body: await given(await small(), { postal: { recipient: tooLong } }),
    headers: newer
  })
  has(t, [status, body.details], [422, [{ path: '/postal/recipient', code: 'no_room' }]])
  const { body: { data: events } } = await send('GET', `/api/v1/dispatches/${body.dispatchId}/events`)
  t.same(events.filter(({ kind }: { kind: string }) => kind === 'calling'), [])
  t.same(sent, [])
})

await t.test('a given PDF that takes no page is told by a validation, as by the dispatch', async (t) => {
  const large = Buffer.alloc(20 * 1024 * 1024 + 1, '%PDF-1.7\n')
  for (const [pdf, code] of [[await small(true), 'encrypted_pdf'], [large, 'too_large']] as const) {
    const body = await given(pdf)
    for (const path of ['/api/postal/validate', '/api/postal']) {
      has(t, await send('POST', path, { body, headers: newer }), {
        status: 422,
        body: { details: [{ path: '/document', code }] }
      }, `${path} ${code}`)
    }
  }
  t.same(sent, [])
})

await t.test('nothing is left of the letter with its page, and a disk that does not remove it changes no outcome', async (t) => {
  const spool = join(app.get('config').dataDirectory, 'spool')
  t.same(await readdir(spool), [])
  meanwhile = async (id) => {
    await rm(join(spool, id))
    await mkdir(join(spool, id))
  }
  has(t, await send('POST', '/api/postal', { body: letter() }), { status: 200, body: { status: 'succeeded' } })
  t.ok(log.some((line) => line.includes('a document with its page was not removed')))

  meanwhile = () => Promise.reject(new Error('The vendor fails.'))
  for (const name of await readdir(spool)) await rm(join(spool, name), { recursive: true })
  t.not((await send('POST', '/api/postal', { body: letter() })).status, 200)
  t.same(await readdir(spool), [])
})
