import type { ListedProvider } from '@dispatch/contract'
import { outcomeUnknown, refused, unavailable } from '@dispatch/core/provider'
import { createBreakers } from '@dispatch/host'
import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { runDeferredAction } from '../../core/pipeline/run/deferred.ts'
import { sweepDispatches } from '../../core/work/dispatch-worker.ts'
import { clockAt } from '../support/clock.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { readingOf } from '../support/reading.ts'
import { runQueued } from '../support/run-queued.ts'
import { admin, type Answer, invoiceRequest, startService } from '../support/service.ts'
import { type Handler, testProviders } from './support/providers.ts'

const acts = ['accept', 'provider_error', 'authentication_error', 'distant_service_error', 'close', 'lose'] as const
type Act = typeof acts[number]

/** What each vendor does with its next requests; it accepts all others. */
const script = new Map<string, Act[]>()
/** Whom a request has reached, in order. */
const calls: { code: string, key: string, reference: string }[] = []
const acting = (code: string): Handler => (_request, { idempotencyKey: key, reference }) => {
  calls.push({ code, key, reference })
  const act = script.get(code)?.shift() ?? 'accept'
  if (act === 'close') throw unavailable('It is closed.')
  if (act === 'lose') throw outcomeUnknown('The answer was lost.')
  if (act !== 'accept') throw refused(act, 'Not so.')
  return Promise.resolve({ id: `${code}-${reference}`, status: 'created' })
}

const clock = clockAt('2026-03-14T09:30:00Z')
const providers = await testProviders(t)
const errors = `{ map: { ${acts.slice(1, 4).map((word) => `${word}: '${word}'`).join(', ')} } }`
const codes = ['alpha', 'beta', 'gamma']
for (const code of codes) await providers.add(code, { errors, more: 'sandbox: { kind: \'flag\' },' }, acting(code))
await providers.add('sealed', { errors, settings: '{ token: Secret() }' }, acting('sealed'))
await providers.add('quotes', { errors, service: 'documentTypes: [\'QUOTE\'], idempotency: { kind: \'none\' }' }, acting('quotes'))
for (const code of ['text', 'texts']) {
  await providers.add(code, { of: 'sms', errors, service: 'idempotency: { kind: \'none\' }' }, acting(code))
}
for (const [code, more] of [['store', ''], ['small', 'maxSize: 10,']] as const) {
  await providers.add(code, { of: 'upload', errors, service: `${more} idempotency: { kind: 'none' }` }, acting(code))
}
for (const code of ['post', 'mail']) {
  // A first call leaves one of two recipients, and sends to the other one.
  const leaving: Handler = async (request, call) => {
    const { id } = await acting(code)(request, call) as { id: string }
    const waiting = call.rest === undefined ? [{ address: 'bob@example.com', code: 451, message: 'Later.' }] : []
    return { id, status: 'sent', accepted: [call.rest === undefined ? 'ada@example.com' : 'bob@example.com'], waiting }
  }
  await providers.add(code, {
    of: 'email',
    errors,
    settings: '{ allowedSenders: Type.Array(Type.String()) }',
    service: 'rest: true, idempotency: { kind: \'none\' }'
  }, leaving)
}
const breakers = createBreakers({ now: clock.now, failures: 1000 })
const service = await startService(t, {
  config: { providerDirectories: providers.directories, runsWorker: false, prices: { invoicing: 1, sms: 2 } },
  replacements: { renderer: quickRenderer, now: clock.now, breakers }
})
for (const code of [...codes, 'quotes', 'text', 'texts', 'store', 'small']) {
  await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
}
for (const code of ['post', 'mail']) {
  const settings = { allowedSenders: ['demo@example.com'] }
  await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings } })
}
const { dispatch: read, credits, events, timeline } = readingOf(service)
const choose = (body: object, what = 'invoicing'): Promise<Answer> => service.send('PUT', `/api/v1/company/defaults/${what}`, { body })
const list = async (...entries: (string | ListedProvider)[]): Promise<void> => {
  const named = entries.map((entry) => typeof entry === 'string' ? { providerName: entry } : entry)
  t.equal((await choose({ providers: named })).status, 200)
}
const send = (body: Record<string, unknown> = {}, query = ''): Promise<Answer> =>
  service.send('POST', `/api/invoicing${query}`, { body: invoiceRequest({}, body) })
