import { hash } from 'node:crypto'
import t from 'tap'
import { isDeliveryService } from '../../core/packages/contract/delivery.ts'
import { unavailable } from '../../core/packages/host/provider.ts'
import { provide } from '../fixtures/providers/folders.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, operator, startService } from '../support/service.ts'
import { testProviders } from './support/providers.ts'

const providers = await testProviders(t)
const [, folder = ''] = providers.directories
const service = await startService(t, { config: { providerDirectories: providers.directories }, replacements: { renderer: quickRenderer } })
const read = async (): Promise<string> => (await service.send('GET', '/docs/providers', {}, null)).body

/** The cells of a provider's row in the table of a service, by the titles of their columns. */
function rowOf (page: string, name: string, code: string): Record<string, string> | undefined {
  const [section = ''] = new RegExp(`<section aria-labelledby="${name}">[^]*?</section>`).exec(page) ?? []
  const titles = [...section.matchAll(/<th scope="col">(.*?)<\/th>/g)].map(([, title = '']) => title)
  const row = section.split('\n').find((line) => line.startsWith('<tr>') && line.includes(`<small>${code}</small>`))
  return row === undefined
    ? undefined
    : Object.fromEntries([...row.matchAll(/<t[hd].*?<\/t[hd]>/g)].map(([cell], index) => [titles[index] ?? '', cell]))
}

const text = (cell = ''): string => cell.replaceAll(/<[^>]*>/g, '')

/** The values in a cell. The page folds a long list behind how many they are. */
const values = (cell = ''): string => text(cell.replace(/<summary>\d+<\/summary>/, ''))

await t.test('a page under /docs has a table for each service of what every provider supports', async (t) => {
  const page = await read()
  const shown = (name: string, code: string): object =>
    Object.fromEntries(Object.entries(rowOf(page, name, code) ?? {}).map(([title, cell]) => [title, text(cell)]))
  has(t, shown('invoicing', 'stripe'), {
    provider: 'Stripestripe',
    'document types': 'INVOICE, QUOTE, CREDIT',
    'send by email': 'INVOICE',
    document: 'theirs',
    idempotency: 'look-up'
  })
  has(t, shown('invoicing', 'simulator'), { document: '—', 'send by email': 'yes' })
  has(t, shown('postal', 'maileva'), {
    'mail types': 'SIMPLE, REGISTERED',
    color: 'yes',
    duplex: 'yes',
    countries: '—',
    'max pages': '—',
    webhook: 'basic',
    'delivery tracking': /printed.*mailed|mailed/
  })
  has(t, shown('postal', 'lob'), { 'max pages': '58', idempotency: 'key for 1 day', webhook: 'hmac', countries: /^\d{3}US, / })
  has(t, shown('esign', 'universign'), { webhook: 'jws', verbs: /^dispatch, lookup, status/ })
  has(t, shown('sms', 'twilio'), { 'alphanumeric sender': 'yes', 'max segments': '—', idempotency: 'no', verbs: 'dispatch, status' })
  has(t, shown('email', 'smtp'), { verbs: 'dispatch' })
  has(t, shown('upload', 'disk'), { limits: '—', idempotency: 'key for 365 days' })
  contains(t, rowOf(page, 'sms', 'twilio')?.['limits'], /<ul><li>.*<\/li><\/ul>/)
  t.equal(rowOf(page, 'sms', 'stripe'), undefined)
})

await t.test('a table has the hosts and settings of every provider', async (t) => {
  const page = await read()
  t.strictSame(text(rowOf(page, 'reach', 'stripe')?.['hosts']), 'api.stripe.com, files.stripe.com, pay.stripe.com')
  contains(t, text(rowOf(page, 'reach', 'stripe')?.['settings']), /^secretKey, .*timezone \(optional\)/)
  contains(t, text(rowOf(page, 'reach', 'smtp')?.['hosts']), 'the setting host')
})

