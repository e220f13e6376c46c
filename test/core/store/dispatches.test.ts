import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { createCompanies } from '../../../core/packages/accounts/store/accounts.ts'
import { readCredits } from '../../../core/packages/credits/ledger.ts'
import { openDatabase } from '../../../core/packages/database/database.ts'
import { findDispatch, listEvents } from '../../../core/store/dispatch/dispatch-views.ts'
import { IdempotencyKeyTaken, type NewDispatch, openDispatch } from '../../../core/store/dispatch/dispatches.ts'
import { detachDispatch, holdStep, postponeReconciliation, resumeDispatch } from '../../../core/store/dispatch/runs.ts'
import { beginAttempt, type Settlement, settleStep } from '../../../core/store/dispatch/steps.ts'
import { has } from '../../support/matching.ts'
import { seededDatabase } from '../../support/service.ts'

const now = new Date('2026-03-14T09:30:00Z')
const database = openDatabase({ connectionString: await seededDatabase(t) }, {
  connections: 4,
  onError: (error) => t.fail(error.message),
  time: () => now
})
t.teardown(() => database.close())

let companies = 0
/** A company with 10 credits and one user. */
async function newCompany (): Promise<{ companyId: number, userId: number }> {
  const email = `user-${++companies}@example.com`
  const [companyId = 0] = await createCompanies(database, [{
    name: email,
    credits: 10,
    users: [{ email, role: 'member', services: [], passwordHash: '' }]
  }], now)
  const { user_id: userId } = await database.owner.selectFrom('users').select('user_id').where('email', '=', email)
    .executeTakeFirstOrThrow()
  return { companyId, userId }
}

type Opened = NewDispatch & { stepId: string, runId: string }

const leaseOf = (runId: string) => ({ lease: { runId, seconds: 15 } })

/** A recorded dispatch of one step, at a price of 3 credits. */
async function opened (more: Partial<NewDispatch> = {}): Promise<Opened> {
  const { companyId, userId } = await newCompany()
  const stepId = randomUUIDv7()
  const dispatch: NewDispatch = {
    dispatchId: randomUUIDv7(),
    companyId,
    actor: { kind: 'user', userId },
    requestId: 'request-1',
    services: ['invoicing'],
    metadata: { a: 'b' },
    steps: [{
      stepId,
      service: 'invoicing',
      by: { code: 'simulator', version: '1.0.0', chosenBy: 'company', configuredBy: 'company', sandbox: false },
      fields: { documentType: 'INVOICE' },
      requestSettings: {},
      template: { template: { id: 1, version: 1 }, data: { number: 'F-1' } },
      price: 3
    }],
    ...more
  }
  const runId = randomUUIDv7()
  await openDispatch(database, dispatch, leaseOf(runId))
  return { ...dispatch, stepId, runId }
}

const begin = ({ companyId, dispatchId, stepId, runId }: Opened): Promise<number> =>
  beginAttempt(database, { companyId, dispatchId, stepId, runId, provider: { code: 'simulator', version: '1.0.1' } })
const settle = (
  { companyId, dispatchId, stepId, runId }: Opened,
  settlement: Settlement,
  status: 'succeeded' | 'failed' | 'uncertain'
): Promise<Date> =>
  settleStep(database, { companyId, dispatchId, stepId, runId, actor: { kind: 'provider', code: 'simulator' } }, settlement, { status })
const resume = ({ companyId, dispatchId, actor, runId }: Opened): Promise<boolean> =>
  resumeDispatch(database, { companyId, dispatchId, actor, beginning: leaseOf(runId) })
const credits = async ({ companyId }: Opened): Promise<{ balance: number, held: number }> => {
  const { balance, held } = await readCredits(database, companyId, { limit: 1 })
  return { balance, held }
}
const accepted: Settlement = { outcome: 'accepted', response: { id: 'remote-1', status: 'created' } }
const failing = (outcome: 'rejected' | 'unavailable' | 'uncertain'): Settlement => ({
  outcome,
  error: { word: 'provider_error', message: outcome }
})
const conflict = { word: 'conflict' }