const plan = async (body: Record<string, unknown> = {}): Promise<any> =>
  (await service.send('POST', '/api/invoicing/validate', { body: invoiceRequest({}, body) })).body
const { owner } = service.app.get('database')
const { company_id: companyId } = await owner.selectFrom('users').select('company_id').where('email', '=', 'demo@example.com')
  .executeTakeFirstOrThrow()
const take = (dispatchId: string): Promise<void> => runQueued(service.app.get('pipeline'), { companyId, dispatchId })
const called = (): string[] => calls.map(({ code }) => code)
t.beforeEach(() => {
  calls.length = 0
  script.clear()
})

await t.test('the next provider of a list is tried at once where the first has surely not sent', async (t) => {
  const before = await credits()
  await list('alpha', 'beta', 'gamma')
  script.set('alpha', ['close'])
  const { status, body } = await send()
  t.equal(status, 200)
  has(t, body, { status: 'succeeded', providerName: 'beta' })
  t.strictSame(called(), ['alpha', 'beta'])
  const view = await read(body.dispatchId)
  has(t, view, { creditsCharged: 1, steps: [{ providerName: 'beta', providerVersion: '1.0.0', chosenBy: 'company', creditsCharged: 1 }] })
  t.strictSame(view.steps[0].providers, codes.map((providerName) => ({ providerName })))
  t.notOk(view.steps[0].error)
  t.strictSame(await timeline(body.dispatchId), ['planned', 'rendered invoicing', 'calling invoicing', 'answered invoicing',
    'calling invoicing', 'answered invoicing'])
  has(t, await events(body.dispatchId, 'answered'), [
    { actor: { kind: 'provider', code: 'alpha' }, facts: { outcome: 'unavailable', nextProviderName: 'beta' } },
    { actor: { kind: 'provider', code: 'beta' }, facts: { outcome: 'accepted' } }
  ])
  t.strictSame(await credits(), { balance: before.balance - 1, held: before.held })
})

await t.test('a refusal goes to the next provider that names its word, and to no other', async (t) => {
  await list('alpha', 'beta', { providerName: 'gamma', after: ['authentication_error'] })
  script.set('alpha', ['authentication_error'])
  has(t, (await send()).body, { status: 'succeeded', providerName: 'gamma' })
  t.strictSame(called(), ['alpha', 'gamma'])
  script.set('alpha', ['provider_error'])
  has(t, await send(), { status: 422, body: { error: 'provider_error' } })
  t.strictSame(called(), ['alpha', 'gamma', 'alpha'])
})

await t.test('after a doubt there is no other provider, not even once it is resolved', async (t) => {
  const before = await credits()
  await list('alpha', { providerName: 'beta', after: ['provider_error'] })
  script.set('alpha', ['lose'])
  const { body: { error, dispatchId } } = await send()
  t.equal(error, 'outcome_unknown')
  t.strictSame(called(), ['alpha'])
  t.equal((await read(dispatchId)).steps[0].providers, undefined)
  const resolution = { outcome: 'rejected', reason: 'It is not in the account.' }
  has(t, await service.send('POST', `/api/v1/dispatches/${dispatchId}/resolve`, { body: resolution }), { status: 200 })
  script.set('alpha', ['provider_error'])
  has(t, await service.send('POST', `/api/v1/dispatches/${dispatchId}/retry`), { status: 422, body: { error: 'provider_error' } })
  t.strictSame(called(), ['alpha', 'alpha'])
  t.strictSame(await credits(), before)
})

await t.test('where none can be reached, the next try begins with the first again', async (t) => {
  const before = await credits()
  await list('alpha', 'beta')
  script.set('alpha', ['close', 'close'])
  script.set('beta', ['close'])
  const { body: { dispatchId } } = await send({}, '?async=true')
  await take(dispatchId)
  has(t, await read(dispatchId), { status: 'queued', steps: [{ status: 'unavailable', providerName: 'beta' }] })
  t.strictSame(await credits(), { ...before, held: before.held + 1 })
  clock.advance(60)
  await take(dispatchId)
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ status: 'accepted', providerName: 'beta' }] })
  t.strictSame(called(), ['alpha', 'beta', 'alpha', 'beta'])
  t.strictSame(await credits(), { balance: before.balance - 1, held: before.held })
})

