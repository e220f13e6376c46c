import fc from 'fast-check'
import { deepStrictEqual } from 'node:assert'
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { canTransition, isDeliveryMark } from '../../core/packages/contract/delivery.ts'
import { has, lacks } from '../support/matching.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../support/service.ts'
import { vendorOf } from '../support/vendor.ts'
import { testProviders } from './support/providers.ts'

const { vendor, network } = await vendorOf(t)
vendor.answer({ status: 200 })
const providers = await testProviders(t)
const [user, password] = ['vendor', 'a password of the vendor']
const webhook = (service: string, events: string): string =>
  `webhooks: { ${service}: {
    verify: { kind: 'basic', user: 'user', password: 'password' },
    body: Type.Object({ id: Type.String(), type: Type.String() }),
    read: ({ id: remoteId, type }) => ({ remoteId, type }),
    events: ${events}
  } },`
const settings = '{ user: Type.String(), password: Secret() }'
let ids = 0
const accepts = () => Promise.resolve({ id: `remote-${++ids}`, status: 'taken' })
await providers.add('books', { settings, more: webhook('invoicing', '{ settled: \'paid\', voided: \'void\' }') }, accepts)
await providers.add('texts', {
  of: 'sms',
  settings,
  service: 'idempotency: { kind: \'none\' }',
  more: webhook('sms', '{ arrived: \'delivered\', lost: \'failed\' }')
}, accepts)
const service = await startService(t, {
  config: { providerDirectories: providers.directories },
  replacements: { network }
})
const { admin } = await service.company('events')
for (const code of ['books', 'texts', 'simulator']) {
  await service.send('PUT', `/api/v1/company/providers/${code}`, {
    body: { settings: code === 'simulator' ? { allowedSenders: ['demo@example.com'] } : { user, password } }
  }, admin)
}

type Version = '1.0.0' | '1.0.1' | '1.1.0'
const by = (version: Version | undefined): Record<string, string> => version === undefined ? {} : { 'x-api-version': version }
const callbackUrl = 'https://receiver.example.com/'
const { template } = invoiceRequest()
const bodies: Record<string, object> = {
  email: { template, from: 'demo@example.com', to: ['ada@example.com'], subject: 'Hello', providerName: 'simulator', callbackUrl },
  sms: { sms: { phoneNumber: '+33612345678', message: 'Hello' }, providerName: 'texts', callbackUrl },
  invoicing: invoiceRequest({}, { providerName: 'books', callbackUrl })
}

async function dispatched (name: string, version?: Version): Promise<{ id: string, answer: Answer }> {
  // A mail that comes back suppresses its recipient: each goes to another one.
  const own = name === 'email' ? { to: [`ada-${randomUUID()}@example.com`] } : {}
  const body = name === 'invoicing' ? invoiceRequest({}, { providerName: 'books', callbackUrl }) : { ...bodies[name], ...own }
  const answer = await service.send('POST', `/api/${name}`, { body, headers: by(version) }, admin)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return { id: answer.body.dispatchId, answer }
}

const read = async (id: string, version?: Version): Promise<any> =>
  (await service.send('GET', `/api/v1/dispatches/${id}`, { headers: by(version) }, admin)).body
const statusOf = async (id: string, version: Version): Promise<unknown> => (await read(id, version)).steps[0].deliveryStatus
const callbacksOf = async (id: string): Promise<string[]> =>
  (await service.send('GET', `/api/v1/dispatches/${id}/callbacks`, {}, admin)).body.data.map(({ type }: { type: string }) => type)
const toldOf = async (id: string): Promise<unknown[]> =>
  (await service.send('GET', `/api/v1/dispatches/${id}/events`, {}, admin)).body.data.filter(({ kind }: { kind: string }) =>
    kind === 'webhook'
  )
    .map(({ facts: { type, status, changed } }: any) => [type, status, changed])

