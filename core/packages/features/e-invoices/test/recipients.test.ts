import { refused, unavailable } from '@dispatch/core/provider'
import t from 'tap'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { accepts, testProviders, type Verb } from '../../../../../test/plugins/support/providers.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { admin as us, type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { createDirectories } from '../../../../configuration/directories.ts'
import { unknownRecipients } from '../../../../pipeline/plan/unknown-recipients.ts'
import type { StepProvider } from '../../../../pipeline/step.ts'

const newest = { 'x-api-version': '1.1.0' }
/** What the directory has been asked, in order, and what it says. */
const requested: { scheme: string, id: string, sandbox: boolean }[] = []
let says: Verb = () => Promise.resolve({ recipients: [] })
const providers = await testProviders(t)
const declared = 'documentTypes: [\'E_INVOICE\'], idempotency: { kind: \'none\' }'
const recipients: Verb = (query: { scheme: string, id: string }, call) => {
  requested.push({ ...query, sandbox: call.sandbox })
  return says(query, call)
}
await providers.add('platform', { service: declared, settings: '{ token: Secret() }', more: 'sandbox: { kind: \'flag\' },' }, accepts, {
  recipients
})
await providers.add('mute', { service: declared }, accepts)
const service = await startService(t, {
  config: { providerDirectories: providers.directories, limits: { auth: 0, dispatch: 0, validation: 0, requests: 0 } },
  replacements: { renderer: quickRenderer }
})
const { send } = service
const token = 'tok_live_5f2b8c91d04e'
const configure = (login?: Login): Promise<Answer> =>
  send('PUT', '/api/v1/company/providers/platform', { body: { settings: { token } } }, login)
await configure()
await send('PUT', '/api/v1/company/providers/mute', { body: { settings: {} } })

const find = (scheme: string, id: string, login?: Login): Promise<Answer> =>
  send('GET', `/api/v1/e-invoices/recipients?scheme=${scheme}&id=${encodeURIComponent(id)}`, { headers: newest }, login)
const known: Verb = () => Promise.resolve({ recipients: [{ scheme: '0225', id: '732829320', name: `Acme ${token}`, status: 'active' }] })
let numbers = 0
const freshId = (): string => String(100_000_000 + ++numbers)

await t.test('the directory of a provider says who receives, and where; what it said is kept for each company by itself', async (t) => {
  says = known
  const id = freshId()
  const before = requested.length
  for (let time = 0; time < 2; time++) {
    has(t, await find('0225', id), {
      status: 200,
      body: {
        data: [{
          directory: 'platform',
          result: 'found',
          recipients: [{ scheme: '0225', id: '732829320', name: 'Acme [redacted]', status: 'active' }],
          at: /^\d{4}-/
        }]
      }
    })
  }
  t.strictSame(requested.slice(before), [{ scheme: '0225', id, sandbox: false }], 'it was asked once')
  const { admin } = await service.company('neighbour')
  t.strictSame((await find('0225', id, admin)).body.data, [], 'a company without a directory asks none')
  await configure(admin)
  says = () => Promise.resolve({ recipients: [] })
  has(t, await find('0225', id, admin), { body: { data: [{ result: 'unknown', recipients: [] }] } },
    'no company reads what another one asked')
  has(t, await find('0225', id), { body: { data: [{ result: 'found' }] } })
  has(t, await find('0225', ''), { status: 400, body: { details: [{ path: '/query/id' }] } })
})

await t.test('a directory that is not about an id says so; one that does not answer is left alone for a while', async (t) => {
  const { admin } = await service.company('asking')
  await configure(admin)
  says = () => Promise.reject(refused('not_in_directory', `Only SIREN, not ${token}.`))
  has(t, await find('0088', freshId(), admin), {
    body: { data: [{ result: 'cannot_be_asked', message: 'Only SIREN, not [redacted].', recipients: [] }] }
  })
  says = () => Promise.reject(unavailable('It is away.'))
  has(t, await find('0225', freshId(), admin), { body: { data: [{ result: 'cannot_be_asked', message: 'It is away.' }] } })
  const before = requested.length
  says = known
  has(t, await find('0225', freshId(), admin), { body: { data: [{ result: 'cannot_be_asked', message: /a moment ago/ }] } })
  t.equal(requested.length, before)
})