await t.test('a retry by a person begins with the first again; with other fields it stays with the last one', async (t) => {
  await list('alpha', { providerName: 'beta', after: ['provider_error'] })
  script.set('alpha', ['provider_error'])
  script.set('beta', ['provider_error'])
  const { body: { dispatchId } } = await send()
  has(t, await service.send('POST', `/api/v1/dispatches/${dispatchId}/retry`), { status: 200, body: { providerName: 'alpha' } })
  t.strictSame(called(), ['alpha', 'beta', 'alpha'])
  t.equal(new Set(calls.map(({ key }) => key)).size, 3, 'each refusal is followed by another key')

  script.set('alpha', ['close'])
  script.set('beta', ['provider_error'])
  const again = (await send()).body
  const body = { invoicing: { documentType: 'INVOICE' } }
  const path = `/api/v1/dispatches/${String(again.dispatchId)}/retry`
  has(t, await service.send('POST', path, { body }), { status: 200, body: { providerName: 'beta' } })
})

await t.test('a breaker that is open, a configuration and a provider that are gone: the next one is called', async (t) => {
  await list('alpha', 'beta')
  for (let failures = 0; failures < 1000; failures++) breakers.fault({ companyId, userId: null, provider: 'alpha' })
  has(t, (await send()).body, { status: 'succeeded', providerName: 'beta' })
  t.strictSame(called(), ['beta'])
  breakers.close({ companyId })

  const { body: { dispatchId } } = await send({}, '?async=true')
  await service.send('DELETE', '/api/v1/company/providers/alpha')
  await take(dispatchId)
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ providerName: 'beta' }] })
  has(t, await plan(), {
    result: 'warning',
    plan: [{ providerName: 'beta' }],
    warnings: [{ path: '/providerName', code: 'provider_left_out', message: /^The provider "alpha".*has no configuration/ }]
  })
  await service.send('PUT', '/api/v1/company/providers/alpha', { body: { settings: {} } })
})

await t.test('a provider that cannot do the request is left out, and the plan says why; where none can, the first tells', async (t) => {
  await list('alpha', 'quotes', 'beta')
  const { warnings, plan: [step] } = await plan()
  t.strictSame(step.providers, [{ providerName: 'alpha' }, { providerName: 'beta' }])
  has(t, warnings, [{ code: 'provider_left_out', message: /"quotes".*INVOICE/ }])
  t.equal(warnings.length, 1)
  script.set('alpha', ['close'])
  has(t, (await send()).body, { providerName: 'beta' })

  await list('quotes', 'alpha')
  has(t, await plan(), { plan: [{ providerName: 'alpha' }], warnings: [{ code: 'provider_left_out' }] })
  const { details } = await plan({ callbackUrl: 'https://169.254.169.254/' })
  t.same(details.map(({ path }: { path: string }) => path), ['/callbackUrl'], 'the fault of the request is no provider\'s')
  t.strictSame(called(), ['alpha', 'beta'])
  await choose({ providers: [{ providerName: 'quotes' }, { providerName: 'simulator' }] })
  await service.send('DELETE', '/api/v1/company/providers/simulator')
  has(t, await plan(), { error: 'validation_failed', details: [{ message: /"quotes"/ }] })
  await service.send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } })
})