await t.test('a dispatch is recorded with its price held, then called, then settled', async (t) => {
  const dispatch = await opened()
  has(t, await findDispatch(database, dispatch.companyId, dispatch.dispatchId), {
    status: 'running',
    finished_at: null,
    steps: [{ status: 'planned', held: 3, charged: 0 }]
  })
  t.strictSame(await credits(dispatch), { balance: 10, held: 3 })
  t.equal(await begin(dispatch), 1)
  has(t, await findDispatch(database, dispatch.companyId, dispatch.dispatchId), {
    status: 'running',
    steps: [{ status: 'calling', provider_version: '1.0.1' }]
  })
  await settle(dispatch, accepted, 'succeeded')
  has(t, await findDispatch(database, dispatch.companyId, dispatch.dispatchId), {
    status: 'succeeded',
    finished_at: now,
    steps: [{ status: 'accepted', held: 0, charged: 3, remote_id: 'remote-1', error: null }]
  })
  t.strictSame(await credits(dispatch), { balance: 7, held: 0 })
})

await t.test('each outcome does with the hold what is due', async (t) => {
  const due = { rejected: { balance: 10, held: 0 }, unavailable: { balance: 10, held: 0 }, uncertain: { balance: 10, held: 3 } } as const
  for (const outcome of ['rejected', 'unavailable', 'uncertain'] as const) {
    const dispatch = await opened()
    await begin(dispatch)
    await settle(dispatch, failing(outcome), outcome === 'uncertain' ? 'uncertain' : 'failed')
    t.strictSame(await credits(dispatch), due[outcome], outcome)
  }
})

