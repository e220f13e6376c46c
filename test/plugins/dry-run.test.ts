import t from 'tap'
import { Type } from '../../core/packages/host/provider.ts'
import { contains, has, lacks, matches } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'
import { vendorOf } from '../support/vendor.ts'
import { accepts, type Handler, testProviders } from './support/providers.ts'

const { vendor, network } = await vendorOf(t)
const api = 'https://api.vendor.example'
const Sent = Type.Object({ id: Type.String(), status: Type.String() })
const secret = 'tok_live_5f2b8c91d04e'
const settings = '{ token: Secret() }'

const posts: Handler = async ({ data, document }, { settings, http }) =>
  await http.post(`${api}/send`, {
    bearer: settings['token'] as string,
    json: { number: data['number'], key: settings['token'], file: document }
  }, Sent)
const signsIn: Handler = async (_request, { settings, http }) => {
  const clientSecret = settings['token'] as string
  const oauth2 = { grant: 'client_credentials', tokenUrl: `${api}/token`, clientId: 'me', clientSecret, clientAuth: 'body' } as const
  return await http.post(`${api}/send`, { oauth2, form: { a: 1 } }, Sent)
}
const drafts: Handler = async (_request, { http, checkpoint }) => {
  const { id } = await http.post(`${api}/drafts`, { json: {} }, Sent)
  await checkpoint(id)
  return await http.post(`${api}/drafts/${id}/send`, {}, Sent)
}
const reads: Handler = async (_request, { http }) => {
  const { id } = await http.get(`${api}/customers`, { query: { email: 'ada@example.com' } }, Sent)
  return await http.post(`${api}/send`, { json: { id } }, Sent)
}
const searches: Handler = async (_request, { http }) => {
  const { data: [known] } = await http.get(`${api}/customers`, {},
    Type.Object({ data: Type.Array(Sent), more: Type.Optional(Type.String()) }))
  return known ?? await http.post(`${api}/customers`, { json: {} }, Sent)
}
const stores: Handler = async (_request, { state }) => {
  await state.put('seen', true)
  const first = await state.putIfAbsent('first', 'this')
  const again = await state.putIfAbsent('first', 'that')
  const read = [await state.get('seen'), first, again, await state.get('first')]
  if (JSON.stringify(read) !== '[true,"this","this","this"]') throw new Error(`It reads ${JSON.stringify(read)}.`)
  return { id: '1', status: 'seen' }
}
const draftService = 'documentTypes: [\'INVOICE\'], idempotency: { kind: \'none\' }, checkpoint: true'

const providers = await testProviders(t)
await providers.add('posts', { settings }, posts)
await providers.add('signs-in', { settings }, signsIn)
await providers.add('drafts', { settings, service: draftService }, drafts)
await providers.add('reads', { settings }, reads)
await providers.add('searches', { settings }, searches)
await providers.add('stores', { settings }, stores)
await providers.add('unset', { settings }, accepts)
const service = await startService(t, {
  config: { providerDirectories: providers.directories },
  replacements: { network, renderer: quickRenderer }
})
const { admin, member, companyId } = await service.company('rehearsing')
for (const code of ['posts', 'signs-in', 'drafts', 'reads', 'searches', 'stores']) {
  await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: { token: secret } } }, admin)
}
const dryRun = (code: string, body: unknown = invoiceRequest(), login = admin, query = ''): Promise<Answer> =>
  service.send('POST', `/api/v1/company/providers/${code}/dry-run${query}`, { body }, login)

await t.test('the request that would count is shown as it would be sent, its secrets masked', async (t) => {
  const { status, body } = await dryRun('posts')
  t.equal(status, 200, JSON.stringify(body))
  t.equal(body.end, 'complete')
  t.equal(body.message, `With POST ${api}/send the dispatch would become real: nothing was sent.`)
  t.equal(body.requests.length, 1)
  const [{ method, url, headers, body: sent, counts }] = body.requests
  t.same({ method, url, counts }, { method: 'POST', url: `${api}/send`, counts: true })
  has(t, headers, { authorization: 'Bearer [redacted]', 'content-type': 'application/json' })
  t.equal(headers['content-length'], String(Buffer.byteLength(sent.replace('[redacted]', secret))))
  const { key, file } = JSON.parse(sent)
  t.equal(key, '[redacted]')
  matches(t, Buffer.from(file, 'base64').toString(), /^%PDF/)
  lacks(t, JSON.stringify(body), new RegExp(secret))
})