await t.test('a provider whose secrets cannot be opened is left out, and told where it is the only one', async (t) => {
  await service.send('PUT', '/api/v1/company/providers/sealed', { body: { settings: { token: 's3cret' } } })
  t.teardown(() => service.send('DELETE', '/api/v1/company/providers/sealed'))
  const { secrets } = await owner.selectFrom('configurations').select('secrets').where('provider_code', '=', 'sealed')
    .executeTakeFirstOrThrow()
  const altered = JSON.stringify(secrets).replaceAll(/"([A-Za-z0-9+/=_-]{20})/g, '"AAAA$1')
  await owner.updateTable('configurations').set({ secrets: altered }).where('provider_code', '=', 'sealed').execute()
  await list('sealed', 'beta')
  const reported = /provider "sealed".*secrets that cannot be opened.*PUT \/api\/v1\/company\/providers\/sealed/
  has(t, (await plan()).warnings, [{ path: '/providerName', code: 'provider_left_out', message: reported }])
  has(t, (await send()).body, { status: 'succeeded', providerName: 'beta' })
  has(t, await send({ providerName: 'sealed' }), { status: 422, body: { error: 'configuration_missing', message: reported } })
  t.strictSame(called(), ['beta'])
  const config = (await service.send('GET', '/api/v1/my/config')).body
  has(t, config.company.providers.find(({ code }: { code: string }) => code === 'sealed'), {
    valid: false,
    problems: [{ path: '/settings' }]
  })
  lacks(t, JSON.stringify(config), 's3cret')
  // Whoever gives them again goes on.
  t.equal((await service.send('PUT', '/api/v1/company/providers/sealed', { body: { settings: {} } })).status, 422)
  t.equal((await service.send('PUT', '/api/v1/company/providers/sealed', { body: { settings: { token: 'other' } } })).status, 200)
  has(t, (await send()).body, { status: 'succeeded', providerName: 'sealed' })
})

await t.test('a dispatch tells why its provider was chosen, and why each other one was passed over', async (t) => {
  const why = async (dispatchId: unknown): Promise<any> =>
    (await service.send('GET', `/api/v1/dispatches/${String(dispatchId)}/choices`)).body
  await service.send('DELETE', '/api/v1/company/providers/simulator')
  await list('alpha', 'quotes', { providerName: 'beta', after: ['provider_error'] }, 'gamma')
  script.set('alpha', ['close'])
  const { body: { dispatchId } } = await send()
  const first = await why(dispatchId)
  has(t, first, { settingsChangedAt: null, steps: [{ service: 'invoicing', chosenBy: 'company' }] })
  t.strictSame(first.steps[0].providers.map(({ providerName, outcome }: any) => [providerName, outcome]), [['alpha', 'tried'], ['beta',
    'chosen'], ['gamma', 'not_needed'], ['quotes', 'unsupported'], ['flow', 'unusable'], ['ipaidthat', 'unusable'], ['pennylane',
    'unusable'], ['qonto', 'unusable'], ['sealed', 'unusable'], ['simulator', 'unusable'], ['stripe', 'unusable'], ['superpdp',
    'unusable']])
  has(t, first.steps[0].providers.slice(0, 5), [
    { reason: /"provider_unavailable".*"beta" was tried next/ },
    { reason: /follows "alpha" in the list that is the default of the company/, after: ['provider_error'] },
    { reason: /where "beta" does not send/ },
    { reason: /"quotes".*INVOICE/ },
    { reason: /"flow" has no configuration/ }
  ])

  clock.advance(1)
  await choose({ providerName: 'gamma' }, 'sms')
  t.equal((await why(dispatchId)).settingsChangedAt, null, 'the default of another service')
  await choose({ providerName: 'gamma' })
  t.equal((await why(dispatchId)).settingsChangedAt, clock.now().toISOString())
  const { steps: [step] } = await why((await send({ providerName: 'beta' })).body.dispatchId)
  has(t, step.providers.slice(0, 2), [
    { providerName: 'beta', outcome: 'chosen', reason: 'The request names it.' },
    { providerName: 'alpha', outcome: 'not_chosen', reason: 'The request names "beta".' }
  ])
  const { steps: [other] } = await why((await send()).body.dispatchId)
  has(t, other.providers.slice(0, 2), [
    { providerName: 'gamma', outcome: 'chosen', reason: 'The default of the company chose it.' },
    { providerName: 'alpha', outcome: 'not_chosen', reason: 'The default of the company chose "gamma".' }
  ])
  await list({ providerName: 'alpha', weight: 3 }, { providerName: 'beta', weight: 0 })
  const { steps: [drawn] } = await why((await send()).body.dispatchId)
  has(t, drawn.providers.slice(0, 2), [{ outcome: 'chosen', weight: 3, reason: /weight of 3 in 3/ }, { outcome: 'not_needed', weight: 0 }])
  await service.send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } })
})

