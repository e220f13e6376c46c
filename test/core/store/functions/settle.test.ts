import { sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import type { DatabaseFunctions } from '../../../../core/store/calls/functions.ts'
import { has } from '../../../support/matching.ts'
import { attempt, failure, job, type Key, later, moment, openFunctions, system } from './support.ts'

const { database, call, stranger, calling, jobsAdded, dispatch, steps, attempts, events, credits, everything } = await openFunctions(t)

type Given = DatabaseFunctions['settle_step']['given']

const given = (key: Key, more: Partial<Given>): Given => ({
  ...key,
  from_states: ['planned', 'calling', 'unavailable', 'uncertain'],
  outcome: 'accepted',
  response: null,
  error: null,
  kind: 'answered',
  actor: system,
  facts: { a: 1 },
  status: undefined,
  detached: false,
  try_after: undefined,
  look_after: undefined,
  look_last: undefined,
  next: undefined,
  jobs: [],
  untold: false,
  ...more
})
const settle = (key: Key, more: Partial<Given>): Promise<DatabaseFunctions['settle_step']['answer']> =>
  call('settle_step', given(key, more))
const failed = (outcome: Given['outcome'], more: Partial<Given> = {}): Partial<Given> => ({ outcome, error: failure, ...more })
const uncertain = (more: Partial<Given> = {}): Partial<Given> => failed('uncertain', { look_after: 60, look_last: 3600, ...more })
const response = { id: 'remote-1', status: 'created' } as const
const [first, second] = ['simulator', 'other'].map((code) => ({ code, version: '1.0.1', configuredBy: 'company' as const }))
const list = [first!, second!]

await t.test('with another provider the step waits for it under the same lease, and its price stays held', async (t) => {
  for (const outcome of ['unavailable', 'rejected'] as const) {
    const key = await calling({ steps: [{ providers: list }] })
    t.equal(await settle(key, failed(outcome, { next: second! })), 'awaited')
    has(t, await steps(key), [{
      status: 'planned',
      provider_code: 'other',
      provider_version: '1.0.1',
      configured_by: 'company',
      providers: list,
      error: null,
      charged: 0,
      held: 3,
      tries: 0,
      generation: outcome === 'rejected' ? 1 : 0
    }])
    has(t, await attempts(key), [{ answered_at: moment, outcome, error: failure }])
    has(t, await dispatch(key), { status: 'running', run_id: key.run_id, finished_at: null })
    t.same([await credits(key.company_id), await jobsAdded()], [[10, 3], []])
  }
})

await t.test('beside the path of its dispatch it keeps the lease too', async (t) => {
  const key = await calling({ steps: [{ providers: list }] })
  await database.owner.updateTable('dispatches').set({ status: 'succeeded' }).where('dispatch_id', '=', key.dispatch_id).execute()
  t.equal(await settle(key, failed('unavailable', { next: second! })), 'awaited')
  has(t, await dispatch(key), { status: 'succeeded', run_id: key.run_id })
})

await t.test('a step in doubt has no other provider any more', async (t) => {
  const key = await calling({ steps: [{ providers: list }] })
  await settle(key, uncertain({ status: 'uncertain' }))
  has(t, await steps(key), [{ status: 'uncertain', provider_code: 'simulator', providers: null }])
})

await t.test('what was accepted is charged, with an entry in the ledger, and its dispatch ends', async (t) => {
  const key = await calling()
  t.equal(await settle(key, { response, status: 'succeeded', jobs: [job('next')] }), 'awaited', 'a client waits for the end')
  has(t, await steps(key), [{
    status: 'accepted',
    remote_id: 'remote-1',
    response,
    error: null,
    charged: 3,
    held: 0,
    tries: 0,
    generation: 0
  }])
  has(t, await attempts(key), [{ answered_at: moment, outcome: 'accepted', error: null }])
  has(t, await dispatch(key), {
    status: 'succeeded',
    detached: false,
    finished_at: moment,
    run_id: null,
    leased_until: null,
    next_try_at: null
  })
  t.same((await events(key)).at(-1), { kind: 'answered', step_id: key.step_id, actor: system, facts: { a: 1 }, at: moment })
  t.same([await credits(key.company_id), await jobsAdded()], [[7, 0], ['next']])
  const ledger = await database.owner.selectFrom('ledger').selectAll().where('step_id', '=', key.step_id).execute()
  has(t, ledger, [{ kind: 'debit', amount: '-3', balance: '7', dispatch_id: key.dispatch_id, at: moment }])
})

await t.test('what was rejected is not charged, and what comes after it is another generation', async (t) => {
  const key = await calling()
  await database.owner.updateTable('steps').set({ looks: 2, uncertain_at: moment }).where('step_id', '=', key.step_id).execute()
  await settle(key, failed('rejected', { status: 'failed' }))
  has(t, await steps(key), [
    {
      status: 'rejected',
      remote_id: null,
      error: failure,
      charged: 0,
      held: 0,
      generation: 1,
      looks: 0,
      uncertain_at: null,
      next_look_at: null
    }
  ])
  has(t, await attempts(key), [{ outcome: 'rejected', error: failure }])
  has(t, await dispatch(key), { status: 'failed', finished_at: moment })
  t.same(await credits(key.company_id), [10, 0])
})

await t.test('what is tried again keeps its price held: with its dispatch, or by itself', async (t) => {
  const path = await calling()
  await settle(path, failed('unavailable', { status: 'queued', try_after: 60.5, jobs: [job('again')] }))
  has(t, await steps(path), [{ status: 'unavailable', held: 3, tries: 1, next_try_at: null, generation: 0 }])
  has(t, await dispatch(path), { status: 'queued', next_try_at: later(60.5), finished_at: null, run_id: null, leased_until: null })
  t.same((await events(path)).at(-1)?.facts, { a: 1, nextTryAt: '2026-03-14T09:31:00.500Z' })
  t.same([await credits(path.company_id), await jobsAdded()], [[10, 3], ['again']])

  const beside = await calling()
  const ended = { status: 'succeeded', finished_at: later(-60) } as const
  await database.owner.updateTable('dispatches').set(ended).where('dispatch_id', '=', beside.dispatch_id).execute()
  await settle(beside, failed('unavailable', { try_after: 60 }))
  has(t, await steps(beside), [{ status: 'unavailable', held: 3, tries: 1, next_try_at: later(60) }])
  has(t, await dispatch(beside), { ...ended, next_try_at: null, run_id: null, leased_until: null })

  const last = await calling()
  await settle(last, failed('unavailable', { status: 'failed' }))
  has(t, await steps(last), [{ status: 'unavailable', held: 0, tries: 0, next_try_at: null }])
  t.same(await credits(last.company_id), [10, 0])
})

await t.test('a dispatch that is queued for its next step is due at once', async (t) => {
  const key = await calling()
  await settle(key, { status: 'queued' })
  has(t, await dispatch(key), { status: 'queued', next_try_at: moment })
})

await t.test('what is in doubt keeps its price held, and is looked at from the beginning of the doubt on', async (t) => {
  const key = await calling()
  await settle(key, uncertain({ status: 'uncertain' }))
  has(t, await steps(key), [{ status: 'uncertain', held: 3, charged: 0, uncertain_at: moment, next_look_at: later(60), looks: 0 }])
  has(t, await dispatch(key), { status: 'uncertain', finished_at: moment, run_id: null })

  const before = await calling()
  await database.owner.updateTable('steps').set({ uncertain_at: later(-30), looks: 4 }).where('step_id', '=', before.step_id).execute()
  await settle(before, uncertain({ status: 'uncertain' }))
  has(t, await steps(before), [{ uncertain_at: later(-30), next_look_at: later(30), looks: 4 }])
})

await t.test('the next look is a second from now at the earliest, and at the latest when the time for looks is over', async (t) => {
  const cases = [
    [{ look_after: 0, look_last: 3600 }, later(1)],
    [{ look_after: 7200, look_last: 3600 }, later(3570)],
    [{ look_after: 0, look_last: 30.5 }, later(0.5)],
    [{ look_after: 60, look_last: 30 }, null]
  ] as const
  for (const [look, next] of cases) {
    const key = await calling()
    await database.owner.updateTable('steps').set({ uncertain_at: later(-30) }).where('step_id', '=', key.step_id).execute()
    await settle(key, uncertain({ status: 'uncertain', ...look }))
    t.same((await steps(key))[0]?.next_look_at, next)
  }
})

await t.test('a run goes on under its lease with the next step of a dispatch that is running', async (t) => {
  const key = await calling({ steps: [{}, {}] })
  await settle(key, { status: 'running', detached: true })
  has(t, await dispatch(key), {
    status: 'running',
    detached: true,
    run_id: key.run_id,
    leased_until: later(15),
    finished_at: null,
    next_try_at: null
  })
  has(t, await steps(key), [{ charged: 3, held: 0 }, { status: 'planned', held: 3 }])
})

await t.test('where a dispatch ends, what was to follow is held for no longer; a deferred step keeps what it holds', async (t) => {
  const chain = { steps: [{ price: 1, held: 1 }, { price: 2, held: 2 }, { price: 4, held: 4, deferred_on: 'esign.completed' }] }
  for (const [status, held] of [['succeeded', 4], ['failed', 4], ['partial', 4], ['cancelled', 4], ['queued', 6], ['running',
    6]] as const)
  {
    const key = await calling(chain)
    await settle(key, failed('rejected', { status }))
    t.same(await credits(key.company_id), [10, held], status)
  }
  const key = await calling(chain)
  await settle(key, uncertain({ status: 'uncertain' }))
  t.same(await credits(key.company_id), [10, 7])
})

await t.test('it answers whether no client waits: neither the run that settles knows of one, nor the dispatch', async (t) => {
  for (const [before, detached] of [[false, false], [true, false], [false, true], [true, true]] as const) {
    const key = await calling()
    await database.owner.updateTable('dispatches').set({ detached: before }).where('dispatch_id', '=', key.dispatch_id).execute()
    t.equal(await settle(key, { status: 'succeeded', detached }), before || detached ? 'detached' : 'awaited')
    has(t, await dispatch(key), { detached: before || detached })
  }
})

await t.test('a run that has lost its lease, another company, and a step that is settled change nothing', async (t) => {
  const key = await calling()
  const none = async (name: string, wrong: Partial<Key>, more: Partial<Given> = {}): Promise<void> => {
    const before = await everything(key)
    t.equal(await settle({ ...key, ...wrong }, { status: 'succeeded', jobs: [job('never')], ...more }), null, name)
    t.equal(await everything(key), before, name)
  }
  await none('another run', { run_id: randomUUIDv7() })
  await none('another company', { company_id: stranger })
  await none('a step of another company', { step_id: (await calling()).step_id })
  await none('a step in another state', {}, { from_states: ['planned', 'uncertain'] })
  await settle(key, { status: 'running' })
  await none('a step that was accepted', {})
  t.same(await jobsAdded(), [])
})

await t.test('an acceptance corrects a rejection where it is told so', async (t) => {
  const key = await calling()
  await settle(key, failed('rejected', { status: 'running' }))
  t.equal(await settle(key, { response, status: 'succeeded' }), null)
  t.equal(await settle(key, { response, status: 'succeeded', from_states: ['rejected'], kind: 'corrected' }), 'awaited')
  has(t, await steps(key), [{ status: 'accepted', charged: 3, held: 0, generation: 1 }])
  t.same(await credits(key.company_id), [7, 0])
})

await t.test('each attempt keeps what came of it', async (t) => {
  const key = await calling()
  await settle(key, failed('unavailable', { status: 'running' }))
  await call('begin_attempt', { ...key, ...attempt })
  await settle(key, { response, status: 'succeeded' })
  has(t, await attempts(key), [{ outcome: 'unavailable', error: failure }, { outcome: 'accepted', error: null }])
})

await t.test('of several who settle a step one does', async (t) => {
  const key = await calling()
  const all = await Promise.all([settle(key, { status: 'succeeded' }), settle(key, { status: 'succeeded' }),
    settle(key, failed('rejected'))])
  t.equal(all.filter((answer) => answer !== null).length, 1)
  t.equal((await events(key)).filter(({ kind }) => kind === 'answered').length, 1)
})

await t.test('an end that nobody waits for is not recorded untold where the company has an endpoint that is enabled', async (t) => {
  const endpoint = async ({ company_id: companyId }: Key, enabled: boolean): Promise<void> => {
    await sql`insert into callback_endpoints (endpoint_id, company_id, name, url, enabled, secrets, created_at)
      values (gen_random_uuid(), ${companyId}, '', '', ${enabled}, '[]', now())`.execute(database.owner)
  }
  const detached = { status: 'succeeded', detached: true } as const
  const quiet = await calling()
  await endpoint(quiet, false)
  t.equal(await settle(quiet, { ...detached, untold: true }), 'detached', 'one that is disabled is told nothing')
  const answered = await calling()
  await endpoint(answered, true)
  t.equal(await settle(answered, { status: 'succeeded', untold: true }), 'awaited', 'its client has the answer')
  const key = await calling()
  await endpoint(key, true)
  t.equal(await settle(key, { ...detached, untold: true }), 'untold')
  has(t, await steps(key), [{ status: 'calling' }])
  t.equal(await settle(key, detached), 'detached', 'who tells them records it')
})