/** Sends an event of a vendor, and waits until it has been handled. */
async function tell (name: string, code: string, event: object, login: Login = admin): Promise<void> {
  const { body: { company } } = await service.send('GET', '/api/v1/my/config', {}, login)
  const { webhookUrls } = company.providers.find((one: { code: string }) => one.code === code)
  const url = new URL(webhookUrls[name] as string)
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  await service.send('POST', `${url.pathname}${url.search}`, { body: event, headers: { authorization } }, null)
  await handled()
}

async function handled (): Promise<void> {
  const { pool } = service.app.get('database')
  while ((await pool.query('select from inbound where state in (\'waiting\')')).rowCount !== 0) {
    await new Promise((done) => setTimeout(done, 20))
  }
}

const simulate = async (dispatchId: string, status: string): Promise<void> => {
  const answer = await service.send('POST', '/api/v1/simulator/events', { body: { dispatchId, status } }, admin)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  await handled()
}

await t.test('a vendor tells what becomes of an e-mail: its status moves, its marks do not, and each is told once', async (t) => {
  const { id } = await dispatched('email', '1.1.0')
  t.equal(await statusOf(id, '1.1.0'), null)
  for (const word of ['opened', 'delivered', 'opened', 'clicked', 'complained', 'bounced', 'delivered']) await simulate(id, word)
  t.equal(await statusOf(id, '1.1.0'), 'bounced')
  has(t, await read(id, '1.1.0'), { status: 'succeeded', steps: [{ deliveryMessage: /has sent the e-mail back/ }] })
  t.same(await toldOf(id), [
    ['opened', 'opened', false],
    ['delivered', 'delivered', true],
    ['clicked', 'clicked', false],
    ['complained', 'complained', false],
    ['bounced', 'bounced', true],
    ['delivered', 'delivered', false]
  ])
  const found = (mark: string, version: Version): Promise<Answer> =>
    service.send('GET', `/api/v1/dispatches?deliveryMark=${mark}`, { headers: by(version) }, admin)
  for (const mark of ['opened', 'clicked', 'complained']) has(t, (await found(mark, '1.1.0')).body.data, [{ dispatchId: id }])
  t.equal((await found('opened', '1.0.1')).status, 400, 'it is unknown there')
  t.same(await callbacksOf(id), ['email.opened', 'email.delivered', 'email.clicked', 'email.complained', 'email.bounced'])
})

await t.test('in whatever order events come, the status is that of the table, and each change and mark is told once', async (t) => {
  const words = fc.array(fc.constantFrom('delivered', 'bounced', 'failed', 'opened', 'clicked'), { minLength: 1, maxLength: 6 })
  await fc.assert(fc.asyncProperty(words, async (reported) => {
    const { id } = await dispatched('email', '1.1.0')
    const callbacks: string[] = []
    let status: string | null = null
    for (const word of reported) {
      await simulate(id, word)
      const changes: boolean = isDeliveryMark('email', word) ? !callbacks.includes(`email.${word}`) : canTransition('email', status, word)
      if (changes) callbacks.push(`email.${word}`)
      if (changes && !isDeliveryMark('email', word)) status = word
    }
    deepStrictEqual([await statusOf(id, '1.1.0'), await callbacksOf(id)], [status, callbacks])
  }), { numRuns: 8 })
  t.pass()
})

await t.test('the body of a callback is the dispatch as its own version shows it', async (t) => {
  const { id } = await dispatched('email', '1.1.0')
  await simulate(id, 'delivered')
  const sent = (): any => vendor.requests.map(({ json }) => json as any).find(({ data }) => data.dispatchId === id)
  while (sent() === undefined) await new Promise((done) => setTimeout(done, 20))
  has(t, sent(), { type: 'email.delivered', data: { dispatchId: id, steps: [{ deliveryStatus: 'delivered' }] } })
})