await t.test('a provider that the request names stands alone', async (t) => {
  await list('alpha', 'beta')
  script.set('alpha', ['close'])
  has(t, await send({ providerName: 'alpha' }), { status: 503, body: { error: 'provider_unavailable' } })
  t.strictSame(called(), ['alpha'])
  t.equal((await plan({ providerName: 'alpha' })).plan[0].providers, undefined)
})

await t.test('what goes to a test environment never follows what is real, nor the other way round', async (t) => {
  await list('alpha', 'beta', 'gamma')
  await service.send('PUT', '/api/v1/company/providers/beta', { body: { settings: {}, sandbox: true } })
  script.set('alpha', ['close'])
  has(t, await plan(), { plan: [{ providerName: 'alpha', credits: 1 }], warnings: [{ code: 'provider_left_out', message: /"beta"/ }] })
  has(t, (await send()).body, { providerName: 'gamma' })
  t.strictSame(called(), ['alpha', 'gamma'])
  await service.send('PUT', '/api/v1/company/providers/beta', { body: { settings: {}, sandbox: false } })
})

await t.test('whoever approves a request has seen the same, whichever provider of a list is drawn for it', async (t) => {
  const basic = `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`
  const actor = await service.app.get('authentication').authenticate(basic, '127.0.0.1')
  const command = { actor, services: ['invoicing'] as const, body: invoiceRequest({}), requestId: 'r' }
  const seen = async (): Promise<string[]> => {
    await service.app.get('freshness').check()
    return [...new Set(await Promise.all(Array.from({ length: 20 }, () => service.app.get('pipeline').seen(command))))]
  }
  await list({ providerName: 'alpha', weight: 1 }, { providerName: 'beta', weight: 1 })
  const [live, ...others] = await seen()
  await service.send('PUT', '/api/v1/company/providers/beta', { body: { settings: {}, sandbox: true } })
  const [mixed, ...more] = await seen()
  t.same([others, more], [[], []])
  t.not(mixed, live, 'one of them is a test environment now')
  await service.send('PUT', '/api/v1/company/providers/beta', { body: { settings: {}, sandbox: false } })
  t.same(await seen(), [live])
  await service.send('DELETE', '/api/v1/company/providers/beta')
  const [alone] = await seen()
  t.not(alone, live, 'one of them can do it no more')
  await service.send('PUT', '/api/v1/company/providers/beta', { body: { settings: {} } })
})

await t.test('each step of a chain has a list of its own', async (t) => {
  await list('alpha', 'beta')
  await choose({ providers: [{ providerName: 'text' }, { providerName: 'texts' }] }, 'sms')
  script.set('alpha', ['close'])
  script.set('text', ['close'])
  const body = invoiceRequest({}, { sms: { phoneNumber: '+15005550002', message: 'Hello' } })
  const { body: { dispatchId, steps } } = await service.send('POST', '/api/invoicing/sms', { body })
  t.strictSame(called(), ['alpha', 'beta', 'text', 'texts'])
  has(t, steps, [{ providerName: 'beta' }, { providerName: 'texts' }])
  has(t, await read(dispatchId), { status: 'succeeded', creditsCharged: 3 })
})

await t.test('what was made for the first and is too large for the next one is not refused for good', async (t) => {
  await list('alpha')
  await choose({ providers: [{ providerName: 'store' }, { providerName: 'small' }] }, 'upload')
  script.set('store', ['close'])
  const { body } = await service.send('POST', '/api/invoicing/upload', { body: invoiceRequest() })
  t.strictSame(called(), ['alpha', 'store'])
  const { steps: [, step] } = await read(body.dispatchId)
  has(t, step, {
    status: 'unavailable',
    providerName: 'small',
    error: { error: 'provider_unavailable', message: /"small" cannot: .*10 bytes/ }
  })
  has(t, await service.send('POST', `/api/v1/dispatches/${String(body.dispatchId)}/retry`), { status: 200 })
  t.strictSame(called(), ['alpha', 'store', 'store'])
})