await t.test('after several failures of its vendor a provider is failing, on the page and in the list', async (t) => {
  await providers.add('moody', {}, () => Promise.reject(unavailable('Moody is down.')))
  await service.send('POST', '/api/v1/providers/reload', {}, operator)
  await service.send('PUT', '/api/v1/company/providers/moody', { body: { settings: {} } })
  const send = () => service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'moody' }) })
  const health = async () => {
    const { body } = await service.send('GET', '/api/v1/providers')
    const { state } = body.data.find(({ code }: { code: string }) => code === 'moody').health
    return [state, text(rowOf(await read(), 'reach', 'moody')?.['health'])]
  }
  t.strictSame(await health(), ['ok', 'ok'])
  for (let failures = 0; failures < 5; failures++) t.equal((await send()).status, 503)
  t.strictSame(await health(), ['failing', 'failing'])
  t.equal(text(rowOf(await read(), 'reach', 'stripe')?.['health']), 'ok')
})

await t.test('the table shows what the list of providers shows', async (t) => {
  const page = await read()
  const { body } = await service.send('GET', '/api/v1/providers')
  for (const { code, services } of body.data) {
    for (const [name, { verbs, webhook, statuses }] of Object.entries<any>(services)) {
      const row = rowOf(page, name, code)
      t.equal(text(row?.['verbs']), verbs.join(', '), `${code} ${name}`)
      t.equal(row !== undefined && 'webhook' in row, isDeliveryService(name), `${code} ${name}`)
      if (isDeliveryService(name)) t.equal(text(row?.['webhook']), webhook?.join(', ') ?? 'no', `${code} ${name}`)
      t.equal(row !== undefined && 'delivery tracking' in row, statuses !== undefined, `${code} ${name}`)
      if (statuses !== undefined) {
        t.equal(values(row?.['delivery tracking']), statuses.length === 0 ? 'no' : statuses.join(', '), `${code} ${name}`)
      }
    }
  }
  has(t, body.data.find(({ code }: { code: string }) => code === 'universign').services.esign, { webhook: ['jws'], statuses: Array })
})

await t.test('the page is for everybody, brings its style along and lets nothing else in', async (t) => {
  const { status, headers, body } = await service.send('GET', '/docs/providers', {}, null)
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'text/html; charset=utf-8')
  const [, style = ''] = /<style>([^]*?)<\/style>/.exec(body) ?? []
  t.equal(headers.get('content-security-policy'),
    `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; ` +
      `frame-ancestors 'none'`)
  lacks(t, body, /<(script|link|img|iframe|object)|style="|\son\w+=|@import|url\(/)
  const documentation = await service.send('GET', '/openapi.json', {}, null)
  t.equal(documentation.body.externalDocs.url, 'https://dispatch.example.com/docs/providers')
})

await t.test('what a provider says of itself is text, whatever it is; a reload shows; a refused folder does not', async (t) => {
  const name = '</th><script>alert(1)</script> "\'&'
  await provide(folder, 'broken', { 'index.js': 'throw new Error("on load")' })
  await provide(folder, 'hostile', {
    'index.js': `import { defineProvider, Type } from '@dispatch/core/provider'
export default defineProvider({
  code: 'hostile',
  name: ${JSON.stringify(name)},
  docs: "https://example.com/'onclick=alert(1)",
  settings: Type.Object({}),
  services: { invoicing: { documentTypes: ['INVOICE'], requires: ['/<img src=x onerror=alert(1)>'], idempotency: { kind: 'none' }, dispatch () {} } }
})`
  })
  t.equal(rowOf(await read(), 'invoicing', 'hostile'), undefined)
  await service.send('POST', '/api/v1/providers/reload', {}, operator)
  const page = await read()
  const row = rowOf(page, 'invoicing', 'hostile')
  contains(t, row?.['provider'], '&lt;/th&gt;&lt;script&gt;alert(1)&lt;/script&gt; &quot;&#39;&amp;')
  contains(t, row?.['requires'], '/&lt;img src=x onerror=alert(1)&gt;')
  lacks(t, page, /<script|<img|='onclick|broken|on load/)
})
