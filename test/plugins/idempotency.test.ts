import { unavailable } from '@dispatch/core/provider'
import { createBreakers } from '@dispatch/host'
import { hash } from 'node:crypto'
import t from 'tap'
import { clockAt } from '../support/clock.ts'
import { createGate } from '../support/gate.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Sending, startService } from '../support/service.ts'
import { accepts, testProviders } from './support/providers.ts'

const clock = clockAt('2026-03-14T09:30:00Z')
const providers = await testProviders(t)
const gate = createGate()
await providers.add('gated', {}, async (request, call) => {
  await gate.pass()
  return accepts(request, call)
})
/** What the provider "flaky" was called with: it is unavailable the first time. */
const tokens: unknown[] = []
await providers.add('flaky', { settings: '{ token: Secret() }' }, async (request, call) => {
  tokens.push(call.settings['token'])
  if (tokens.length === 1) throw unavailable('Try again.')
  return accepts(request, call)
})
const service = await startService(t, {
  config: { providerDirectories: providers.directories },
  replacements: { renderer: quickRenderer, now: clock.now, breakers: createBreakers({ now: clock.now, failures: 1000 }) }
})

const dispatch = (body: unknown, key: string, { headers, ...sending }: Sending = {}): Promise<Answer> =>
  service.send('POST', '/api/invoicing', { body, headers: headers ?? { 'x-idempotency-key': key }, ...sending })
const balance = async (): Promise<number> => (await service.send('GET', '/api/v1/credits')).body.balance
const replayed = ({ headers }: Answer): string | null => headers.get('idempotency-replayed')

await t.test('a repeat answers with the dispatch that the key created, marked as such, and nothing is dispatched again', async (t) => {
  const body = invoiceRequest({}, { metadata: { orderId: 'A-1' } })
  const before = await balance()
  const first = await dispatch(body, 'repeat')
  const second = await dispatch(body, 'repeat')
  t.equal(first.status, 200)
  t.equal(replayed(first), null)
  t.equal(second.status, 200)
  t.equal(replayed(second), 'true')
  t.strictSame(second.body, first.body)
  t.equal(await balance(), before - 1)
})

await t.test('Idempotency-Key is another name of X-Idempotency-Key', async (t) => {
  const body = invoiceRequest()
  const first = await dispatch(body, '', { headers: { 'idempotency-key': 'alias' } })
  const second = await dispatch(body, 'alias')
  t.equal(replayed(second), 'true')
  t.equal(second.body.dispatchId, first.body.dispatchId)
})

await t.test('two names that say two things are a 400', async (t) => {
  const { status, body } = await dispatch(invoiceRequest(), '', { headers: { 'idempotency-key': 'one', 'x-idempotency-key': 'two' } })
  has(t, { status, body }, {
    status: 400,
    body: { error: 'validation_error', details: [{ path: '/headers/Idempotency-Key', code: 'contradiction' }] }
  })
})

await t.test('a key has 1 to 255 characters', async (t) => {
  t.equal((await dispatch(invoiceRequest(), 'k'.repeat(255))).status, 200)
  for (const key of ['', 'k'.repeat(256)]) {
    const { status, body } = await dispatch(invoiceRequest(), key)
    has(t, { status, body }, { status: 400, body: { error: 'validation_error', details: [{ path: '/headers/X-Idempotency-Key' }] } })
  }
})

await t.test('the same key with another body is a 422, whatever became of the first', async (t) => {
  const body = invoiceRequest()
  const first = await dispatch(body, 'reused')
  for (const other of [invoiceRequest(), { ...body, metadata: { a: '1' } }]) {
    const answer = await dispatch(other, 'reused')
    has(t, answer, { status: 422, body: { error: 'idempotency_key_reused', dispatchId: first.body.dispatchId } })
    t.equal(replayed(answer), null)
  }
})

await t.test('white space makes no other body', async (t) => {
  const body = invoiceRequest()
  await dispatch(body, 'layout')
  t.equal(replayed(await dispatch(JSON.stringify(body, null, 2), 'layout')), 'true')
})

/** A body whose members stand in the other order, at every depth. */
function reversed (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, reversed(field)] as const).reverse())
}