await t.test('the recipients whom an accepted e-mail left stay with the provider that has accepted it', async (t) => {
  await choose({ providers: [{ providerName: 'post' }, { providerName: 'mail' }] }, 'email')
  script.set('post', ['close'])
  script.set('mail', ['accept', 'close'])
  const email = { from: 'demo@example.com', to: ['ada@example.com', 'bob@example.com'], subject: 'News', body: 'Hello' }
  const { body: { dispatchId, providerName } } = await service.send('POST', '/api/email', { body: { email } })
  t.equal(providerName, 'mail')
  const dependencies = service.app.get('pipelineParts')
  for (let nth = 0; nth < 2; nth++) {
    const { step_id: stepId } = await owner.selectFrom('steps').select('step_id').where('dispatch_id', '=', String(dispatchId))
      .where('rest_of', 'is not', null).executeTakeFirstOrThrow()
    await runDeferredAction(dependencies, { companyId, dispatchId: String(dispatchId), stepId })
  }
  t.strictSame(called(), ['post', 'mail', 'mail', 'mail'])
  has(t, await read(String(dispatchId)), {
    steps: [{ providerName: 'mail', providerResponse: { status: 'sent', accepted: ['ada@example.com', 'bob@example.com'] } }]
  })
})

await t.test('the recipients whom an e-mail left get nothing of a company that is disabled', async (t) => {
  await choose({ providers: [{ providerName: 'mail' }] }, 'email')
  const email = { from: 'demo@example.com', to: ['ada@example.com', 'bob@example.com'], subject: 'News', body: 'Hello' }
  const { body: { dispatchId } } = await service.send('POST', '/api/email', { body: { email } })
  const disable = (at: Date | null) => owner.updateTable('companies').set({ disabled_at: at }).where('company_id', '=', companyId).execute()
  await disable(new Date())
  const rest = owner.selectFrom('steps').select(['step_id', 'status', 'error']).where('dispatch_id', '=', String(dispatchId))
    .where('rest_of', 'is not', null)
  const { step_id: stepId } = await rest.executeTakeFirstOrThrow()
  await runDeferredAction(service.app.get('pipelineParts'), { companyId, dispatchId: String(dispatchId), stepId })
  has(t, await rest.executeTakeFirstOrThrow(), { status: 'rejected', error: { word: 'forbidden' } })
  t.strictSame(called(), ['mail'])
  await disable(null)
})

await t.test('a process that ends between two providers: the next run goes on with the second, once', async (t) => {
  const before = await credits()
  await list('alpha', 'beta')
  script.set('alpha', ['close'])
  const { body: { dispatchId } } = await send({}, '?async=true')
  // The process ends with the commit of the first outcome: nobody renews its lease.
  await sql.raw(`create function die() returns trigger language plpgsql as $$ begin
    update dispatches set run_id = gen_random_uuid(), leased_until = 'epoch' where dispatch_id = new.dispatch_id; return new; end $$;
    create trigger die after insert on events for each row when (new.facts ? 'nextProviderName') execute function die()`).execute(owner)
  has(t, await take(dispatchId).catch((error: unknown) => error), { word: 'conflict' })
  await sql.raw('drop trigger die on events; drop function die').execute(owner)
  t.strictSame(called(), ['alpha'])
  has(t, await read(dispatchId), { status: 'running', steps: [{ status: 'planned', providerName: 'beta', creditsCharged: 0 }] })
  t.strictSame(await credits(), { ...before, held: before.held + 1 })
  await sweepDispatches(service.app.get('pipelineParts'), service.app.get('queue'))
  has(t, await read(dispatchId), { status: 'queued', steps: [{ status: 'planned', providerName: 'beta' }] })
  await take(dispatchId)
  t.strictSame(called(), ['alpha', 'beta'])
  has(t, await read(dispatchId), { status: 'succeeded', creditsCharged: 1, steps: [{ providerName: 'beta' }] })
  t.strictSame(await credits(), { balance: before.balance - 1, held: before.held })
})