await t.test('of two runners one calls the provider', async (t) => {
  const dispatch = await opened()
  const both = await Promise.allSettled([begin(dispatch), begin(dispatch)])
  t.strictSame(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  has(t, both.find(({ status }) => status === 'rejected'), { reason: conflict })
  const attempts = await database.owner.selectFrom('attempts').select('number').where('step_id', '=', dispatch.stepId).execute()
  t.equal(attempts.length, 1)
})

await t.test('a step is settled once, and charged once, whoever tries', async (t) => {
  const dispatch = await opened()
  await begin(dispatch)
  const all = await Promise.allSettled([
    settle(dispatch, accepted, 'succeeded'),
    settle(dispatch, accepted, 'succeeded'),
    settle(dispatch, failing('rejected'), 'failed')
  ])
  t.equal(all.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const result of all) if (result.status === 'rejected') has(t, result.reason, conflict)
  const ledger = await database.owner.selectFrom('ledger').selectAll().where('step_id', '=', dispatch.stepId).execute()
  t.strictSame(await credits(dispatch), { balance: 10 - 3 * ledger.length, held: 0 })
  const events = await listEvents(database, dispatch.companyId, dispatch.dispatchId, { limit: 10 })
  t.equal(events.filter(({ kind }) => kind === 'answered').length, 1)
})

await t.test('only a dispatch that failed is taken up again, by one runner, with its price held anew', async (t) => {
  const uncertain = await opened()
  await begin(uncertain)
  await settle(uncertain, failing('uncertain'), 'uncertain')
  t.equal(await resume(uncertain), false, 'one in doubt')
  has(t, await begin(uncertain).catch((error: unknown) => error), conflict)
  const dispatch = await opened()
  t.equal(await resume(dispatch), false, 'one that runs')
  await begin(dispatch)
  await settle(dispatch, failing('unavailable'), 'failed')
  t.strictSame((await Promise.all([resume(dispatch), resume(dispatch)])).sort(), [false, true])
  t.strictSame(await credits(dispatch), { balance: 10, held: 3 })
  t.equal(await begin(dispatch), 2)
  await settle(dispatch, accepted, 'succeeded')
  t.strictSame(await credits(dispatch), { balance: 7, held: 0 })
  t.equal(await resume(dispatch), false, 'one that succeeded')
})

await t.test('what the credits do not cover is not recorded at all', async (t) => {
  const [dispatchId, stepId] = [randomUUIDv7(), randomUUIDv7()]
  const { steps: [step] } = await opened()
  await t.rejects(opened({ dispatchId, steps: [{ ...step!, stepId, price: 11 }] }), {
    word: 'insufficient_credits',
    message: 'The dispatch costs 11 credits; 10 of 10 are free, 0 are held by dispatches under way.'
  })
  t.strictSame(await database.owner.selectFrom('dispatches').select('dispatch_id').where('dispatch_id', '=', dispatchId).execute(), [])
  t.strictSame(await database.owner.selectFrom('steps').select('step_id').where('step_id', '=', stepId).execute(), [])
})

await t.test('an idempotency key is bound to one dispatch of its company', async (t) => {
  const first = await opened({ idempotency: { key: 'k', fingerprint: 'f' } })
  const again = { ...first, dispatchId: randomUUIDv7(), steps: first.steps.map((step) => ({ ...step, stepId: randomUUIDv7() })) }
  await t.rejects(openDispatch(database, again, leaseOf(randomUUIDv7())), IdempotencyKeyTaken)
  t.strictSame(await credits(first), { balance: 10, held: 3 }, 'nothing more is held')
  await t.resolves(opened({ idempotency: { key: 'k', fingerprint: 'f' } }), 'of another company')
})

await t.test('a deferred step that is looked at no more holds nothing, and takes nothing from the others', async (t) => {
  const [stepId, deferredId] = [randomUUIDv7(), randomUUIDv7()]
  const by = { code: 'simulator', version: '1.0.0', chosenBy: 'company', configuredBy: 'company', sandbox: false } as const
  const step = { service: 'upload', by, fields: {}, requestSettings: {}, price: 3 }
  const dispatch = await opened({ steps: [{ ...step, stepId }, { ...step, stepId: deferredId, price: 2, deferredOn: 'esign.completed' }] })
  const { companyId, dispatchId, runId } = dispatch
  await holdStep(database, { companyId, dispatchId, stepId: deferredId, price: 2 })
  await database.owner.updateTable('steps').set({ status: 'uncertain' }).where('dispatch_id', '=', dispatchId).execute()
  t.strictSame(await credits(dispatch), { balance: 10, held: 5 })
  const giveUp = async (given: string): Promise<void> => {
    await database.owner.updateTable('dispatches').set({ run_id: runId, leased_until: now }).where('dispatch_id', '=', dispatchId).execute()
    await postponeReconciliation(database, {
      companyId,
      dispatchId,
      stepId: given,
      runId,
      error: { word: 'outcome_unknown', message: 'Unknown.' },
      reconciliation: { after: 0, last: 0 }
    })
  }
  await giveUp(deferredId)
  t.strictSame(await credits(dispatch), { balance: 10, held: 3 })
  await giveUp(stepId)
  t.strictSame(await credits(dispatch), { balance: 10, held: 0 })
})

await t.test('a retry puts right no step that was done meanwhile, and takes up no dispatch whose data are gone', async (t) => {
  const dispatch = await opened()
  const { companyId, dispatchId, actor, stepId, runId } = dispatch
  await begin(dispatch)
  await settle(dispatch, failing('rejected'), 'failed')
  const retried = (): Promise<boolean> =>
    resumeDispatch(database, {
      companyId,
      dispatchId,
      actor,
      replacement: { stepId, fields: { documentType: 'QUOTE' }, requestSettings: {} },
      beginning: leaseOf(runId)
    })
  await database.owner.updateTable('steps').set({ status: 'accepted' }).where('step_id', '=', stepId).execute()
  has(t, await retried().catch((error: unknown) => error), conflict)
  has(t, await findDispatch(database, companyId, dispatchId), { status: 'failed', steps: [{ fields: { documentType: 'INVOICE' } }] })
  await database.owner.updateTable('steps').set({ status: 'rejected' }).where('step_id', '=', stepId).execute()
  await database.owner.updateTable('dispatches').set({ data: null }).where('dispatch_id', '=', dispatchId).execute()
  t.equal(await retried(), false)
})

await t.test('whoever no longer waits is told of the end once, in whichever order the two come', async (t) => {
  const ending = async ({ before, known = false }: { before: boolean, known?: boolean }): Promise<string[]> => {
    const dispatch = await opened()
    const { companyId, dispatchId, stepId, runId } = dispatch
    const reported: string[] = []
    const detach = (): Promise<void> =>
      detachDispatch(database, dispatch, { runId, tell: (_queries, status) => Promise.resolve(void reported.push(`late ${status}`)) })
    await begin(dispatch)
    if (before) await detach()
    const tell = (): Promise<void> => Promise.resolve(void reported.push('at the end'))
    await settleStep(database, { companyId, dispatchId, stepId, runId, actor: { kind: 'provider', code: 'simulator' } }, accepted, {
      status: 'succeeded',
      detached: known,
      tell,
      addressed: true
    })
    if (!before) await detach()
    return reported
  }
  t.strictSame(await ending({ before: true }), ['at the end'])
  t.strictSame(await ending({ before: false }), ['late succeeded'])
  t.strictSame(await ending({ before: false, known: true }), ['at the end'])
})
