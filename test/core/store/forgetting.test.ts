import { type RawBuilder, sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { idAt } from '../../../core/packages/database/id-times.ts'
import { dispatchRows } from '../../../core/packages/features/callbacks/store/dispatch-rows.ts'
import { forgetDispatches } from '../../../core/store/dispatch/forgetting.ts'
import { countDispatches } from '../../../core/store/dispatch/statistics.ts'
import { has } from '../../support/matching.ts'
import { attempt, document, type Key, later, moment, openFunctions, opening, system } from './functions/support.ts'

const { database, call, company, dispatch, credits } = await openFunctions(t)
const { owner } = database
const day = 24 * 3600

type Owner = Awaited<ReturnType<typeof company>>
type More = Parameters<typeof opening>[1]

/** A dispatch that is under way, whose id is of the moment. */
async function begun (of: Owner, more: More = {}): Promise<Key> {
  const given = { ...opening(of, more), dispatch_id: idAt(moment.getTime()) }
  await call('open_dispatch', given)
  const key = { company_id: given.company_id, dispatch_id: given.dispatch_id, step_id: given.steps[0]!.step_id, run_id: given.run_id ?? '' }
  await call('begin_attempt', { ...key, ...attempt })
  return key
}

/** One that was accepted at the moment. */
async function ended (of: Owner, more: More = {}): Promise<Key> {
  const key = await begun(of, more)
  await call('settle_step', {
    ...key,
    from_states: ['calling'],
    outcome: 'accepted',
    response: { id: 'remote', status: 'created' },
    error: null,
    kind: 'answered',
    actor: system,
    facts: {},
    status: 'succeeded',
    detached: false,
    try_after: undefined,
    look_after: undefined,
    look_last: undefined,
    next: undefined,
    jobs: [],
    untold: false
  })
  return key
}

/** Forgets what is older than so many seconds after the moment. */
const forget = (seconds = 1, limit = 1_000): Promise<number> =>
  forgetDispatches(database, { dispatchRows: [dispatchRows], before: later(seconds), hopeless: later(seconds - 366 * day), limit })

/** The tables that name the dispatch, its step or one of its documents anywhere. */
async function namedIn (...ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by relname`.execute(owner)
  const named: string[] = []
  for (const { name } of rows) {
    const found = await sql`select from ${sql.table(name)} as row where row::text like any (${ids.map((id) => `%${id}%`)}::text[]) limit 1`
      .execute(owner)
    if (found.rows.length > 0) named.push(name)
  }
  return named
}

async function endpointOf (companyId: number): Promise<string> {
  const id = randomUUIDv7()
  await sql`insert into callback_endpoints (endpoint_id, company_id, name, url, enabled, secrets, created_at)
    values (${id}, ${companyId}, '', '', true, '[]', ${moment})`.execute(owner)
  return id
}

type Reported = { state: 'pending' | 'delivered' }

/** A callback to the address of a dispatch, with an attempt. */
async function called (key: Key, { state }: Reported): Promise<void> {
  const id = randomUUIDv7()
  await sql`insert into outbox (callback_id, company_id, dispatch_id, type, sequence, url, receiver, body, state, next_at, created_at)
    values (${id}, ${key.company_id}, ${key.dispatch_id}, 'dispatch.succeeded', 1, '', '', '{}', ${state},
      case when ${state} = 'pending' then now() end, ${moment})`.execute(owner)
  await sql`insert into outbox_attempts (callback_id, number, company_id, to_endpoint, at)
    values (${id}, 1, ${key.company_id}, false, ${moment})`.execute(owner)
}

/** The same to an endpoint. */
async function calledEndpoint (key: Key, { state }: Reported): Promise<void> {
  const id = randomUUIDv7()
  await sql`insert into outbox (callback_id, company_id, endpoint_id, dispatch_id, type, sequence, receiver, body, state, next_at, created_at)
    values (${id}, ${key.company_id}, ${await endpointOf(key.company_id)}, ${key.dispatch_id}, 'dispatch.succeeded', 1, '', '{}', ${state},
      case when ${state} = 'pending' then now() end, ${moment})`.execute(owner)
  await sql`insert into outbox_attempts (callback_id, number, company_id, to_endpoint, at)
    values (${id}, 1, ${key.company_id}, true, ${moment})`.execute(owner)
}

await t.test('what is about a dispatch alone goes with it; the ledger keeps its id, the company its credits', async (t) => {
  const of = await company()
  const [documentId, key] = [randomUUIDv7(), 'key']
  const gone = await ended(of, {
    documents: [document(documentId)],
    steps: [{ document_id: documentId }],
    idempotency_key: key,
    fingerprint: 'f'
  })
  await owner.updateTable('documents').set({ removed_at: moment }).where('document_id', '=', documentId).execute()
  await called(gone, { state: 'delivered' })
  await calledEndpoint(gone, { state: 'delivered' })
  const stays = await begun(of)
  const before = await namedIn(stays.dispatch_id, stays.step_id)
  const ledger = await owner.selectFrom('ledger').selectAll().where('company_id', '=', of.companyId).orderBy('entry_id').execute()
  t.same(await namedIn(gone.dispatch_id, gone.step_id, documentId), ['attempts', 'callbacks', 'callbacks_to_endpoints', 'dispatch_metadata',
    'dispatches', 'documents', 'events', 'idempotency_keys', 'ledger', 'outbox', 'steps'])

  t.equal(await forget(), 1)
  t.same(await namedIn(gone.dispatch_id, gone.step_id, documentId), ['ledger'])
  t.same(await namedIn(stays.dispatch_id, stays.step_id), before)
  t.same(await owner.selectFrom('outbox_attempts').select('callback_id').where('company_id', '=', of.companyId).execute(), [])
  t.same(await owner.selectFrom('ledger').selectAll().where('company_id', '=', of.companyId).orderBy('entry_id').execute(), ledger)
  t.same(await credits(of.companyId), [7, 3])
})

await t.test('a dispatch is kept until its time, by its creation and by its end', async (t) => {
  const key = await ended(await company())
  t.equal(await forget(0), 0)
  await sql`update dispatches set finished_at = ${later(5)} where dispatch_id = ${key.dispatch_id}`.execute(owner)
  t.equal(await forget(5), 0)
  t.equal(await forget(6), 1)
})

await t.test('as long as something of a dispatch is unfinished it stays', async (t) => {
  const of = await company(100)
  const changes: Record<string, (key: Key) => RawBuilder<unknown>> = {
    'its status is uncertain': ({ dispatch_id: id }) => sql`update dispatches set status = 'uncertain' where dispatch_id = ${id}`,
    'it is queued': ({ dispatch_id: id }) => sql`update dispatches set status = 'queued' where dispatch_id = ${id}`,
    'a run has it': ({ dispatch_id: id, run_id: run }) =>
      sql`update dispatches set run_id = ${run}, leased_until = ${moment} where dispatch_id = ${id}`,
    'a step holds credits': ({ step_id: id }) => sql`update steps set held = 1 where step_id = ${id}`,
    'a step is being done': ({ step_id: id }) => sql`update steps set status = 'calling' where step_id = ${id}`,
    'a step is in doubt': ({ step_id: id }) => sql`update steps set status = 'uncertain' where step_id = ${id}`,
    'a step is tried again': ({ step_id: id }) => sql`update steps set next_try_at = ${moment} where step_id = ${id}`,
    'a step waits for its event': ({ step_id: id }) => sql`update steps set status = 'waiting', deferred_on = 'a.b' where step_id = ${id}`,
    'a signature may still come': ({ step_id: id }) => sql`update steps set service = 'esign' where step_id = ${id}`,
    'a vendor is asked to take it back': ({ step_id: id }) => sql`update steps set cancel_run = step_id where step_id = ${id}`
  }
  for (const [name, change] of Object.entries(changes)) {
    const key = await ended(of, { steps: [{ price: 0, held: 0 }] })
    const [asItWas] = await owner.selectFrom('steps').selectAll().where('step_id', '=', key.step_id).execute()
    await change(key).execute(owner)
    t.equal(await forget(), 0, name)
    const { status, held, next_try_at: next, deferred_on: on, service, cancel_run: run } = asItWas!
    await owner.updateTable('steps').set({ status, held, next_try_at: next, deferred_on: on, service, cancel_run: run })
      .where('step_id', '=', key.step_id).execute()
    await owner.updateTable('dispatches').set({ status: 'succeeded', run_id: null, leased_until: null })
      .where('dispatch_id', '=', key.dispatch_id).execute()
    t.equal(await forget(), 1, `${name}, and no more`)
  }
  const kept = await ended(of, { steps: [{ price: 0, held: 0 }], documents: [document(randomUUIDv7())] })
  t.equal(await forget(), 0, 'a document is stored')
  await owner.updateTable('documents').set({ removed_at: moment }).where('dispatch_id', '=', kept.dispatch_id).execute()
  for (const [kind, tell] of Object.entries({ 'to an address': called, 'to an endpoint': calledEndpoint })) {
    await tell(kept, { state: 'pending' })
    t.equal(await forget(), 0, `${kind}: one is pending`)
    await owner.updateTable('outbox').set({ state: 'failed', next_at: null }).where('dispatch_id', '=', kept.dispatch_id).execute()
  }
  t.equal(await forget(), 1)
})

await t.test('no event is waited for longer than a year', async (t) => {
  const waiting = await ended(await company())
  await owner.updateTable('steps').set({ status: 'waiting', deferred_on: 'esign.completed' }).where('step_id', '=', waiting.step_id)
    .execute()
  t.equal(await forget(366 * day), 0)
  t.equal(await forget(366 * day + 1), 1)
})

await t.test('those that were forgotten are still counted', async (t) => {
  const of = await company()
  const free = { steps: [{ price: 0, held: 0 }] }
  for (let count = 0; count < 3; count++) await ended(of, free)
  const test = await ended(of, free)
  await owner.updateTable('dispatches').set({ test: true, services: ['invoicing', 'email'] }).where('dispatch_id', '=', test.dispatch_id)
    .execute()
  await begun(of, free)
  const counted = (only: { test?: true } = {}) => countDispatches(database, of.companyId, { from: later(-3600), to: later(3600), ...only })
  const before = [await counted(), await counted({ test: true })]
  has(t, before[0], [{ service: 'email', count: 1 }, { service: 'invoicing', status: 'running', count: 1 }, {
    status: 'succeeded',
    count: 4
  }])
  t.equal(await forget(1, 1), 1)
  t.same([await counted(), await counted({ test: true })], before, 'one of them')
  t.equal(await forget(1, 2), 2)
  t.equal(await forget(), 1)
  t.same([await counted(), await counted({ test: true })], before, 'all of them')
  t.same(await countDispatches(database, (await company()).companyId, { from: later(-3600), to: later(3600) }), [], 'of this company alone')
  t.same(await countDispatches(database, of.companyId, { from: later(1800), to: later(3600) }), [], 'of these hours alone')
})

await t.test('the oldest are forgotten first, and one that is just changed by another batch', async (t) => {
  const of = await company()
  const keys = [await ended(of), await ended(of), await ended(of)]
  const [oldest = '', next = '', newest = ''] = keys.map((key) => key.dispatch_id).sort()
  await owner.transaction().execute(async (queries) => {
    await queries.selectFrom('dispatches').select('dispatch_id').where('dispatch_id', '=', oldest).forUpdate().execute()
    t.equal(await forget(1, 1), 1)
  })
  t.same(await Promise.all([oldest, next, newest].map(async (id) => await dispatch({ dispatch_id: id }) !== undefined)), [true, false,
    true])
  t.equal(await forget(), 2)
})

await t.test('a timeline goes with its dispatch and in no other way', async (t) => {
  await ended(await company())
  for (const setting of ['on', 'off']) {
    await t.rejects(owner.transaction().execute(async (queries) => {
      await sql.raw(`set local app.forgets = '${setting}'`).execute(queries)
      await sql.raw(setting === 'on' ? 'update events set at = now()' : 'delete from events').execute(queries)
    }), { message: 'events is append-only' })
  }
})
