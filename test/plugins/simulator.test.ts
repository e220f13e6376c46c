import { createProviderState } from '@dispatch/core'
import { createVendorSigningKey as createVendorKey, signDelivery } from '@dispatch/host'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { callStatus } from '../../core/packages/host/call/status.ts'
import { basic, until } from '../core/work/support.ts'
import { callContext } from '../fixtures/providers/call.ts'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, shippedProviders, startService, type TestService } from '../support/service.ts'
import { webhookRefusals } from '../support/webhook-refusals.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const dispatch = (reference: string, { key, number = crypto.randomUUID() }: { key?: string, number?: string } = {}): Promise<Answer> =>
  service.send('POST', '/api/invoicing', {
    body: invoiceRequest({ number }, { invoicing: { reference } }),
    headers: key === undefined ? {} : { 'x-idempotency-key': key }
  })
const credits = async (): Promise<{ balance: number, held: number }> => {
  const { body: { balance, held } } = await service.send('GET', '/api/v1/credits')
  return { balance, held }
}
const read = async (dispatchId: string): Promise<any> => (await service.send('GET', `/api/v1/dispatches/${dispatchId}`)).body
const timeline = async (dispatchId: string): Promise<any[]> =>
  (await service.send('GET', `/api/v1/dispatches/${dispatchId}/events`)).body.data

await t.test('reject: a 422 provider_error with the vendor\'s own code, which costs nothing', async (t) => {
  const before = await credits()
  const { status, body } = await dispatch('reject')
  t.equal(status, 422)
  has(t, body, {
    error: 'provider_error',
    dispatchId: /^[0-9a-f-]{36}$/,
    details: [{ path: '', code: 'declined', message: 'The simulator declines what says "reject".' }]
  })
  t.strictSame(await credits(), before)
  has(t, await read(body.dispatchId), {
    status: 'failed',
    creditsCharged: 0,
    steps: [{
      status: 'rejected',
      providerResponse: null,
      creditsCharged: 0,
      error: { error: 'provider_error', details: [{ code: 'declined' }] }
    }]
  })
})

await t.test('reject by the first e-mail address does the same', async (t) => {
  const { status, body } = await service.send('POST', '/api/invoicing', {
    body: invoiceRequest({ customer: { name: 'Ada', email: 'reject@example.com' } })
  })
  has(t, { status, body }, { status: 422, body: { error: 'provider_error', details: [{ code: 'declined' }] } })
})

await t.test('unavailable: 503 twice, then accepted, when it is repeated with its idempotency key', async (t) => {
  const before = await credits()
  const number = crypto.randomUUID()
  const first = await dispatch('unavailable', { key: 'unavailable-1', number })
  has(t, first, { status: 503, body: { error: 'provider_unavailable', dispatchId: String } })
  t.strictSame(await credits(), before)
  const second = await dispatch('unavailable', { key: 'unavailable-1', number })
  has(t, second, { status: 503, body: { dispatchId: first.body.dispatchId } })
  const third = await dispatch('unavailable', { key: 'unavailable-1', number })
  has(t, third, {
    status: 200,
    body: { success: true, dispatchId: first.body.dispatchId, status: 'succeeded', generatedDocument: { contentType: 'application/pdf' } }
  })
  t.strictSame(await credits(), { balance: before.balance - 1, held: 0 })

  t.strictSame((await timeline(first.body.dispatchId)).map(({ kind }) => kind), ['planned', 'rendered', 'calling', 'answered', 'resumed',
    'calling', 'answered', 'resumed', 'calling', 'answered'])
})

await t.test('unavailable without a key begins anew each time', async (t) => {
  const [first, second] = [await dispatch('unavailable'), await dispatch('unavailable')]
  t.equal(first.status, 503)
  t.equal(second.status, 503)
  t.not(first.body.dispatchId, second.body.dispatchId)
})