await t.test('another order of the members makes no other body, and another order of a list does', async (t) => {
  const body = invoiceRequest({}, { metadata: { a: '1', b: '2' } })
  await dispatch(body, 'ordered')
  t.not(JSON.stringify(reversed(body)), JSON.stringify(body))
  t.equal(replayed(await dispatch(reversed(body), 'ordered')), 'true')
  const twoLines = { ...body, template: { id: 1, data: { lines: [{ a: 1 }, { b: 2 }] } } }
  t.equal((await dispatch(twoLines, 'ordered')).status, 422)
})

await t.test('a key that a release before has bound, to the members in their order, is repeated after the upgrade', async (t) => {
  const body = invoiceRequest({}, { metadata: { b: '2', a: '1' } })
  const first = await dispatch(body, 'before')
  await service.app.get('database').owner.updateTable('idempotency_keys').where('key', '=', 'before')
    .set({ fingerprint: hash('sha256', `invoicing\n${JSON.stringify(body)}`) }).execute()
  const again = await dispatch(body, 'before')
  t.equal(replayed(again), 'true')
  t.equal(again.body.dispatchId, first.body.dispatchId)
  t.equal((await dispatch({ ...body, metadata: { a: '2' } }, 'before')).body.error, 'idempotency_key_reused')
})

await t.test('a repeat of a failed dispatch answers with its failure', async (t) => {
  const body = invoiceRequest({}, { invoicing: { reference: 'reject' } })
  const first = await dispatch(body, 'rejected')
  const second = await dispatch(body, 'rejected')
  t.equal(first.status, 422)
  t.equal(second.status, 422)
  t.equal(replayed(second), 'true')
  t.strictSame({ ...second.body, requestId: '' }, { ...first.body, requestId: '' })
})

await t.test('while the first request runs, a repeat is a 409 that names its dispatch', async (t) => {
  const body = invoiceRequest({}, { providerName: 'gated' })
  await service.send('PUT', '/api/v1/company/providers/gated', { body: { settings: {} } })
  const first = dispatch(body, 'running')
  await gate.reached
  const second = await dispatch(body, 'running')
  has(t, second, { status: 409, body: { error: 'idempotency_in_progress', dispatchId: String } })
  t.equal(second.headers.get('retry-after'), '1')
  has(t, await dispatch(invoiceRequest(), 'running'), { status: 422, body: { error: 'idempotency_key_reused' } })
  gate.open()
  const { status, body: { dispatchId } } = await first
  t.equal(status, 200)
  t.equal(dispatchId, second.body.dispatchId)
  t.equal(replayed(await dispatch(body, 'running')), 'true')
})

await t.test('of parallel repeats exactly one creates the dispatch', async (t) => {
  const body = invoiceRequest()
  const before = await balance()
  const answers = await Promise.all(Array.from({ length: 20 }, () => dispatch(body, 'together')))
  t.equal(await balance(), before - 1)
  t.equal(answers.filter((answer) => answer.status === 200 && replayed(answer) === null).length, 1)
  t.ok(answers.every(({ status }) => status === 200 || status === 409))
  t.equal(new Set(answers.map(({ body }) => body.dispatchId as string)).size, 1)
})

await t.test('a key belongs to its company', async (t) => {
  const { member, admin } = await service.company('keys')
  const body = invoiceRequest()
  const ours = await dispatch(body, 'shared')
  const theirs = await service.send('POST', '/api/invoicing', { body, headers: { 'x-idempotency-key': 'shared' } }, member)
  t.equal(theirs.status, 200)
  t.equal(replayed(theirs), null)
  t.not(theirs.body.dispatchId, ours.body.dispatchId)
  const colleague = await service.send('POST', '/api/invoicing', { body, headers: { 'x-idempotency-key': 'shared' } }, admin)
  t.equal(replayed(colleague), 'true')
})

await t.test('permission is checked before a replay', async (t) => {
  const { member, companyId } = await service.company('revoked')
  const body = invoiceRequest()
  const send = (): Promise<Answer> => service.send('POST', '/api/invoicing', { body, headers: { 'x-idempotency-key': 'revoked' } }, member)
  t.equal((await send()).status, 200)
  await service.app.get('database').owner.updateTable('users').set({ services: [] }).where('company_id', '=', companyId).execute()
  t.equal((await send()).status, 403)
})

