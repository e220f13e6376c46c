import { outcomeUnknown, refused, unavailable } from '@dispatch/core/provider'
import { sql } from 'kysely'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { tablesIn } from '../../core/packages/features/templates/store/tables.ts'
import { languages } from '../../plugins/console/language/language.ts'
import { chainBody } from '../support/chains.ts'
import { clockAt } from '../support/clock.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { runQueued } from '../support/run-queued.ts'
import { admin, type Answer, invoiceRequest, operator, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'
import { type Handler, testProviders } from './support/providers.ts'

type Act = 'accept' | 'close' | 'lose' | 'refuse'

/** What each vendor does with its next requests; it accepts all others. */
const script = new Map<string, Act[]>()
const acting = (code: string): Handler => (_request, { reference }) => {
  const act = script.get(code)?.shift() ?? 'accept'
  if (act === 'close') throw unavailable('It is closed.')
  if (act === 'lose') throw outcomeUnknown('The answer was lost.')
  if (act === 'refuse') throw refused('provider_error', 'Not so.')
  return Promise.resolve({ id: `${code}-${reference}`, status: 'created' })
}

/** How the check of a provider goes wrong. */
let fault: 'none' | 'throws' | 'rejects' = 'none'
const check = (requested: { data: { number?: string } }): any => {
  if (fault === 'throws') throw new TypeError('It is broken.')
  if (fault === 'rejects') return Promise.reject(new TypeError('It is broken later.'))
  return requested.data.number === undefined ? [{ at: '/data/number', code: 'required', message: 'It requires this field.' }] : []
}

const clock = clockAt('2026-03-14T09:30:00Z')
const providers = await testProviders(t)
const errors = '{ map: { provider_error: \'provider_error\' } }'
for (const code of ['alpha', 'beta', 'gone']) await providers.add(code, { errors }, acting(code))
await providers.add('checking', { errors }, acting('checking'), { check })
await providers.add('sealed', { settings: '{ token: Secret() }' }, acting('sealed'))
await providers.add('text', { of: 'sms', service: 'idempotency: { kind: \'none\' }' }, acting('text'))
await providers.add('archive', { of: 'upload', service: 'idempotency: { kind: \'none\' }' }, acting('archive'), {
  check: (): any => [{ at: '/upload', code: 'not_supported_by_provider', message: 'It takes none of these.' }]
})
await providers.add('letters', { of: 'postal', service: 'mailTypes: [\'SIMPLE\'], idempotency: { kind: \'none\' }' }, acting('letters'))

const service = await startService(t, {
  config: { providerDirectories: providers.directories, runsWorker: false },
  replacements: { renderer: quickRenderer, now: clock.now }
})
const { send } = service
const { owner } = service.app.get('database')
const configure = (code: string, settings: object = {}): Promise<Answer> =>
  send('PUT', `/api/v1/company/providers/${code}`, { body: { settings } })
for (const code of ['alpha', 'beta', 'gone', 'checking', 'text', 'archive', 'letters']) await configure(code)

const choose = async (body: object, what = 'invoicing'): Promise<void> => {
  t.equal((await send('PUT', `/api/v1/company/defaults/${what}`, { body })).status, 200)
}
const list = (...codes: string[]): Promise<void> => choose({ providers: codes.map((providerName) => ({ providerName })) })
const dispatch = async (body: Record<string, unknown> = {}, query = ''): Promise<string> =>
  (await send('POST', `/api/invoicing${query}`, { body: invoiceRequest({}, body) })).body.dispatchId
const take = async (dispatchId: string): Promise<void> => {
  const { company_id: companyId } = await owner.selectFrom('dispatches').select('company_id').where('dispatch_id', '=', dispatchId)
    .executeTakeFirstOrThrow()
  await runQueued(service.app.get('pipeline'), { companyId, dispatchId })
}
const retry = (dispatchId: string, body?: object): Promise<Answer> =>
  send('POST', `/api/v1/dispatches/${dispatchId}/retry`, body === undefined ? {} : { body })

/** What is told of each provider, by its name. */
type Reported = Record<string, { outcome: string, reason: string }>
const why = async (dispatchId: string, step = 0): Promise<Reported> => {
  const { status, body } = await send('GET', `/api/v1/dispatches/${dispatchId}/choices`)
  t.equal(status, 200, JSON.stringify(body))
  return Object.fromEntries(body.steps[step].providers.map((one: { providerName: string }) => [one.providerName, one]))
}
t.beforeEach(() => {
  script.clear()
  fault = 'none'
})

await t.test('the fault of one provider is told of that one, and hides nothing of others', async (t) => {
  await list('alpha', 'checking')
  const dispatchId = await dispatch({ providerName: 'alpha' })
  await list('alpha', 'beta')
  const other = await dispatch()
  await list('alpha', 'checking')
  for (const one of ['throws', 'rejects'] as const) {
    fault = one
    has(t, await why(other), {
      alpha: { outcome: 'chosen' },
      beta: { outcome: 'not_needed' },
      checking: { outcome: 'unusable', reason: 'Its check does not answer.' }
    }, one)
    has(t, await why(dispatchId), { checking: { outcome: 'not_chosen', reason: 'The request names "alpha".' } })
  }
  contains(t, service.log.join('\n'), 'the check of a provider does not answer')
})

await t.test('settings that cannot be opened are told of their provider alone', async (t) => {
  await list('alpha', 'beta')
  const other = await dispatch()
  await configure('sealed', { token: 's3cret' })
  t.teardown(() => send('DELETE', '/api/v1/company/providers/sealed'))
  const sealed = owner.selectFrom('configurations').select('secrets').where('provider_code', '=', 'sealed')
  const { secrets } = await sealed.executeTakeFirstOrThrow()
  const broken = JSON.stringify(secrets).replaceAll(/"([A-Za-z0-9+/=_-]{20})/g, '"AAAA$1')
  t.not(broken, JSON.stringify(secrets))
  await owner.updateTable('configurations').set({ secrets: broken }).where('provider_code', '=', 'sealed').execute()
  has(t, await why(other), { alpha: { outcome: 'chosen' }, sealed: { outcome: 'unusable', reason: /"sealed".*cannot be opened/ } })
})

await t.test('of a template that only a newer release can read nothing more is known', async (t) => {
  await list('alpha', 'beta')
  const dispatchId = await dispatch()
  await list('alpha', 'checking')
  has(t, await why(dispatchId), { checking: { outcome: 'not_chosen' } })
  t.teardown(() => tablesIn(owner).updateTable('template_versions').set({ language: 1 }).execute())
  await tablesIn(owner).updateTable('template_versions').set({ language: 99 }).execute()
  has(t, await why(dispatchId), { alpha: { outcome: 'chosen' }, checking: { outcome: 'not_chosen' } })
})

await t.test('of a template that is gone nothing more is known, and no field is told as missing', async (t) => {
  await list('alpha', 'beta')
  const dispatchId = await dispatch()
  await list('alpha', 'checking')
  await owner.updateTable('dispatches').set({ template_version: 999 }).where('dispatch_id', '=', dispatchId).execute()
  has(t, await why(dispatchId), { alpha: { outcome: 'chosen' }, checking: { outcome: 'not_chosen' } })
})

await t.test('of what is stored and fits no rule, what is known is told', async (t) => {
  const postal = { recipient: { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' } }
  const { body: letter } = await send('POST', '/api/postal', {
    body: { postal, template: invoiceRequest()['template'], providerName: 'letters' }
  })
  await owner.updateTable('steps').set({ fields: '{}' }).where('dispatch_id', '=', letter.dispatchId).execute()
  has(t, await why(letter.dispatchId), { letters: { outcome: 'chosen' }, simulator: { outcome: 'not_chosen' } })
})

await t.test('of data that are no longer kept, what is known is told', async (t) => {
  await list('alpha', 'beta')
  const dispatchId = await dispatch()
  await list('alpha', 'checking')
  await owner.updateTable('dispatches').set({ data: null }).where('dispatch_id', '=', dispatchId).execute()
  fault = 'throws'
  has(t, await why(dispatchId), {
    alpha: { outcome: 'chosen' },
    beta: { outcome: 'not_needed' },
    checking: { outcome: 'not_chosen' },
    stripe: { outcome: 'unusable' }
  })
})

await t.test('a provider that is left because it is not configured, or not installed any more, is told by its name', async (t) => {
  await list('alpha', 'beta')
  const dispatchId = await dispatch({}, '?async=true')
  await send('DELETE', '/api/v1/company/providers/alpha')
  await take(dispatchId)
  has(t, await why(dispatchId), {
    alpha: { outcome: 'tried', reason: /"beta" was tried next/ },
    beta: { outcome: 'chosen', reason: /follows "alpha" in the list/ }
  })
  await configure('alpha')

  await list('gone', 'beta')
  const waiting = await dispatch({}, '?async=true')
  const [done, named] = [await dispatch(), await dispatch({ providerName: 'gone' })]
  await rm(join(providers.directories[1] ?? '', 'gone'), { recursive: true })
  t.equal((await send('POST', '/api/v1/providers/reload', {}, operator)).status, 200)
  await take(waiting)
  has(t, await why(waiting), {
    gone: { outcome: 'tried', reason: /"provider_unavailable"/ },
    beta: { outcome: 'chosen', reason: /follows "gone"/ }
  })
  has(t, await why(done), { gone: { outcome: 'chosen', reason: 'It is the first of the list that is the default of the company.' } })
  has(t, await why(named), { gone: { outcome: 'chosen', reason: 'The request names it.' } })
  await list('alpha', 'beta')
  const after = await dispatch()
  t.notOk((await why(after))['gone'])
  // As releases before have noted it.
  await sql`insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
    select company_id, dispatch_id, step_id, kind, actor, facts - 'providerName', at from events
    where dispatch_id = ${waiting} and facts ? 'nextProviderName'`.execute(owner)
  has(t, await why(waiting), { beta: { reason: /^It follows another one in the list/ } })
})

await t.test('after a doubt the list is not kept: only what is known is told, also once it is resolved', async (t) => {
  await list('alpha', 'beta')
  script.set('alpha', ['lose'])
  const dispatchId = await dispatch()
  has(t, await why(dispatchId), {
    alpha: { outcome: 'chosen', reason: 'The default of the company chose it.' },
    beta: { outcome: 'not_chosen', reason: /stands in the list now, but after a doubt nobody else is tried/ }
  })
  const body = { outcome: 'rejected', reason: 'It is not in the account.' }
  t.equal((await send('POST', `/api/v1/dispatches/${dispatchId}/resolve`, { body })).status, 200)
  has(t, await why(dispatchId), {
    alpha: { outcome: 'chosen', reason: 'The default of the company chose it.' },
    beta: { outcome: 'not_chosen', reason: 'It stands in the list now; whether it did then is not kept.' },
    simulator: { outcome: 'not_chosen', reason: 'The default of the company chose "alpha".' }
  })
})

await t.test('who was called by an earlier try is told as tried: the last of a failed run, and those before a correction', async (t) => {
  await list('alpha', 'beta')
  script.set('alpha', ['close', 'accept'])
  script.set('beta', ['refuse'])
  const dispatchId = await dispatch()
  t.equal((await retry(dispatchId)).body.providerName, 'alpha')
  has(t, await why(dispatchId), {
    alpha: { outcome: 'chosen', reason: /first of the list/ },
    beta: { outcome: 'tried', reason: 'It was called, and surely did not send it ("provider_error").' }
  })

  script.set('alpha', ['close'])
  script.set('beta', ['refuse'])
  const corrected = await dispatch()
  has(t, await retry(corrected, { invoicing: { documentType: 'INVOICE' } }), { status: 200, body: { providerName: 'beta' } })
  await list('beta', 'checking')
  has(t, await why(corrected), {
    alpha: { outcome: 'tried', reason: /"beta" was tried next/ },
    beta: { outcome: 'chosen', reason: /follows "alpha"/ },
    checking: { outcome: 'not_chosen', reason: 'It stands in the list now; whether it did then is not kept.' }
  })
})

await t.test('a test that a stand-in has done: nobody else is told as chosen by the default', async (t) => {
  await list('alpha', 'beta')
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'test', mode: 'test' } })
  const headers = { authorization: `Bearer ${String(key)}` }
  for (const more of [{}, { providerName: 'beta' }]) {
    const { body } = await send('POST', '/api/invoicing', { body: invoiceRequest({}, more), headers }, null)
    has(t, body, { test: true, providerName: 'simulator' })
    const reported = await why(body.dispatchId)
    has(t, reported, { simulator: { outcome: 'chosen', reason: /^It stands in for the chosen provider/ } })
    for (const code of ['alpha', 'beta']) {
      has(t, reported[code], { outcome: 'not_chosen', reason: /^The request is a test, and "simulator" stands in .*not kept\.$/ }, code)
    }
  }
})

await t.test('each step of a chain is told of, the deferred one too', async (t) => {
  const body = chainBody(['esign', 'sms'], invoiceRequest()['template'], {
    sms: { phoneNumber: '+15005550002', message: 'Hello', providerName: 'text' },
    deferred: [{ on: 'esign.completed', service: 'upload' }]
  })
  const { body: { dispatchId } } = await send('POST', '/api/esign/sms', { body })
  const { steps } = (await send('GET', `/api/v1/dispatches/${String(dispatchId)}/choices`)).body
  t.strictSame(steps.map(({ service }: { service: string }) => service), ['esign', 'sms', 'upload'])
  has(t, await why(dispatchId, 1), {
    text: { outcome: 'chosen', reason: 'The request names it.' },
    simulator: { outcome: 'not_chosen', reason: 'The request names "text".' }
  })
  await choose({ providers: [{ providerName: 'simulator' }, { providerName: 'archive' }] }, 'upload')
  has(t, await why(dispatchId, 2), {
    simulator: { outcome: 'chosen', reason: 'The default of the company chose it.' },
    archive: { outcome: 'unsupported', reason: /It takes none of these\./ },
    text: undefined
  })
})

await t.test('the page of a dispatch is shown without the table where the choices cannot be told', async (t) => {
  const { open, signIn } = openConsole(service)
  const cookie = await signIn(admin)
  const dispatchId = await dispatch({ providerName: 'alpha' })
  contains(t, (await open(`/dispatches/${dispatchId}`, cookie)).body, languages.en.choices)
  t.intercept(service.app.get('pipeline'), 'explain', { value: () => Promise.reject(new Error('It is broken.')) })
  const { status, body } = await open(`/dispatches/${dispatchId}`, cookie)
  t.equal(status, 200)
  lacks(t, body, languages.en.choices)
})
