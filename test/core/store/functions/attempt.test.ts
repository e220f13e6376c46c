import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { stepStatuses } from '../../../../core/packages/contract/states.ts'
import { beginLineage, readLineage } from '../../../../core/packages/database/lineage.ts'
import { has } from '../../../support/matching.ts'
import { attempt, document, failure, later, local, moment, openFunctions, system } from './support.ts'

const { database, call, opened, calling, steps, attempts, events, everything } = await openFunctions(t)

await t.test('an attempt is numbered, and its step is being done by this version of its provider', async (t) => {
  const key = await opened()
  await database.owner.updateTable('steps').set({
    status: 'uncertain',
    error: JSON.stringify(failure),
    next_look_at: later(9),
    next_try_at: later(9)
  }).where('step_id', '=', key.step_id).execute()
  const calls = [{ kind: 'calling' as const, facts: { providerName: 'simulator' } }]
  t.equal(await call('begin_attempt', { ...key, ...attempt, events: calls }), 1)
  has(t, await steps(key), [{ status: 'calling', provider_version: '1.0.1', error: null, next_look_at: null, next_try_at: null, held: 3 }])
  has(t, await attempts(key), [{ number: 1, company_id: key.company_id, provider_version: '1.0.1', started_at: moment, answered_at: null }])
  const [planned, ...called] = await events(key)
  t.equal(planned?.kind, 'planned')
  t.same(called, [{ kind: 'calling', step_id: key.step_id, actor: system, facts: { providerName: 'simulator' }, at: moment }])
  await database.owner.updateTable('steps').set({ status: 'unavailable' }).where('step_id', '=', key.step_id).execute()
  t.equal(await call('begin_attempt', { ...key, ...attempt, provider_version: '1.0.2' }), 2)
  t.equal((await attempts(key))[1]?.provider_version, '1.0.2')
})

await t.test('what is done here is no attempt', async (t) => {
  const key = await opened({ steps: [local] })
  t.equal(await call('begin_attempt', { ...key, ...attempt, provider_version: undefined }), 0)
  has(t, await steps(key), [{ status: 'calling', provider_version: null }])
  t.same(await attempts(key), [])
})

await t.test('what was made for a step is recorded with its attempt, and stays with the next one', async (t) => {
  const key = await opened()
  const [own, picture] = [document(randomUUIDv7()), document(randomUUIDv7(), 'logo.png')]
  await call('begin_attempt', { ...key, ...attempt, document_id: own.document_id, documents: [own, picture], made: { html: 'a' } })
  const stored = await database.owner.selectFrom('documents').select('filename').where('dispatch_id', '=', key.dispatch_id).execute()
  t.same(stored.map(({ filename }) => filename).sort(), ['a.pdf', 'logo.png'])
  await database.owner.updateTable('steps').set({ status: 'unavailable' }).where('step_id', '=', key.step_id).execute()
  await call('begin_attempt', { ...key, ...attempt })
  has(t, await steps(key), [{ document_id: own.document_id, made: { html: 'a' } }])
})

await t.test('only a step that waits to be done is begun, and only by the run that has its dispatch', async (t) => {
  for (const status of stepStatuses) {
    const key = await opened()
    await database.owner.updateTable('steps').set({ status }).where('step_id', '=', key.step_id).execute()
    const before = await everything(key)
    const begun = await call('begin_attempt', { ...key, ...attempt, documents: [document(randomUUIDv7())] })
    if (['planned', 'unavailable', 'uncertain'].includes(status)) t.equal(begun, 1, status)
    else t.same([begun, await everything(key)], [null, before], status)
  }
  const [key, other] = [await opened(), await opened()]
  const before = await everything(key)
  t.equal(await call('begin_attempt', { ...key, ...attempt, run_id: randomUUIDv7() }), null, 'another run')
  t.equal(await call('begin_attempt', { ...key, ...attempt, company_id: other.company_id }), null, 'another company')
  t.equal(await call('begin_attempt', { ...key, ...attempt, step_id: other.step_id }), null, 'a step of another company')
  await database.owner.updateTable('dispatches').set({ run_id: null, leased_until: null }).where('dispatch_id', '=', key.dispatch_id)
    .execute()
  t.equal(await call('begin_attempt', { ...key, ...attempt }), null, 'no run')
  await database.owner.updateTable('dispatches').set({ run_id: key.run_id, leased_until: later(15) }).where('dispatch_id', '=',
    key.dispatch_id)
    .execute()
  t.equal(await everything(key), before, 'nothing has changed')
})

await t.test('of two runners one begins', async (t) => {
  const key = await opened()
  const both = await Promise.all([call('begin_attempt', { ...key, ...attempt }), call('begin_attempt', { ...key, ...attempt })])
  t.same(both.sort(), [1, null])
  t.equal((await attempts(key)).length, 1)
  t.equal(await call('begin_attempt', { ...await calling(), ...attempt }), null)
})

await t.test('a database that is behind what the process has seen begins nothing', async (t) => {
  const key = await opened()
  const { lineage, epoch } = await readLineage(database)
  const before = await everything(key)
  const behind = { reason: 'restored', code: 'DC503' }
  await t.rejects(call('begin_attempt', { ...key, ...attempt, known: { lineage, epoch: epoch + 1 } }), behind)
  await t.rejects(call('begin_attempt', { ...key, ...attempt, known: { lineage: randomUUIDv7(), epoch: 0 } }), behind, 'another one')
  const lease = { company_id: key.company_id, dispatch_id: key.dispatch_id, run_id: randomUUIDv7(), lease_seconds: 15, ended: key.run_id }
  await t.rejects(call('acquire_lease', { ...lease, from_states: ['running'], known: { lineage, epoch: epoch + 1 } }), behind)
  t.equal(await everything(key), before, 'nothing has changed')
  t.equal(await call('begin_attempt', { ...key, ...attempt, known: { lineage, epoch } }), 1)

  const other = await opened()
  await beginLineage(database, { lineage })
  await t.rejects(call('begin_attempt', { ...other, ...attempt }), behind, 'what it may have done is not marked yet')
})