await t.test('uncertain: a 504 outcome_unknown whose hold is kept, and which no repeat sends again', async (t) => {
  const before = await credits()
  const number = crypto.randomUUID()
  const { status, body } = await dispatch('uncertain', { key: 'uncertain-1', number })
  has(t, { status, body }, { status: 504, body: { error: 'outcome_unknown', dispatchId: String } })
  const kept = { balance: before.balance, held: before.held + 1 }
  t.strictSame(await credits(), kept)
  has(t, await read(body.dispatchId), {
    status: 'uncertain',
    creditsCharged: 0,
    steps: [{ status: 'uncertain', error: { error: 'outcome_unknown' } }]
  })

  const repeated = await dispatch('uncertain', { key: 'uncertain-1', number })
  has(t, repeated, { status: 504, body: { error: 'outcome_unknown', dispatchId: body.dispatchId } })
  t.equal(repeated.headers.get('idempotency-replayed'), 'true')
  t.strictSame(await credits(), kept)
  t.equal((await timeline(body.dispatchId)).filter(({ kind }) => kind === 'calling').length, 1)
})

await t.test('a document number is taken once for each document type', async (t) => {
  const number = crypto.randomUUID()
  t.equal((await dispatch('first', { number })).status, 200)
  const before = await credits()
  const { status, body } = await dispatch('second', { number })
  has(t, { status, body }, { status: 422, body: { error: 'provider_error', details: [{ code: 'duplicate_number' }] } })
  contains(t, body.message, number)
  t.strictSame(await credits(), before)
  t.equal((await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number }, { documentType: 'CREDIT' }) })).status, 200)
})

await t.test('another company may use the same number', async (t) => {
  const { member } = await service.company('twin')
  const number = crypto.randomUUID()
  for (const login of [undefined, member]) {
    t.equal((await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number }) }, login)).status, 200)
  }
})

await t.test('the timeline tells what happened, in order, by whom and with which facts', async (t) => {
  const { body } = await dispatch('anything')
  const events = await timeline(body.dispatchId)
  has(t, events, [
    { kind: 'planned', actor: { kind: 'user', userId: Number }, facts: { price: 1, template: { id: 1, version: 1 } } },
    {
      kind: 'rendered',
      service: 'invoicing',
      actor: { kind: 'system' },
      facts: { documentId: body.generatedDocument.id, sha256: body.generatedDocument.sha256, size: 14, pages: 1 }
    },
    {
      kind: 'calling',
      service: 'invoicing',
      actor: { kind: 'system' },
      facts: { providerName: 'simulator', providerVersion: /^\d+\.\d+\.\d+$/ }
    },
    {
      kind: 'answered',
      service: 'invoicing',
      actor: { kind: 'provider', code: 'simulator' },
      facts: { outcome: 'accepted', remoteId: body.providerResponse.id }
    }
  ])
  t.equal(events.length, 4)
  const times = events.map(({ at }) => at as string)
  t.strictSame(times, times.toSorted())
})

await t.test('the outbox shows what was sent, with the document by name and not by content', async (t) => {
  const { body } = await dispatch('shown')
  const outbox = await service.send('GET', '/api/v1/simulator/outbox')
  has(t, outbox.body.data[0], {
    service: 'invoicing',
    invoicing: { documentType: 'INVOICE', reference: 'shown' },
    document: { id: body.generatedDocument.id, sha256: body.generatedDocument.sha256 },
    response: { id: body.providerResponse.id },
    sandbox: false
  })
})

