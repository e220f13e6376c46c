import { sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import type { DispatchStatus } from '../../../../core/packages/contract/states.ts'
import { callFunctionWithin } from '../../../../core/store/calls/database-functions.ts'
import { takeQueued } from '../../../../core/store/dispatch/runs.ts'
import { has } from '../../../support/matching.ts'
import { job, type Key, later, moment, openFunctions } from './support.ts'

const { database, call, stranger, opened, calling, dispatch, everything, jobsAdded } = await openFunctions(t)

/** A dispatch that waits for its job. */
const queued = (): Promise<Key> => opened({ run_id: undefined, lease_seconds: undefined })

const leaseOf = (key: Key, more: { ended?: string, from_states?: readonly DispatchStatus[] } = {}) => ({
  ...key,
  run_id: randomUUIDv7(),
  lease_seconds: 20,
  from_states: ['queued'] as const,
  ended: undefined,
  ...more
})

async function change (key: Key, values: { status?: DispatchStatus, finished_at?: Date | null, next_try_at?: null }): Promise<void> {
  await database.owner.updateTable('dispatches').set(values).where('dispatch_id', '=', key.dispatch_id).execute()
}

await t.test('a free lease is taken, and the dispatch stays what it is', async (t) => {
  const key = await queued()
  const lease = leaseOf(key)
  t.equal(await call('acquire_lease', lease), true)
  has(t, await dispatch(key), { status: 'queued', run_id: lease.run_id, leased_until: later(20), next_try_at: moment, finished_at: null })
  const ended = await queued()
  await change(ended, { status: 'failed', finished_at: later(-5), next_try_at: null })
  t.equal(await call('acquire_lease', leaseOf(ended, { from_states: ['succeeded', 'failed'] })), true)
  has(t, await dispatch(ended), { status: 'failed', finished_at: later(-5) })
})

/** What takes a queued dispatch, for a run of its own. */
const wantedOf = ({ company_id: companyId, dispatch_id: dispatchId }: Key) => ({
  companyId,
  dispatchId,
  lease: { runId: randomUUIDv7(), seconds: 20 }
})

await t.test('queued dispatches of several companies are taken together, and are running then', async (t) => {
  const keys = [await queued(), await queued(), await queued()]
  t.equal(new Set(keys.map((key) => key.company_id)).size, 3)
  const [first] = keys as [Key]
  await change(first, { finished_at: later(-5) })
  const desired = keys.map(wantedOf)
  const taken = await takeQueued(database, desired)
  for (const { companyId, dispatchId, lease } of desired) {
    const record = taken.find(({ dispatch_id: id }) => id === dispatchId)
    t.equal(record?.steps.length, 1)
    has(t, record, {
      company_id: companyId,
      status: 'running',
      run_id: lease.runId,
      leased_until: later(20),
      next_try_at: null,
      finished_at: null,
      detached: true
    })
  }
  has(t, await dispatch(first), { status: 'running', run_id: desired[0]?.lease.runId })
})

await t.test('what a run has, what is not queued, what is another company\'s and what is locked is not taken', async (t) => {
  const [free, leased, ended, locked] = [await queued(), await queued(), await queued(), await queued()]
  await call('acquire_lease', leaseOf(leased))
  await change(ended, { status: 'failed', next_try_at: null })
  const others = [leased, ended, { ...locked, company_id: stranger }, locked]
  const before = await Promise.all([leased, ended, locked].map(everything))
  const taken = await database.owner.transaction().execute(async (queries) => {
    await queries.selectFrom('dispatches').select('dispatch_id').where('dispatch_id', '=', locked.dispatch_id).forUpdate().execute()
    return takeQueued(database, [free, ...others].map(wantedOf))
  })
  t.same(taken.map(({ dispatch_id: id }) => id), [free.dispatch_id])
  t.same(await Promise.all([leased, ended, locked].map(everything)), before)
})

await t.test('a dispatch that is wanted twice is taken once', async (t) => {
  const key = await queued()
  const [one, two] = [wantedOf(key), wantedOf(key)]
  t.equal((await takeQueued(database, [one, two])).length, 1)
  const again = await queued()
  const taken = await Promise.all([takeQueued(database, [wantedOf(again)]), takeQueued(database, [wantedOf(again)])])
  t.equal(taken.flat().length, 1)
})

await t.test('no lease is taken that a run has, in another state, or of another company', async (t) => {
  const key = await queued()
  const before = await everything(key)
  t.equal(await call('acquire_lease', leaseOf(key, { from_states: ['running'] })), false)
  t.equal(await call('acquire_lease', leaseOf({ ...key, company_id: stranger })), false)
  t.equal(await everything(key), before)
  const first = leaseOf(key)
  await call('acquire_lease', first)
  t.equal(await call('acquire_lease', leaseOf(key)), false)
  t.equal(await call('acquire_lease', leaseOf(key, { ended: randomUUIDv7() })), false)
  has(t, await dispatch(key), { run_id: first.run_id })
  t.equal(await call('acquire_lease', leaseOf(key, { ended: first.run_id })), true, 'the run is known to have ended')
})

await t.test('of two who want a lease one gets it', async (t) => {
  const key = await queued()
  t.same((await Promise.all([call('acquire_lease', leaseOf(key)), call('acquire_lease', leaseOf(key))])).sort(), [false, true])
})

await t.test('the taking of a lease does not wait for the disk; what is done under it does', async (t) => {
  const key = await queued()
  const setting = sql<{ setting: string }>`select current_setting('synchronous_commit') as setting`
  const within = await database.company(key.company_id, async (queries) => {
    await callFunctionWithin(queries, 'acquire_lease', leaseOf(key), database.now)
    return (await setting.execute(queries)).rows
  })
  const together = await database.owner.transaction().execute(async (queries) => {
    await takeQueued({ ...database, now: database.now, owner: queries }, [wantedOf(await queued())])
    return (await setting.execute(queries)).rows
  })
  const after = await database.company(key.company_id, async (queries) => (await setting.execute(queries)).rows)
  t.same([within, together, after], [[{ setting: 'off' }], [{ setting: 'off' }], [{ setting: 'on' }]])
})

await t.test('a lease is given back where nothing is under way, by the run that has it', async (t) => {
  const key = await queued()
  const { run_id: runId } = leaseOf(key)
  await call('acquire_lease', { ...leaseOf(key), run_id: runId })
  const taken = await everything(key)
  t.equal(await call('release_lease', { ...key, run_id: randomUUIDv7() }), false, 'another run')
  t.equal(await call('release_lease', { ...key, run_id: runId, company_id: stranger }), false, 'another company')
  t.equal(await everything(key), taken)
  t.equal(await call('release_lease', { ...key, run_id: runId }), true)
  has(t, await dispatch(key), { status: 'queued', run_id: null, leased_until: null, next_try_at: moment })

  const running = await opened()
  t.equal(await call('release_lease', running), false, 'it is running')
  const called = await calling()
  await change(called, { status: 'succeeded' })
  t.equal(await call('release_lease', called), false, 'a step is being called')
  has(t, await dispatch(called), { run_id: called.run_id, leased_until: later(15) })

  await t.test('a dispatch that its run has left waits for its job, without a lease', async (t) => {
    const key = await opened()
    const left = { ...key, seconds: 7, jobs: [job('left')] }
    const before = await everything(key)
    t.equal(await call('leave_dispatch', { ...left, run_id: randomUUIDv7() }), false, 'another run')
    t.equal(await call('leave_dispatch', { ...left, company_id: stranger }), false, 'another company')
    t.equal(await everything(key), before)
    t.equal(await call('leave_dispatch', left), true)
    has(t, await dispatch(key), { status: 'queued', run_id: null, leased_until: null, next_try_at: later(7) })
    t.same(await jobsAdded(), ['left'])
  })
})