await t.test('a token is asked for, and made up, so that what needs it is seen too', async (t) => {
  const { body } = await dryRun('signs-in')
  t.same(body.requests.map(({ method, url, body, counts }: Record<string, unknown>) => ({ method, url, body, counts })), [
    {
      method: 'POST',
      url: `${api}/token`,
      body: 'grant_type=client_credentials&client_id=me&client_secret=%5Bredacted%5D',
      counts: false
    },
    { method: 'POST', url: `${api}/send`, body: 'a=1', counts: true }
  ])
  t.equal(body.requests[1].headers.authorization, 'Bearer [redacted]')
  t.equal(body.end, 'complete')
})

await t.test('where the answer is needed to go on, it says so', async (t) => {
  has(t, (await dryRun('drafts')).body, {
    requests: [{ method: 'POST', url: `${api}/drafts`, counts: false }],
    end: 'reply_needed',
    message: `What follows POST ${api}/drafts depends on its answer: nothing was sent.`
  })
  has(t, (await dryRun('reads')).body, {
    requests: [{ method: 'GET', url: `${api}/customers?email=ada%40example.com`, counts: false }],
    end: 'reply_needed'
  })
  const { body: searched } = await dryRun('searches')
  t.same(searched.requests.map(({ method, url }: Record<string, string>) => `${method} ${url}`), [`GET ${api}/customers`,
    `POST ${api}/customers`], 'a search finds nothing')
  t.same((await dryRun('stores')).body, { requests: [], end: 'nothing_sent', message: 'The provider accepts it without a request.' })
})

await t.test('an e-mail is shown too', async (t) => {
  const mail = { host: 'mail.vendor.example', user: 'me', password: secret, allowedSenders: ['shop@example.com'] }
  t.equal((await service.send('PUT', '/api/v1/company/providers/smtp', { body: { settings: mail } }, admin)).status, 200)
  const { status, body } = await dryRun('smtp', {
    email: { from: 'shop@example.com', to: ['ada@example.com'], subject: 'Hello', body: 'Dear Ada' }
  })
  t.equal(status, 200, JSON.stringify(body))
  has(t, body, { requests: [{ method: 'SMTP', url: 'smtp://mail.vendor.example:587', body: 'Dear Ada', counts: true }], end: 'complete' })
})

await t.test('nothing is sent, recorded, stored or charged', async (t) => {
  t.equal(vendor.requests.length, 0)
  const { owner } = service.app.get('database')
  for (const table of ['dispatches', 'documents', 'provider_state'] as const) {
    const rows = await owner.selectFrom(table).select('company_id').where('company_id', '=', companyId).execute()
    t.equal(rows.length, 0, table)
  }
})

await t.test('what a validation refuses is refused, and only admins ask', async (t) => {
  has(t, await dryRun('posts', invoiceRequest(), member), { status: 403, body: { error: 'forbidden' } })
  has(t, await dryRun('nobody'), { status: 404, body: { error: 'not_found' } })
  has(t, await dryRun('unset'), { status: 422, body: { error: 'configuration_missing' } })
  has(t, await dryRun('posts', invoiceRequest({ total: 1 })), { status: 422, body: { error: 'validation_failed' } })
  has(t, await dryRun('posts', invoiceRequest({ number: '王' })), { status: 422, body: { details: [{ code: 'unsupported_characters' }] } })
  const several = await dryRun('simulator')
  has(t, several, { status: 400, body: { error: 'validation_error', details: [{ path: '/query/service', code: 'required' }] } })
  contains(t, several.body.details[0].message, 'invoicing, esign')
  t.equal((await dryRun('simulator', invoiceRequest(), admin, '?service=invoicing')).body.end, 'nothing_sent')
  has(t, await dryRun('simulator', {}, admin, '?service=upload'), { status: 400, body: { error: 'validation_error' } })
})

await t.test('a missing template and a forbidden sender are refused too', async (t) => {
  has(t, await dryRun('posts', invoiceRequest({}, { template: { id: 9_999, data: {} } })), {
    status: 404,
    body: { error: 'template_not_found' }
  })
  const email = { from: 'eve@elsewhere.example', to: ['ada@example.com'], subject: 'Hello', body: 'Hello' }
  has(t, await dryRun('smtp', { email }), { status: 417, body: { error: 'expectation_failed' } })
})