await t.test('a doubt about the second stays with the second', async (t) => {
  await list('alpha', 'beta', 'gamma')
  script.set('alpha', ['close'])
  script.set('beta', ['lose'])
  const { body: { dispatchId } } = await send({}, '?async=true')
  await take(dispatchId)
  const { status, steps: [step] } = await read(dispatchId)
  t.strictSame([status, step.status, step.providerName, step.providers], ['uncertain', 'uncertain', 'beta', undefined])
  t.strictSame(called(), ['alpha', 'beta'])
})

await t.test('weights decide who is first, the order who follows; the record says which way it went', async (t) => {
  await list({ providerName: 'alpha', weight: 0 }, { providerName: 'beta', weight: 5 }, 'gamma')
  script.set('beta', ['close'])
  const { body } = await send()
  t.strictSame(called(), ['beta', 'alpha'])
  t.strictSame((await read(body.dispatchId)).steps[0].providers, [{ providerName: 'beta', weight: 5 }, { providerName: 'alpha', weight: 0 },
    { providerName: 'gamma' }])
  await list({ providerName: 'alpha', weight: 50 }, { providerName: 'beta', weight: 50 })
  for (let nth = 0; nth < 8; nth++) {
    calls.length = 0
    const key = { 'x-idempotency-key': `drawn-${nth}` }
    const body = invoiceRequest()
    const first = await service.send('POST', '/api/invoicing', { body, headers: key })
    const again = await service.send('POST', '/api/invoicing', { body, headers: key })
    t.strictSame([first.body.providerName, again.body.providerName], [called()[0], called()[0]])
    t.equal(calls.length, 1)
  }
})

await t.test('what waits for any provider of a list is released by its name', async (t) => {
  await list('alpha', 'beta')
  script.set('alpha', ['close'])
  script.set('beta', ['close'])
  const { body: { dispatchId } } = await send({}, '?async=true')
  await take(dispatchId)
  const release = async (providerName: string): Promise<unknown> =>
    (await service.send('POST', '/api/v1/queue/release', { body: { providerName } })).body.released
  t.strictSame([await release('gamma'), await release('alpha')], [0, 1])
  await take(dispatchId)
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ providerName: 'alpha' }] })
})

await t.test('a callback tells which provider it was', async (t) => {
  await list('alpha', 'beta')
  script.set('alpha', ['close'])
  const { body: { dispatchId } } = await send({ callbackUrl: 'https://client.example/told' }, '?async=true')
  await take(dispatchId)
  const { rows: [callback] } = await sql<{ body: string }>`select body::text from callbacks where dispatch_id = ${dispatchId}`.execute(
    owner
  )
  const { type, data } = JSON.parse(callback?.body ?? '{}')
  has(t, { type, data }, {
    type: 'dispatch.succeeded',
    data: { steps: [{ providerName: 'beta', providers: [{ providerName: 'alpha' }, { providerName: 'beta' }] }] }
  })
})

await t.test('a list is told where choices are told, and in the audit log', async (t) => {
  const chosen = [{ providerName: 'alpha', weight: 90 }, { providerName: 'beta', weight: 10, after: ['authentication_error'] }]
  t.equal((await choose({ providers: chosen })).status, 200)
  const { body } = await service.send('GET', '/api/v1/my/config')
  t.equal(body.company.choices.invoicing, 'alpha')
  t.strictSame(body.company.lists.invoicing, chosen)
  has(t, body.services.invoicing, { providerName: 'alpha', chosenBy: 'company' })
  const { body: { data: [entry] } } = await service.send('GET', '/api/v1/audit')
  has(t, entry, { action: 'choice.changed', object: { id: 'invoicing' } })
  t.strictSame(entry.facts, { provider: 'alpha', providers: chosen })
  t.equal((await service.send('PUT', '/api/v1/my/config/invoicing', { body: { providers: chosen } })).status, 200)
  const mine = (await service.send('GET', '/api/v1/my/config')).body
  t.strictSame([mine.user.lists.invoicing, mine.services.invoicing.chosenBy], [chosen, 'user'])
  await service.send('PUT', '/api/v1/my/config/invoicing', { body: { providerName: null } })
  await choose({ providerName: 'beta' })
  t.notOk((await service.send('GET', '/api/v1/my/config')).body.company.lists?.invoicing)
})

