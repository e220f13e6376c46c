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
await providers.add('window', facts, async ({ document }, { documents }) => {
  sent.push((await extractText(Uint8Array.from(await documents.bytes(document, 0, document.size)))).text)
  return { id: 'l1', status: 'accepted' }
})
const { send } = await startService(t, { config: { providerDirectories: providers.directories } })
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

await t.test('an address that does not fit is refused before anything is sent', async (t) => {
  const long = { ...recipient, address: Array.from({ length: 30 }, () => 'Floor').join('\n') }
  const more = { postal: { recipient: long, providerName: 'window', settings: { addressPage: true } } }
  const { status, body } = await send('POST', '/api/invoicing/postal', {
    body: chainBody(['invoicing', 'postal'], invoiceRequest()['template'], more)
  })
  has(t, [status, body.status, body.message], [422, 'partial', /too long for the window/])
  t.same(sent, [])
})