await t.test('a company has four questions under way at most', async (t) => {
  const { admin } = await service.company('many')
  await configure(admin)
  const { admin: other } = await service.company('beside')
  await configure(other)
  const gate = Promise.withResolvers<undefined>()
  const full = Promise.withResolvers<undefined>()
  const before = requested.length
  says = async (query, call) => {
    if (requested.length === before + 4) full.resolve(undefined)
    await gate.promise
    return known(query, call)
  }
  const waiting = [1, 2, 3, 4].map(() => find('0225', freshId(), admin))
  await full.promise
  says = known
  has(t, await find('0225', freshId(), admin), { body: { data: [{ result: 'cannot_be_asked', message: /under way/ }] } })
  has(t, await find('0225', freshId(), other), { body: { data: [{ result: 'found' }] } })
  gate.resolve(undefined)
  for (const answer of await Promise.all(waiting)) has(t, answer, { body: { data: [{ result: 'found' }] } })
})

await t.test('a test key asks test environments alone', async (t) => {
  const { admin } = await service.company('testing')
  await configure(admin)
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'tests', mode: 'test' }, headers: newest }, admin)
  const id = freshId()
  says = known
  const before = requested.length
  const { body } = await send('GET', `/api/v1/e-invoices/recipients?scheme=0225&id=${id}`, {
    headers: { ...newest, authorization: `Bearer ${String(key)}` }
  }, null)
  has(t, body, { data: [{ result: 'found' }] })
  t.strictSame(requested.slice(before), [{ scheme: '0225', id, sandbox: true }])
})

const sample = {
  number: 'F-1',
  date: '2026-03-14',
  dueDate: '2999-04-13',
  currency: 'EUR',
  buyerReference: 'B-1',
  seller: { name: 'Acme Tea', address: '1 rue A', city: 'Lyon', postalCode: '69001', country: 'FR', vatId: 'FR39732829320' },
  lines: [{ description: 'Tea', quantity: 2, unitPrice: '10.00', taxRate: 20 }]
}
const customer = { name: 'Ada Ltd', address: 'Calle 2', city: 'Madrid', postalCode: '28001', country: 'ES', vatId: 'ESX1234567X' }
const place = '/template/data/customer/electronicAddress'

type Requested = { version?: string, id?: string, providerName?: string, strict?: boolean }

async function validated (
  login: Login,
  { version = '1.1.0', id = freshId(), providerName = 'platform', strict = false }: Requested = {}
): Promise<string[]> {
  const data = { ...sample, customer: { ...customer, electronicAddress: { scheme: '0225', id } } }
  const body = { providerName, documentType: 'E_INVOICE', template: { id: 4, data } }
  const path = `/api/invoicing/validate${strict ? '?strict=true' : ''}`
  const answer = await send('POST', path, { body, headers: { 'x-api-version': version } }, login)
  t.equal(answer.status, 200, JSON.stringify(answer.body))
  const { warnings } = answer.body as { warnings: { path: string, code: string }[] }
  return warnings.filter(({ path }) => path === place).map(({ code }) => code)
}

await t.test('a validation warns of a customer whom the directory does not know, and of nobody else', async (t) => {
  const { admin } = await service.company('validating')
  await configure(admin)
  await send('PUT', '/api/v1/company/providers/mute', { body: { settings: {} } }, admin)
  says = () => Promise.resolve({ recipients: [] })
  t.strictSame(await validated(admin), ['unknown_recipient'])
  t.strictSame(await validated(admin, { version: '1.0.1' }), [], 'older versions answer as before')
  t.strictSame(await validated(admin, { providerName: 'mute' }), [], 'a provider without a directory')
  t.strictSame(await validated(admin, { strict: true }), ['unknown_recipient'], 'which blocks nothing')
  says = known
  t.strictSame(await validated(admin), [])
  says = () => Promise.resolve({ recipients: [{ scheme: '0225', id: '732829320', status: 'inactive' }] })
  t.strictSame(await validated(admin), ['inactive_recipient'])
  says = () => Promise.reject(unavailable('It is away.'))
  t.strictSame(await validated(admin), [], 'no answer says nothing')
})

await t.test('a row of a batch, whose warnings nobody reads, asks no directory', async (t) => {
  const { admin, companyId } = await service.company('rows')
  await configure(admin)
  const data = { ...sample, customer: { ...customer, electronicAddress: { scheme: '0225', id: freshId() } } }
  const command = {
    actor: { companyId, userId: 0, email: 'ada@example.com', role: 'admin' as const, services: ['invoicing' as const] },
    services: ['invoicing'] as const,
    requestId: 'rows',
    version: '1.1.0' as const,
    body: { providerName: 'platform', documentType: 'E_INVOICE', template: { id: 4, data } }
  }
  says = () => Promise.resolve({ recipients: [] })
  const before = requested.length
  const pipeline = service.app.get('pipeline')
  lacks(t, JSON.stringify((await pipeline.validate(command)).warnings), 'unknown_recipient')
  t.equal(requested.length, before)
  contains(t, JSON.stringify((await pipeline.validate(command, { lookUp: true })).warnings), 'unknown_recipient')
})

