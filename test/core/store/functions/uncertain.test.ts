import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { has } from '../../../support/matching.ts'
import { attempt, failure, job, type Key, later, local, moment, openFunctions, system } from './support.ts'

const { database, call, stranger, opened, calling, jobsAdded, dispatch, steps, attempts, events, credits, everything } =
  await openFunctions(
    t
  )

const postpone = (key: Key, look: { look_after: number, look_last: number } = { look_after: 60, look_last: 3600 }): Promise<boolean> =>
  call('postpone_reconciliation', { ...key, error: failure, ...look })

/** A dispatch whose first step is in doubt since 30 seconds, under the lease of a run. */
async function uncertain (more: Parameters<typeof calling>[0] = {}): Promise<Key> {
  const key = await calling(more)
  await database.owner.updateTable('steps').set({ status: 'uncertain', uncertain_at: later(-30) }).where('step_id', '=', key.step_id)
    .execute()
  return key
}

await t.test('a look that learnt nothing ends its run, and the next one follows', async (t) => {
  const key = await uncertain()
  t.equal(await postpone(key), true)
  has(t, await dispatch(key), { status: 'running', run_id: null, leased_until: null })
  has(t, await steps(key), [{ status: 'uncertain', looks: 1, error: failure, next_look_at: later(30), uncertain_at: later(-30), held: 3 }])
  has(t, await attempts(key), [{ answered_at: moment, outcome: 'uncertain', error: null }])
})

await t.test('a call that was repeated and not answered is in doubt again, with the error that it had', async (t) => {
  const key = await calling()
  const other = { word: 'outcome_unknown', message: 'Unknown.' }
  await database.owner.updateTable('steps').set({ error: JSON.stringify(other) }).where('step_id', '=', key.step_id).execute()
  t.equal(await postpone(key), true)
  has(t, await steps(key), [{ status: 'uncertain', looks: 1, error: other, next_look_at: later(60), uncertain_at: null }])
})

await t.test('once the time for looks is over, nothing is held for a step and what would follow it', async (t) => {
  const chain = { steps: [{ price: 1, held: 1 }, { price: 2, held: 2 }, { price: 4, held: 4, deferred_on: 'esign.completed' }] }
  const over = { look_after: 60, look_last: 30 }
  const key = await uncertain(chain)
  t.equal(await postpone(key, over), true)
  has(t, await steps(key), [{ status: 'uncertain', held: 0, next_look_at: null, looks: 1 }, { held: 0 }, { held: 4 }])
  t.same(await credits(key.company_id), [10, 4])

  const before = await opened(chain)
  const deferred = { ...before, step_id: (await steps(before))[2]!.step_id }
  await database.owner.updateTable('steps').set({ status: 'uncertain', uncertain_at: later(-30) }).where('step_id', '=', deferred.step_id)
    .execute()
  t.equal(await postpone(deferred, over), true)
  has(t, await steps(before), [{ held: 1 }, { held: 2 }, { held: 0, next_look_at: null }])
})

await t.test('a run that has lost its lease, and another company, postpone nothing', async (t) => {
  const key = await uncertain()
  const before = await everything(key)
  t.equal(await postpone({ ...key, run_id: randomUUIDv7() }), false)
  t.equal(await postpone({ ...key, company_id: stranger }), false)
  t.equal(await everything(key), before)
})

await t.test('where the step was settled meanwhile, the run ends and that is all', async (t) => {
  const key = await uncertain()
  await database.owner.updateTable('steps').set({ status: 'accepted' }).where('step_id', '=', key.step_id).execute()
  t.equal(await postpone(key, { look_after: 60, look_last: 30 }), false)
  has(t, await dispatch(key), { run_id: null })
  has(t, await steps(key), [{ status: 'accepted', looks: 0, held: 3 }])
})

const recover = (key: Pick<Key, 'company_id' | 'dispatch_id'>) =>
  call('recover_dispatch', { ...key, error: failure, look_after: 10, jobs: [job('goes on')] })