const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
const followed = {
  esign: {
    id: 40,
    fields: {
      signers: [
        { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' },
        { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }
      ]
    }
  },
  postal: { id: 30, fields: { postal: { recipient } } }
}
type Followed = keyof typeof followed

/** Dispatches something of which the simulator tells what became; resolves to the dispatch and the simulator's own id. */
const accepted = async (
  name: Followed,
  { login, at = service, more = {} }: { login?: Login, at?: TestService, more?: object } = {}
): Promise<{ dispatchId: string, id: string }> => {
  const { id, fields } = followed[name]
  const { body: { sample } } = await at.send('GET', `/api/v1/templates/${String(id)}`, {}, login)
  const { body } = await at.send('POST', `/api/${name}`, {
    body: { template: { id, data: sample }, providerName: 'simulator', ...fields, ...more }
  }, login)
  return { dispatchId: body.dispatchId, id: body.providerResponse?.id }
}
const tell = (dispatchId: unknown, status: unknown, login?: Login): Promise<Answer> =>
  service.send('POST', '/api/v1/simulator/events', { body: { dispatchId, status } }, login)
const deliveryStatus = async (dispatchId: string): Promise<string | null> => (await read(dispatchId)).steps[0].deliveryStatus
const webhooks = async (dispatchId: string): Promise<any[]> => (await timeline(dispatchId)).filter(({ kind }) => kind === 'webhook')
const inbound = async (transaction: string, at = service) =>
  (await at.app.get('database').owner.selectFrom('inbound').selectAll().execute()).filter(({ body }) =>
    body.toString().includes(transaction)
  )
const endpoint = (name: Followed): string => `/api/webhooks/${name}/providers/simulator/endpoint.json`

const jws = { kind: 'jws', header: 'x-jws-signature', algorithm: 'PS256', jwks: { keys: [] } } as const

const courses: [Followed, string[]][] = [
  ['esign', ['started', 'viewed', 'signed', 'completed']],
  ['esign', ['declined', 'completed']],
  ['esign', ['expired']],
  ['esign', ['cancelled']],
  ['postal', ['accepted', 'printed', 'mailed', 'in_transit', 'delivered', 'returned']],
  ['postal', ['printed', 'failed']],
  ['postal', ['cancelled']]
]
for (const [name, statuses] of courses) {
  await t.test(`events of ${name}: ${statuses.join(', ')}`, async (t) => {
    const provider = service.app.get('host').find('simulator')
    if (provider === undefined) throw new Error('There is no simulator.')
    // To whom a letter came back no other one is sent.
    const moved = statuses.includes('returned') ? { postal: { recipient: { ...recipient, company: 'Moved Ltd' } } } : {}
    const { dispatchId, id } = await accepted(name, { more: moved })
    const { companyId } = await service.app.get('database').owner.selectFrom('dispatches').select('company_id as companyId').where(
      'dispatch_id',
      '=',
      dispatchId
    ).executeTakeFirstOrThrow()
    const state = createProviderState(service.app.get('database'), { companyId, providerCode: 'simulator' })
    t.equal(await deliveryStatus(dispatchId), null)
    for (const status of statuses) {
      const { status: code, body } = await tell(dispatchId, status)
      t.equal(code, 200)
      has(t, body, {
        url: /^\/api\/webhooks\/(esign|postal)\/providers\/simulator\/endpoint\.json\?account=[\da-f-]{36}$/,
        event: { id: String, type: status, transaction: id }
      })
      await until(status, async () => await deliveryStatus(dispatchId) === status)
      has(t, await callStatus(provider, name, { id }, callContext({ state })), { ok: true, value: { status } },
        'the simulator itself says the same')
    }
    has(t, await webhooks(dispatchId), statuses.map((status) => ({
      service: name,
      actor: { kind: 'provider', code: 'simulator' },
      facts: { type: status, status, changed: true }
    })))
  })
}

await t.test('an event that comes too late stands in the timeline and changes nothing', async (t) => {
  const { dispatchId } = await accepted('esign')
  for (const [index, status] of ['completed', 'viewed'].entries()) {
    await tell(dispatchId, status)
    await until(status, async () => (await webhooks(dispatchId)).length === index + 1)
  }
  t.equal(await deliveryStatus(dispatchId), 'completed')
})

await t.test('an event goes to the configuration that its dispatch went through, and counts for its owner alone', async (t) => {
  const { companyId, member } = await service.company('sealed')
  const settings = { webhookUser: 'hook', webhookPassword: 'hook-password' }
  await service.send('PUT', '/api/v1/my/providers/simulator', { body: { settings } }, member)
  const { dispatchId, id } = await accepted('postal', { login: member })
  const address = new URL((await service.send('GET', '/api/v1/my/config', {}, member)).body.user.providers[0].webhookUrl)
  const { body: { url } } = await tell(dispatchId, 'printed', member)
  t.equal(url, `${endpoint('postal')}${address.search}`)
  await until('it is applied', async () => (await inbound(id))[0]?.state === 'applied')
  has(t, await inbound(id), [{ company_id: companyId, account: address.searchParams.get('account') }])

  await service.send('DELETE', '/api/v1/my/providers/simulator', {}, member)
  has(t, (await tell(dispatchId, 'mailed', member)).body, { url: endpoint('postal') }, 'without it, the server\'s own credentials serve')
  await until('that is applied too',
    async () => (await inbound(id)).every(({ state }) => state === 'applied') && (await inbound(id)).length === 2)
})

await t.test('what is forged is refused', async (t) => {
  const [contract, letter] = [await accepted('esign'), await accepted('postal')]
  await tell(contract.dispatchId, 'started')
  await until('it is applied', async () => await deliveryStatus(contract.dispatchId) === 'started')
  const [known] = service.app.get('simulatedVendor').endpoints.endpointKeys('simulator')?.keys ?? []
  const before = webhookRefusals(service.log)

  const completed = JSON.stringify({ id: 'forged', type: 'completed', transaction: contract.id })
  const signed = async (kid: string): Promise<Record<string, string>> => {
    const { headers } = await signDelivery([jws], Buffer.from(completed), { key: createVendorKey(kid), settings: {}, endpoint: '' },
      new Date())
    return headers as Record<string, string>
  }
  for (const headers of [await signed('another'), await signed(known?.['kid'] as string), {}]) {
    await service.send('POST', endpoint('esign'), { body: completed, headers }, null)
  }
  const mailed = JSON.stringify({ id: 'forged', type: 'mailed', transaction: letter.id })
  for (const headers of [basic('simulator:simulator'), basic('simulator:'), {}]) {
    await service.send('POST', endpoint('postal'), { body: mailed, headers }, null)
  }

  t.same(webhookRefusals(service.log), {
    ...before,
    'esign simulator unknown_key': 1,
    'esign simulator wrong_signature': 1,
    'esign simulator no_signature': 1,
    'postal simulator wrong_signature': 2,
    'postal simulator no_signature': 1
  })
  t.strictSame([await inbound('forged'), await deliveryStatus(contract.dispatchId), await deliveryStatus(letter.dispatchId)], [
    [],
    'started',
    null
  ])
})

await t.test('text messages and invoices have no events: it is asked after them, at once and each time', async (t) => {
  const requested: [string, Answer, string[]][] = [
    [
      'sms',
      await service.send('POST', '/api/sms', { body: { sms: { phoneNumber: '+33612345678', message: 'Hello' } } }),
      [
        'queued',
        'sent',
        'delivered'
      ]
    ],
    ['sms', await service.send('POST', '/api/sms', { body: { sms: { phoneNumber: '+33612345678', message: 'Hello' } } }), ['failed']],
    ['invoicing', await dispatch('followed'), ['open', 'uncollectible', 'paid']]
  ]
  for (const [name, { body: { dispatchId } }, statuses] of requested) {
    t.equal(await deliveryStatus(dispatchId), null)
    for (const status of statuses) {
      has(t, await tell(dispatchId, status), { status: 200, body: { url: undefined, event: { type: status } } })
      await until(status, async () => await deliveryStatus(dispatchId) === status)
    }
    const polled = (await timeline(dispatchId)).filter(({ kind }) => kind === 'polled')
    has(t, polled, statuses.map((status) => ({
      service: name,
      actor: { kind: 'provider', code: 'simulator' },
      facts: { type: status, status, changed: true }
    })))
    t.equal((await read(dispatchId)).steps[0].providerResponse.status, statuses.at(-1))
  }
})

await t.test('what has no event is told why', async (t) => {
  const { dispatchId } = await accepted('esign')
  const invoice = (await dispatch('unfollowed')).body.dispatchId
  const refused = (await service.send('POST', '/api/postal', {
    body: {
      template: { id: 30, data: (await service.send('GET', '/api/v1/templates/30')).body.sample },
      postal: { recipient: { ...recipient, name: 'reject' } }
    }
  })).body.dispatchId
  const unfollowed = { status: 422, body: { error: 'validation_failed', details: [{ path: '/dispatchId', code: 'not_followed' }] } }
  has(t, await tell(invoice, 'signed'), {
    status: 422,
    body: { details: [{ path: '/status', code: 'not_of_service', message: /no status of invoicing, which has received/ }] }
  })
  has(t, await tell(refused, 'mailed'), unfollowed)
  has(t, await tell(dispatchId, 'mailed'), {
    status: 422,
    body: {
      error: 'validation_failed',
      details: [{
        path: '/status',
        code: 'not_of_service',
        message: '"mailed" is no status of esign, which has started, viewed, signed, declined, completed, expired, failed, cancelled.'
      }]
    }
  })
  has(t, await tell(dispatchId, 'singed'), {
    status: 400,
    body: { error: 'validation_error', details: [{ path: '/status', code: 'enum', message: /did you mean "signed"/ }] }
  })
  has(t, await tell('none', 'signed'), { status: 400, body: { details: [{ path: '/dispatchId', code: 'format' }] } })
  has(t, await tell(crypto.randomUUID(), 'signed'), { status: 404, body: { error: 'not_found' } })
  t.strictSame(await webhooks(dispatchId), [])
})

await t.test('a dispatch of another company is not there', async (t) => {
  const { member } = await service.company('stranger')
  const { dispatchId, id } = await accepted('esign')
  has(t, await tell(dispatchId, 'signed', member), { status: 404, body: { error: 'not_found' } })
  t.strictSame(await inbound(id), [])
})

await t.test('the examples of its README do what they say', async (t) => {
  const { dispatchId } = await accepted('esign')
  const page = await readFile(join(shippedProviders, 'simulator/README.md'), 'utf8')
  const commands = [...page.matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(([, text = '']) =>
    text.replaceAll('http://127.0.0.1:3000', service.url)
  )
  t.equal(commands.length, 1)
  for (const command of commands) {
    const { stdout } = await promisify(execFile)('sh', ['-c', command])
    has(t, JSON.parse(stdout), { event: { type: 'signed' } })
  }
  await until('it is signed', async () => await deliveryStatus(dispatchId) === 'signed')
})

await t.test('in production the routes are not there, and no event of the simulator is believed', async (t) => {
  const production = await startService(t, { config: { environment: 'production' }, replacements: { renderer: quickRenderer } })
  t.equal((await production.send('GET', '/api/v1/simulator/outbox')).status, 404)
  const { dispatchId, id } = await accepted('esign', { at: production })
  t.equal((await production.send('POST', '/api/v1/simulator/events', { body: { dispatchId, status: 'signed' } })).status, 404)
  const event = JSON.stringify({ id: '1', type: 'signed', transaction: id })
  for (const [name, verify] of [['esign', jws], ['postal', { kind: 'basic' }]] as const) {
    const headers = await service.app.get('simulatedVendor').sign({ verify }, Buffer.from(event), {}) as Record<string, string>
    await production.send('POST', endpoint(name), { body: event, headers }, null)
  }
  t.same(webhookRefusals(production.log), { 'esign simulator unknown_key': 1, 'postal simulator no_secret': 1 })
  t.strictSame(await inbound(id, production), [])
})