await t.test('a directory that keeps silent delays a validation by two seconds at most', async (t) => {
  const { admin } = await service.company('hurried')
  await configure(admin)
  const gate = Promise.withResolvers<undefined>()
  says = async () => {
    await gate.promise
    return { recipients: [] }
  }
  const id = freshId()
  t.strictSame(await validated(admin, { id }), [], 'it has not answered yet')
  gate.resolve(undefined)
  t.strictSame(await validated(admin, { id }), ['unknown_recipient'], 'what it answers later is kept')
})

await t.test('Peppol is asked beside the directories of providers, and a validation of an invoice for it warns', async (t) => {
  const { admin, companyId } = await service.company('peppol')
  await configure(admin)
  const { app } = service
  const participants: string[] = []
  const peppol = {
    ask: ({ scheme, id }: { scheme: string, id: string }) => {
      participants.push(`${scheme}:${id}`)
      if (id === '3') return Promise.resolve({ away: 'The name servers of Peppol did not answer (ESERVFAIL).' })
      return Promise.resolve({
        known: id === '2' ? undefined : { scheme, id, status: id === '4' ? 'inactive' as const : 'active' as const }
      })
    }
  }
  const directories = createDirectories({
    configurations: app.get('configurations'),
    connections: app.get('connections'),
    database: app.get('database'),
    host: app.get('selectableProviders'),
    keyring: app.get('keyring'),
    log: app.get('log'),
    network: app.get('network'),
    newId: app.get('newId'),
    now: app.get('now'),
    peppol
  })
  const asking = { companyId, userId: 0, test: false }
  says = known
  const results = async (id: string): Promise<string[]> =>
    (await directories.ask(asking, { scheme: '0192', id })).map(({ directory, said }) => `${directory} ${said.result}`)
  t.strictSame(await results('1'), ['platform found', 'peppol found'])
  t.strictSame(await results('2'), ['platform found', 'peppol unknown'])
  t.strictSame(await results('3'), ['platform found', 'peppol cannot_be_asked'])
  t.strictSame(
    await directories.ask({ ...asking, test: true }, { scheme: '0192', id: '9' }).then((reported) =>
      reported.map(({ directory }) => directory)
    ),
    ['platform'],
    'a test asks nobody real'
  )
  const by = (code: string): StepProvider => ({ code, version: '1.0.0', chosenBy: 'request', configuredBy: 'company', sandbox: false })
  const unknown = async (id: string, eInvoiceFormat: 'UBL' | 'CII', code = 'mute'): Promise<(string | undefined)[]> => {
    const data = { customer: { electronicAddress: { scheme: '0192', id } } }
    const step = { service: 'invoicing', fields: { documentType: 'E_INVOICE', eInvoiceFormat }, by: by(code), template: { path: '', data } }
    const plan = { steps: [step], test: false } as unknown as Parameters<typeof unknownRecipients>[1]
    const command = { actor: { companyId, userId: 0 }, version: '1.1.0' } as unknown as Parameters<typeof unknownRecipients>[2]
    return (await unknownRecipients({ directories }, plan, command)).map(({ code, path }) => `${path} ${code}`)
  }
  await send('PUT', '/api/v1/company/providers/mute', { body: { settings: {} } }, admin)
  t.strictSame(await unknown('2', 'UBL'), ['/customer/electronicAddress unknown_recipient'])
  t.strictSame(await unknown('2', 'CII'), [], 'CII is not for Peppol')
  t.strictSame(await unknown('1', 'UBL'), [])
  t.strictSame(await unknown('4', 'UBL'), ['/customer/electronicAddress inactive_recipient'])
  t.strictSame(await unknown('3', 'UBL'), [], 'no answer says nothing')
  t.strictSame(await unknown('2', 'UBL', 'platform'), [], 'the directory of the provider goes first, and knows them')
  t.strictSame(participants, ['0192:1', '0192:2', '0192:3', '0192:4'], 'each was asked once, and who was away is left alone')
})

await t.test('the console asks, and shows what each directory says', async (t) => {
  const { signIn, open } = openConsole(service)
  const cookie = await signIn(us)
  const page = async (scheme: string, id: string): Promise<string> => (await open(`/e-invoices?scheme=${scheme}&id=${id}`, cookie)).body
  says = known
  const found = await page('0225', freshId())
  contains(t, found, '<code>0225:732829320</code>')
  contains(t, found, 'Acme [redacted]')
  says = () => Promise.resolve({ recipients: [] })
  contains(t, await page('0225', freshId()), 'knows nobody there')
  contains(t, await page('no scheme', freshId()), 'class="notice bad"')
})