/** Ends the lease of a dispatch so many seconds ago. */
async function lost (key: Key, more: { status?: 'succeeded' } = {}, seconds = 5): Promise<Key> {
  await database.owner.updateTable('dispatches').set({ leased_until: later(-seconds), ...more }).where('dispatch_id', '=', key.dispatch_id)
    .execute()
  return key
}

await t.test('a lost dispatch whose provider was being called is in doubt since its lease ended', async (t) => {
  const providers = ['simulator', 'other'].map((code) => ({ code, version: '1.0.0', configuredBy: 'user' as const }))
  const key = await lost(await calling({ steps: [{ providers }, { providers }] }))
  t.equal(await recover(key), 'uncertain')
  has(t, await dispatch(key), {
    status: 'uncertain',
    detached: true,
    finished_at: moment,
    run_id: null,
    leased_until: null,
    next_try_at: null
  })
  has(t, await steps(key), [
    { status: 'uncertain', error: failure, uncertain_at: later(-5), next_look_at: later(10), held: 3, providers: null },
    { status: 'planned', held: 3, providers }
  ])
  has(t, await attempts(key), [{ answered_at: later(-5), outcome: 'uncertain', error: failure }])
  t.same((await events(key)).at(-1), { kind: 'recovered', step_id: null, actor: system, facts: { status: 'uncertain' }, at: moment })
  t.same([await jobsAdded(), await credits(key.company_id)], [[], [10, 6]])
})

await t.test('a doubt that had begun before goes on', async (t) => {
  const key = await lost(await calling())
  await database.owner.updateTable('steps').set({ uncertain_at: later(-500) }).where('step_id', '=', key.step_id).execute()
  await recover(key)
  has(t, await steps(key), [{ status: 'uncertain', uncertain_at: later(-500) }])
})

await t.test('a lost dispatch of which nothing was called is queued again; what was being done here is done again', async (t) => {
  for (const begun of [false, true]) {
    const key = await lost(await opened({ steps: [begun ? local : {}] }))
    if (begun) await call('begin_attempt', { ...key, ...attempt, provider_version: undefined })
    t.equal(await recover(key), 'queued')
    has(t, await dispatch(key), {
      status: 'queued',
      detached: true,
      finished_at: null,
      next_try_at: moment,
      run_id: null,
      leased_until: null
    })
    has(t, await steps(key), [{ status: 'planned', uncertain_at: null, next_look_at: null }])
    t.same((await events(key)).at(-1)?.facts, { status: 'queued' })
    t.same(await jobsAdded(), ['goes on'])
  }
})

await t.test('a step beside the path is in doubt by itself: its dispatch stays what it was, or goes on', async (t) => {
  const deferred = { steps: [{ deferred_on: 'esign.completed' }] }
  const ended = await lost(await calling(deferred), { status: 'succeeded' })
  t.equal(await recover(ended), 'unchanged')
  has(t, await dispatch(ended), { status: 'succeeded', detached: false, finished_at: null, run_id: null, leased_until: null })
  has(t, await steps(ended), [{ status: 'uncertain', next_look_at: later(10) }])
  t.same((await events(ended)).at(-1)?.facts, { status: 'succeeded' })
  t.same(await jobsAdded(), [])
  t.equal(await recover(await lost(await calling(deferred))), 'queued')

  const rest = await lost(await calling())
  const { step_id: of } = await opened()
  await database.owner.updateTable('steps').set({ rest_of: of }).where('step_id', '=', rest.step_id).execute()
  t.equal(await recover(rest), 'queued')
})

await t.test('a lease that holds, or that nobody has, is not taken away; nor is that of another company', async (t) => {
  const none = async (key: Key): Promise<void> => {
    const before = await everything(key)
    t.equal(await recover(key), null)
    t.equal(await everything(key), before)
  }
  await none(await calling())
  await none(await lost(await calling(), {}, 0))
  const free = await calling()
  await database.owner.updateTable('dispatches').set({ run_id: null, leased_until: null }).where('dispatch_id', '=', free.dispatch_id)
    .execute()
  await none(free)
  await none({ ...await lost(await calling()), company_id: stranger })
})