for (const [name, code, [word, status], [other, second]] of [
  ['sms', 'texts', ['arrived', 'delivered'], ['lost', 'failed']],
  ['invoicing', 'books', ['settled', 'paid'], ['voided', 'void']]
] as const) {
  await t.test(`a vendor tells what becomes of ${name}`, async (t) => {
    const { id, answer } = await dispatched(name, '1.1.0')
    const remote = answer.body.providerResponse.id
    await tell(name, code, { id: remote, type: word })
    await tell(name, code, { id: remote, type: word })
    await tell(name, code, { id: remote, type: other })
    await tell(name, code, { id: remote, type: 'whatever' })
    t.equal(await statusOf(id, '1.1.0'), status)
    t.same(await toldOf(id), [[word, status, true], [other, second, false], ['whatever', 'unknown', false]], 'a repeat counts once')
    t.same(await callbacksOf(id), [`${name}.${status}`])
  })
}

/** What may differ between two answers. */
const withoutTimes = (body: any): unknown => JSON.parse(JSON.stringify(body, (key, value: unknown) => key === 'url' ? undefined : value))

await t.test('clients of 1.0.0 and 1.0.1, and who names no version, see what they saw before', async (t) => {
  for (const version of ['1.0.0', '1.0.1', undefined] as const) {
    const { id, answer } = await dispatched('email', version)
    t.equal(answer.headers.get('x-api-version'), version ?? '1.0.1')
    const before = withoutTimes(await read(id, version))
    for (const word of ['opened', 'delivered', 'bounced']) await simulate(id, word)
    t.same(withoutTimes(await read(id, version)), before, String(version))
    lacks(t, JSON.stringify(before), 'deliveryStatus')
    t.same(await callbacksOf(id), [])
    t.equal(await statusOf(id, '1.1.0'), 'bounced', 'who asks by 1.1.0 sees it')
  }
  for (const [name, code, word] of [['sms', 'texts', 'arrived'], ['invoicing', 'books', 'settled']] as const) {
    const { id, answer } = await dispatched(name, '1.0.1')
    await tell(name, code, { id: answer.body.providerResponse.id, type: word })
    t.same(await callbacksOf(id), [], name)
  }
})

await t.test('a callback that events cause is no unused field in 1.1.0', async (t) => {
  const warned = async (version: Version): Promise<unknown[]> => {
    const { body } = await service.send('POST', '/api/sms/validate', { body: bodies['sms'], headers: by(version) }, admin)
    return body.warnings.map(({ code }: { code: string }) => code)
  }
  t.same([await warned('1.0.1'), await warned('1.1.0')], [['unused_field'], []])
})

await t.test('events that are forged, or for another company, change nothing', async (t) => {
  const { id, answer } = await dispatched('sms', '1.1.0')
  const remote = answer.body.providerResponse.id as string
  const other = await service.company('elsewhere')
  await service.send('PUT', '/api/v1/company/providers/texts', { body: { settings: { user, password } } }, other.admin)
  await tell('sms', 'texts', { id: remote, type: 'arrived' }, other.admin)
  const { body: { company } } = await service.send('GET', '/api/v1/my/config', {}, admin)
  const url = new URL(company.providers.find(({ code }: { code: string }) => code === 'texts').webhookUrls.sms as string)
  for (const authorization of [undefined, `Basic ${Buffer.from('vendor:another').toString('base64')}`]) {
    const headers = authorization === undefined ? {} : { authorization }
    await service.send('POST', `${url.pathname}${url.search}`, { body: { id: remote, type: 'arrived' }, headers }, null)
  }
  await handled()
  t.equal(await statusOf(id, '1.1.0'), null)
  t.same(await toldOf(id), [])
})

await t.test('steps are deferred until events of signatures and letters alone', async (t: Test) => {
  const { status } = await service.send('POST', '/api/email', {
    body: {
      ...bodies['email'],
      deferred: [{ on: 'email.delivered', service: 'sms', sms: { phoneNumber: '+33612345678', message: 'It is there' } }]
    },
    headers: by('1.1.0')
  }, admin)
  t.equal(status, 400)
})