await t.test('lists that make no sense are refused', async (t) => {
  const wrong = async (body: object): Promise<unknown> => {
    const { status, body: { error, details = [] } } = await choose(body)
    return [status, error, details[0]?.path, details[0]?.code]
  }
  t.strictSame(await wrong({ providers: [{ providerName: 'alpha' }, { providerName: 'alpha' }] }), [400, 'validation_error',
    '/providers/1/providerName', 'duplicate'])
  t.strictSame(await wrong({ providers: [{ providerName: 'alpha', weight: 0 }, { providerName: 'beta' }] }), [400, 'validation_error',
    '/providers', 'no_weight'])
  t.strictSame(await wrong({ providers: [{ providerName: 'alpha' }, { providerName: 'text' }] }), [422, 'validation_failed',
    '/providers/1/providerName', 'not_supported_by_provider'])
  t.strictSame(await wrong({ providerName: 'text' }), [422, 'validation_failed', '/providerName', 'not_supported_by_provider'])
  for (
    const body of [{}, { providers: [] }, { providerName: 'alpha', providers: [{ providerName: 'beta' }] }, {
      providers: [{ providerName: 'alpha', weight: -1 }]
    }, { providers: [{ providerName: 'alpha', weight: 1.5 }] }, { providers: [{ providerName: 'alpha', after: ['outcome_unknown'] }] }, {
      providers: [{ providerName: 'alpha', after: [] }]
    }, { providers: [{ providerName: 'alpha', more: 1 }] }, { providers: Array(9).fill({ providerName: 'alpha' }) }, { providers: null }]
  ) {
    has(t, await choose(body), { status: 400, body: { error: 'validation_error' } }, JSON.stringify(body))
  }
  const unknown = await choose({ providers: [{ providerName: 'alpha' }, { providerName: 'alhpa' }] })
  has(t, unknown, { status: 422, body: { error: 'configuration_missing' } })
  contains(t, unknown.body.message, 'alpha')
})

/** Whom a list calls, and what comes of it, told a second time. */
function expected (entries: readonly ListedProvider[], outcomes: Readonly<Record<string, Act>>): { called: string[], last: Act } {
  const called: string[] = []
  let last: Act = 'close'
  for (const { providerName, after = [] } of entries) {
    const follows = called.length === 0 || last === 'close' || after.some((word) => word === last)
    if (last === 'accept' || last === 'lose' || !follows) continue
    called.push(providerName)
    last = outcomes[providerName] ?? 'accept'
  }
  return { called, last }
}

const words = acts.slice(1, 4) as ListedProvider['after'] & object
const lists = fc.shuffledSubarray(codes, { minLength: 2 }).chain((names) =>
  fc.tuple(
    ...names.map((providerName) =>
      fc.record({ providerName: fc.constant(providerName), after: fc.subarray(words, { minLength: 1 }) }, {
        requiredKeys: ['providerName']
      })
    )
  )
)

await t.test('whatever the vendors do: never another one after an acceptance or a doubt, and the credits are exact', async (t) => {
  const outcomes = fc.record(Object.fromEntries(codes.map((code) => [code, fc.constantFrom(...acts)])))
  await fc.assert(
    fc.asyncProperty(lists, outcomes, async (entries, outcome) => {
      await list(...entries)
      calls.length = 0
      for (const code of codes) script.set(code, [outcome[code] ?? 'accept'])
      const before = await credits()
      const { body } = await send()
      const { called: desired, last } = expected(entries, outcome)
      const moved = last === 'accept' ? { balance: -1, held: 0 } : { balance: 0, held: last === 'lose' ? 1 : 0 }
      const after = await credits()
      const found = { called: called(), balance: after.balance - before.balance, held: after.held - before.held }
      const [step] = (await read(body.dispatchId)).steps
      const isSo = JSON.stringify(found) === JSON.stringify({ called: desired, ...moved }) && step.providerName === desired.at(-1)
      if (!isSo) t.comment(JSON.stringify({ entries, outcome, found, wanted: desired, providerName: step.providerName }))
      return isSo
    }),
    { numRuns: 60, seed: 20260314 }
  )
})
