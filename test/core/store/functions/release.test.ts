import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { has } from '../../../support/matching.ts'
import { type Key, later, moment, openFunctions, system } from './support.ts'

const { database, call, company, stranger, opened, jobsAdded, dispatch, steps, events, everything } = await openFunctions(t)

const waiting = { run_id: undefined, lease_seconds: undefined }

/** The queue's statement in these tests: a line for each job. */
const statement = 'insert into jobs_added select jsonb_array_elements_text($1::jsonb)'

/** A dispatch, or a step beside the path of one, that is tried again in an hour. */
async function putOff (of: 'dispatch' | 'step', owner?: Awaited<ReturnType<typeof company>>): Promise<Key> {
  const key = await opened(waiting, owner)
  await database.owner.updateTable('steps').set({ status: 'unavailable', tries: 3, ...(of === 'step' ? { next_try_at: later(3600) } : {}) })
    .where('step_id', '=', key.step_id).execute()
  if (of === 'dispatch') {
    await database.owner.updateTable('dispatches').set({ next_try_at: later(3600) }).where('dispatch_id', '=', key.dispatch_id).execute()
  }
  return key
}

const audit = {
  company_id: 0,
  user_id: 7,
  user_company_id: 1,
  impersonator_id: null,
  key_id: 'k',
  action: 'queue.released',
  object_kind: 'queue',
  object_id: 'all',
  facts: '{}',
  address: '192.0.2.1',
  request_id: 'r',
  at: later(-1)
}

/** Releases what waits; the steps of dispatches are those whose keys are marked. */
const release = (companyId: number, keys: readonly (Key & { beside?: true })[]): Promise<number> =>
  call('release_waiting', {
    company_id: companyId,
    waiting: keys.map(({ dispatch_id, step_id, beside }, nth) => ({
      dispatch_id,
      step_id: beside === true ? step_id : undefined,
      job: `job ${nth}`
    })),
    actor: system,
    audit,
    statement
  })

await t.test('what waits for another try is due at once, its tries begin anew, and each has its job and its entry', async (t) => {
  const owner = await company()
  const [first, step] = [await putOff('dispatch', owner), await putOff('step', owner)]
  t.equal(await release(owner.companyId, [first, { ...step, beside: true }, { ...step, beside: true }]), 2)
  has(t, await dispatch(first), { status: 'queued', next_try_at: moment })
  has(t, await steps(first), [{ status: 'unavailable', tries: 0, next_try_at: null }])
  has(t, await steps(step), [{ status: 'unavailable', tries: 0, next_try_at: moment }])
  t.same(await jobsAdded(), ['job 0', 'job 1'])
  const released = { kind: 'released' as const, actor: system, facts: {}, at: moment }
  t.same((await events(first)).at(-1), { ...released, step_id: null })
  t.same((await events(step)).at(-1), { ...released, step_id: step.step_id })
  const entries = await database.owner.selectFrom('audit').selectAll().where('company_id', '=', owner.companyId).execute()
  has(t, entries, [{ ...audit, company_id: owner.companyId, facts: { dispatches: 2 } }])
})

await t.test('what does not wait any more is left out, and so is what somebody is at', async (t) => {
  const owner = await company()
  const { companyId } = owner
  const [due, leased, running, locked, far] = [
    await opened(waiting, owner),
    await putOff('dispatch', owner),
    await opened({ steps: [{ price: 0, held: 0 }] }, owner),
    { ...await putOff('step', owner), beside: true as const },
    await putOff('dispatch')
  ]
  await database.owner.updateTable('dispatches').set({ run_id: randomUUIDv7(), leased_until: later(5) }).where('dispatch_id', '=',
    leased.dispatch_id).execute()
  const all = [due, leased, running, locked, far]
  const before = await Promise.all(all.map(everything))
  await database.company(companyId, async (queries) => {
    await queries.selectFrom('dispatches').select('dispatch_id').where('dispatch_id', '=', locked.dispatch_id).forUpdate().execute()
    t.equal(await release(companyId, all), 0)
  })
  t.same(await Promise.all(all.map(everything)), before)
  t.equal(await release(companyId, all), 1, 'once it is free')
  t.same(await jobsAdded(), ['job 3'])
})

await t.test('nothing of another company is released', async (t) => {
  const key = await putOff('dispatch')
  const before = await everything(key)
  t.equal(await release(stranger, [key, { ...key, beside: true }]), 0)
  t.equal(await everything(key), before)
})