await t.test('what fails before a dispatch exists does not use the key up', async (t) => {
  const { member, companyId } = await service.company('unused', { credits: 0, services: [] })
  const { owner } = service.app.get('database')
  const send = (body: unknown): Promise<Answer> =>
    service.send('POST', '/api/invoicing', { body, headers: { 'x-idempotency-key': 'unused' } }, member)
  const good = invoiceRequest()
  t.equal((await send(good)).status, 403)
  await owner.updateTable('users').set({ services: ['invoicing'] }).where('company_id', '=', companyId).execute()
  t.equal((await send({ ...good, documentType: 'NONE' })).status, 400)
  t.equal((await send({ ...good, template: { id: 999, data: {} } })).status, 404)
  t.equal((await send(invoiceRequest({ total: 1 }))).status, 422)
  t.equal((await send(invoiceRequest())).status, 402)
  await owner.updateTable('credits').set({ balance: '1' }).where('company_id', '=', companyId).execute()
  const answer = await send(good)
  t.equal(answer.status, 200)
  t.equal(replayed(answer), null)
})

await t.test('validation ignores the key', async (t) => {
  const headers = { 'x-idempotency-key': 'validated' }
  for (const body of [invoiceRequest(), invoiceRequest()]) {
    const answer = await service.send('POST', '/api/invoicing/validate', { body, headers })
    t.equal(answer.status, 200)
    t.equal(replayed(answer), null)
  }
  t.equal(replayed(await dispatch(invoiceRequest(), 'validated')), null)
})

await t.test('a resumed dispatch needs credits again', async (t) => {
  const { member, companyId } = await service.company('resume', { credits: 1 })
  const body = invoiceRequest({}, { invoicing: { reference: 'unavailable' } })
  const send = (): Promise<Answer> => service.send('POST', '/api/invoicing', { body, headers: { 'x-idempotency-key': 'resume' } }, member)
  t.equal((await send()).status, 503)
  const credits = service.app.get('database').owner.updateTable('credits').where('company_id', '=', companyId)
  await credits.set({ balance: '0' }).execute()
  t.equal((await send()).status, 402)
  await credits.set({ balance: '1' }).execute()
  t.equal((await send()).status, 503)
  t.equal((await send()).status, 200)
  has(t, (await service.send('GET', '/api/v1/credits', {}, member)).body, { balance: 0, held: 0 })
})

await t.test('a dispatch that a colleague resumes keeps the configuration of whoever began it', async (t) => {
  const { admin, member } = await service.company('colleagues')
  const body = invoiceRequest({}, { providerName: 'flaky' })
  for (const [login, token] of [[member, 'of the member'], [admin, 'of the admin']] as const) {
    await service.send('PUT', '/api/v1/my/providers/flaky', { body: { settings: { token } } }, login)
  }
  const statuses = []
  for (const login of [member, admin]) {
    statuses.push((await service.send('POST', '/api/invoicing', { body, headers: { 'x-idempotency-key': 'colleagues' } }, login)).status)
  }
  t.strictSame(statuses, [503, 200])
  t.strictSame(tokens, ['of the member', 'of the member'])
})

await t.test('of parallel repeats of an unavailable dispatch one resumes it', async (t) => {
  const body = invoiceRequest({}, { invoicing: { reference: 'unavailable' } })
  const before = await balance()
  await dispatch(body, 'resumed')
  await dispatch(body, 'resumed')
  const answers = await Promise.all(Array.from({ length: 10 }, () => dispatch(body, 'resumed')))
  t.ok(answers.every(({ status }) => status === 200 || status === 409))
  t.equal(await balance(), before - 1)
  const events = await service.send('GET', `/api/v1/dispatches/${answers[0]!.body.dispatchId}/events?limit=100`)
  t.equal(events.body.data.filter(({ kind }: { kind: string }) => kind === 'resumed').length, 2)
})

await t.test('a key is forgotten 24 hours after the final state', async (t) => {
  const body = invoiceRequest()
  const first = await dispatch(body, 'old')
  clock.advance(24 * 3600)
  t.equal(replayed(await dispatch(body, 'old')), 'true')
  clock.advance(1)
  const later = await dispatch({ ...invoiceRequest(), metadata: { a: '1' } }, 'old')
  t.equal(later.status, 200)
  t.equal(replayed(later), null)
  t.not(later.body.dispatchId, first.body.dispatchId)
})
