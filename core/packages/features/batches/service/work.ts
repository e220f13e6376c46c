import { type Accounts, type Actor, recordedActor } from '@dispatch/accounts'
import type { JsonObject, Log } from '@dispatch/common'
import { type CallbackType, DispatchError } from '@dispatch/contract'
import { ApprovalRequired, type ApprovalRuleRef, type Outbox, type Pipeline, type PipelineJobs } from '@dispatch/core'
import type { CompanyQueries, Database } from '@dispatch/database'
import { runEvery } from '@dispatch/queue'
import pLimit from 'p-limit'
import { forgetBatches, letGo } from '../store/batches.ts'
import { listRowsToApprove, totalsOf } from '../store/row-facts.ts'
import { advanceBatch, advanceBatchIn, changeRows, claimBatch, countElsewhere, dispatchOf, freeCredits, listNotBegun, listUnderWay,
  nextRows, openRows, type OpenWork, type Progress, releaseBatch, type RowChange, type Work } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import { bodyOf } from './body.ts'
import { factsOf, problemOf } from './row.ts'
import { batchToApprove, hasStopped, viewOf } from './view.ts'

type Needs = {
  accounts: Accounts
  config: { concurrency: number, retentionDays: number }
  database: Database
  jobs: Pick<PipelineJobs, 'batched'>
  log: Log
  newId: () => string
  outbox: Outbox
  pipeline: Pick<Pipeline, 'checkRow' | 'dispatch' | 'retry' | 'cancel' | 'askForBatch'>
}

/** Seconds for which a process has a batch to itself. */
const claimLasts = 15
/** The most rows that are checked in one turn, dispatches that are cancelled in one, and of any turn what is worked on at once. */
const [checkedTogether, cancelledTogether, atOnce] = [256, 200, 4]
/** Milliseconds in which a turn begins to check rows: short enough that its claim lasts, and that a cancellation is soon heeded. */
const checkFor = 1_000
/** Milliseconds between two looks for a batch where there is none, and for which one rests that waits for its dispatches. */
const [idle, shortest, longest] = [1_000, 20, 500]
/** Seconds for which a batch rests where something was not ready or nothing of it goes on, and how often a row is tried so. */
const [holdFor, maxTries] = [5, 100]
/** Seconds after which a queued dispatch counts as kept waiting by its vendor, and the most of those in a batch. */
const [keptAfter, maxKept] = [30, 1_000]
/** Milliseconds between two looks for batches to forget. */
const forgetEvery = 3_600_000

/**
 * The batch of which a row is handed over. `common`: what its rows have in common. `unapproved`: takes the row where somebody else has to
 * approve it, with the rules that want it.
 */
type Handing = { batch: BatchRow, actor: Actor, common: string | null, unapproved: Map<number, readonly ApprovalRuleRef[]> }

/** What came of a turn: something was done, nothing could be, or nothing can be for a while. */
type Turn = 'done' | 'nothing' | 'held'

/** What passes: the row is tried again. */
const passing: ReadonlySet<string> = new Set(['timeout', 'provider_unavailable', 'service_unavailable', 'recording_unknown',
  'idempotency_in_progress', 'rate_limited', 'internal_error'])

/** The word of an error of a row. */
const wordOf = (error: unknown): string => error instanceof DispatchError ? error.word : 'internal_error'

/**
 * Checks and sends the rows of batches, a few at a time: so many of a company are in the queue as leave a quarter of the places of this
 * process to what the company asks for by itself. A row is handed to the queue under an idempotency key of its own: whenever a process
 * ends, another one goes on, and sends nothing again.
 */
export function workOnBatches ({ accounts, config, database, jobs, log, newId, outbox, pipeline }: Needs): AsyncDisposable {
  const window = Math.max(1, Math.floor(config.concurrency * 3 / 4))
  const limited = pLimit(atOnce)
  const ref = ({ company_id: companyId, batch_id: batchId }: BatchRow) => ({ companyId, batchId })

  /** Lets the batch go on, and tells of it. */
  async function advance (batch: BatchRow, progress: Progress, type?: CallbackType): Promise<BatchRow | undefined> {
    return advanceBatch(database, ref(batch), progress, async (queries, advanced) => {
      if (type === undefined) return
      const url = advanced.callback_url
      const data: JsonObject = viewOf(advanced)
      await outbox.tell(queries, advanced.company_id, { type, data, ...url === null ? {} : { url } })
    })
  }

  const problem = (word: string, message: string): string => JSON.stringify({ error: word, message })

  const pause = (batch: BatchRow, word: string, message: string): Promise<BatchRow | undefined> =>
    advance(batch, { from: ['checking', 'queued', 'running'], status: 'paused', problem: problem(word, message) })

  /** Who has sent the batch, with what they may still do. Undefined where they may not send any more: then it has paused. */
  async function senderOf (batch: BatchRow): Promise<Actor | undefined> {
    const { company_id: companyId, user_id: userId, impersonator_id: impersonatorId, key, permitted } = batch
    const actor = await recordedActor({ accounts, database }, { companyId, userId, impersonatorId, key, permitted })
    if (actor === undefined) {
      await pause(batch, 'forbidden', 'The user or the API key that has sent the batch may not send any more: enable them, and resume it.')
    }
    return actor
  }

  /** What of a batch counts for the approval of one of its rows. */
  const rowOf = ({ batch_id: batchId, total: rows, credits, checked_at: checkedAt }: BatchRow) => ({
    batchId,
    rows,
    credits: Number(credits),
    checkedAt
  })

  function commandOf (batch: BatchRow, actor: Actor, common: string | null, { body }: OpenWork) {
    return {
      actor,
      services: batch.services,
      body: bodyOf(common, body ?? '{}'),
      requestId: batch.request_id,
      mode: 'asynchronous' as const,
      ...batch.sandbox ? { sandbox: true as const } : {},
      ...batch.strict ? { strict: true as const } : {},
      version: batch.api_version,
      approval: rowOf(batch)
    }
  }

  const each = <Row, Made>(rows: readonly Row[], work: (row: Row) => Promise<Made>): Promise<Made[]> =>
    Promise.all(rows.map((row) => limited(() => work(row))))

  /** What becomes of a row that failed: it is tried again where that passes. */
  function failedRow (batch: BatchRow, { number, tries }: OpenWork, error: unknown, from: 'unchecked' | 'handing'): RowChange {
    const refused = error instanceof DispatchError ? error : new DispatchError('internal_error', 'A fault of the service itself.')
    if (!(error instanceof DispatchError)) log.warn({ err: error, ...ref(batch), row: number }, 'a row of a batch failed')
    const again = from === 'unchecked' ? 'unchecked' : 'waiting'
    return passing.has(refused.word) && tries < maxTries
      ? { number, from, to: again }
      : { number, from, to: 'refused', problem: JSON.stringify(problemOf(refused)) }
  }

  async function check (batch: BatchRow): Promise<Turn> {
    const actor = await senderOf(batch)
    if (actor === undefined) return 'done'
    const rows = await nextRows(database, ref(batch), 'unchecked', checkedTogether)
    if (rows.length === 0) return conclude(batch, actor)
    const opened = await openRows(database, ref(batch), rows)
    if (opened === undefined) return endClosed(batch)
    const until = performance.now() + checkFor
    const checked = await each(opened.rows, async (row): Promise<RowChange | undefined> => {
      if (performance.now() > until) return undefined
      try {
        const checked = await pipeline.checkRow(commandOf(batch, actor, opened.common, row))
        const facts = factsOf(checked)
        const credits = Object.values(facts.prices).reduce((sum, price) => sum + price, 0)
        return { number: row.number, from: 'unchecked', to: 'waiting', credits: batch.test ? 0 : credits, facts }
      } catch (error) {
        return failedRow(batch, row, error, 'unchecked')
      }
    })
    // What was not begun is for the next turn.
    const changes = checked.filter((change) => change !== undefined)
    await changeRows(database, ref(batch), changes)
    return changes.some(({ to }) => to === 'unchecked') ? 'held' : 'done'
  }

  /** All rows were checked: whether they are sent. */
  async function conclude (batch: BatchRow, actor: Actor): Promise<Turn> {
    const { total, refused, waiting, mode } = batch
    const refuse = (word: string, message: string): Promise<unknown> =>
      advance(batch, { from: ['checking'], status: 'refused', problem: problem(word, message), checked: true, ended: true },
        'batch.refused')
    const free = await freeCredits(database, batch.company_id)
    const credits = Number(batch.credits)
    // Some of it was sent before: it was not refused as a whole, and those are checked again that were refused.
    const isAgain = waiting + refused < total
    const held = batch.held && !isAgain
    if (!isAgain && (waiting === 0 || (refused > 0 && mode === 'all'))) {
      await refuse('validation_failed', `${refused} of ${total} rows have faults, and nothing is sent: the results tell which.`)
    } else if (!isAgain && credits > 0 && credits > free) {
      await refuse('insufficient_credits', `The batch costs ${credits} credits; ${free} are free.`)
    } else if (held || !await waits(batch, actor, { from: ['checking'], checked: true })) {
      await advance(batch, { from: ['checking'], status: held ? 'paused' : 'queued', checked: true })
    }
    return 'done'
  }

  const toApprove = problem('approval_required', 'Somebody else has to approve it: it goes on when they do.')

  /** Nobody can open its rows any more: what of it is not sent never will be. */
  async function endClosed (batch: BatchRow): Promise<Turn> {
    const why =
      'Its rows were sealed under a data key that is lost, so that nothing more of it can be sent: send them again as another batch.'
    await advance(batch, {
      from: ['checking', 'queued', 'running'],
      status: 'refused',
      problem: problem('internal_error', why),
      ended: true
    }, 'batch.refused')
    return 'done'
  }

  /** Whether somebody else has to approve it. Then it has paused before anybody can, unless it was changed meanwhile. */
  async function waits (batch: BatchRow, actor: Actor, progress: Progress, also: readonly ApprovalRuleRef[] = []): Promise<boolean> {
    const { services, request_id: requestId, test } = batch
    const pause = async (queries: CompanyQueries): Promise<boolean> =>
      await advanceBatchIn(database, queries, ref(batch), { ...progress, status: 'paused', problem: toApprove }) !== undefined
    const totals = () => database.company(batch.company_id, (queries) => totalsOf(queries, ref(batch)))
    const found = () => listRowsToApprove(database, ref(batch))
    return !test && await pipeline.askForBatch({ ...batchToApprove(batch, actor), services, requestId, totals, pause }, { found, also })
  }

  /** Whoever tries a file as a test sends it for good afterwards: the ids of a test's rows are of tests alone. */
  const keyOf = ({ batch_id: batchId, test }: BatchRow, { number, row_id: id }: Pick<Work, 'number' | 'row_id'>): string =>
    id === null ? `batch ${batchId}/${number}` : test ? `batch test/${id}` : id

  async function hand (
    { batch, actor, common, unapproved }: Handing,
    row: OpenWork
  ): Promise<RowChange> {
    const { number } = row
    const handed = { number, from: 'handing' as const, to: 'running' as const, forget: true as const }
    try {
      if (row.dispatch_id === null) {
        const { result } = await pipeline.dispatch({
          ...commandOf(batch, actor, common, row),
          idempotencyKey: keyOf(batch, row),
          batchId: batch.batch_id
        })
        return { ...handed, dispatchId: result.dispatchId }
      }
      // Where another run has it, or nothing of it has failed any more, its own end counts.
      const retried = { dispatchId: row.dispatch_id, mode: 'asynchronous' as const, batch: rowOf(batch) }
      await pipeline.retry({ actor, author: authorOf(batch), ...retried }).catch((error: unknown) => {
        if (wordOf(error) !== 'conflict') throw error
      })
      return handed
    } catch (error) {
      // Nothing of what was held for others is given back: the batch waits for credits.
      const word = wordOf(error)
      if (word === 'insufficient_credits' || word === 'budget_exceeded') {
        await pause(batch, word, error instanceof Error ? error.message : '')
        return { number, from: 'handing', to: 'waiting' }
      }
      const change = failedRow(batch, row, error, 'handing')
      const failed = change.to === 'refused' && row.dispatch_id !== null ? { ...change, to: 'failed' as const } : change
      if (word === 'approval_required') unapproved.set(number, error instanceof ApprovalRequired ? rulesOf(error) : [])
      return failed
    }
  }

  function authorOf ({ retried_by: author, user_id: userId, company_id: companyId, request_id: requestId }: BatchRow) {
    return author ?? { userId, companyId, address: '', requestId }
  }

  /** Hands so many rows to the queue. */
  async function feed (batch: BatchRow, room: number): Promise<Turn> {
    if (room < 1) return 'nothing'
    const left = await nextRows(database, ref(batch), 'handing', room)
    const waiting = left.length > 0 ? left : await nextRows(database, ref(batch), 'waiting', room)
    if (waiting.length === 0) return 'nothing'
    const actor = await senderOf(batch)
    if (actor === undefined) return 'done'
    const opened = await openRows(database, ref(batch), waiting)
    if (opened === undefined) return endClosed(batch)
    if (left.length === 0) {
      await changeRows(database, ref(batch), waiting.map(({ number }) => ({ number, from: 'waiting', to: 'handing' })))
    }
    if (batch.status === 'queued' && await advance(batch, { from: ['queued'], status: 'running' }) === undefined) return 'done'
    const unapproved = new Map<number, readonly ApprovalRuleRef[]>()
    const handed = await each(opened.rows, (row) => hand({ batch, actor, common: opened.common, unapproved }, row))
    // Asked once all of them are back: whoever approves at once lets all of them go on.
    const asking = new Map([...unapproved.values()].flat().map((rule) => [rule.id, rule]))
    const asks = unapproved.size > 0 && await waits(batch, actor, { from: ['queued', 'running'] }, [...asking.values()])
    const changes = handed.map((change): RowChange =>
      asks && unapproved.has(change.number) ? { number: change.number, from: 'handing', to: 'waiting' } : change
    )
    await changeRows(database, ref(batch), changes)
    return changes.some(({ to }) => to === 'waiting') ? 'held' : 'done'
  }

  /** Of a batch that does not go on: whether rows that a lost process was handing over have a dispatch. */
  async function takeBack (batch: BatchRow): Promise<Turn> {
    const rows = await nextRows(database, ref(batch), 'handing', checkedTogether)
    if (rows.length === 0) return 'nothing'
    const changes = await each(rows, async (row): Promise<RowChange> => {
      const dispatchId = row.dispatch_id ?? await dispatchOf(database, batch.company_id, keyOf(batch, row))
      const sent = dispatchId === undefined ? { to: 'waiting' as const } : { to: 'running' as const, dispatchId, forget: true as const }
      return { number: row.number, from: 'handing', ...sent }
    })
    await changeRows(database, ref(batch), changes)
    return 'done'
  }

  /** Of a batch that was cancelled: cancels what waits in the queue, such as for its time, and has not begun. */
  async function cancelWaiting (batch: BatchRow): Promise<Turn> {
    const waiting = await listNotBegun(database, ref(batch), cancelledTogether)
    if (waiting.length === 0) return 'nothing'
    const author = authorOf(batch)
    const { company_id: companyId, user_id: userId } = batch
    const actor: Actor = { userId, companyId, email: '', role: 'member', services: ['*'] }
    await Promise.all(waiting.map((dispatchId) =>
      limited(() =>
        pipeline.cancel({ actor, author, dispatchId }).catch((error: unknown) => {
          // It has begun meanwhile.
          if (wordOf(error) !== 'conflict') throw error
        })
      )
    ))
    return 'done'
  }

  /** Records which dispatches have ended. Answers the batch as it is then, whether others run, and how many more may be queued. */
  async function settle (batch: BatchRow): Promise<{ settled: BatchRow, ended: number, runs: boolean, room: number }> {
    const all = batch.running === 0 ? [] : await listUnderWay(database, ref(batch), { limit: maxKept, seconds: keptAfter })
    const under = all.filter(({ status }) => status === 'queued' || status === 'running')
    const ended = all.flatMap(({ number, status }): RowChange[] =>
      status === 'queued' || status === 'running' ? [] : [{ number, from: 'running', to: status }]
    )
    const settled = ended.length === 0 ? batch : await changeRows(database, ref(batch), ended) ?? batch
    const present = under.filter(({ status, recent }) => status === 'running' || recent).length
    const elsewhere = await countElsewhere(database, ref(batch), keptAfter)
    const runs = under.some(({ status }) => status === 'running')
    return { settled, ended: ended.length, runs, room: all.length >= maxKept ? 0 : window - present - elsewhere }
  }

  /** Tells of another tenth, and of the end. */
  async function tell (batch: BatchRow): Promise<void> {
    const left = batch.unchecked + batch.waiting + batch.handing + batch.running
    if (left === 0) {
      await advance(batch, { from: ['running', 'queued'], status: 'finished', ended: true, closed: true, told: 10 }, 'batch.finished')
    }
    const tenth = Math.floor(10 * (batch.total - left) / batch.total)
    if (left > 0 && tenth > batch.told) await advance(batch, { from: ['running'], told: tenth }, 'batch.progress')
  }

  async function workOn (batch: BatchRow): Promise<Turn> {
    if (batch.status === 'checking') return check(batch)
    const { settled, ended, runs, room } = await settle(batch)
    if (batch.status === 'queued' || batch.status === 'running') {
      if (ended > 0 || settled.waiting + settled.handing + settled.running === 0) await tell(settled)
      const fed = await feed(settled, room)
      return fed === 'nothing' && ended > 0 ? 'done' : fed
    }
    const taken = await takeBack(settled)
    const stopped = taken === 'nothing' && batch.status === 'cancelled' && settled.running > 0 ? await cancelWaiting(settled) : taken
    if (stopped === 'nothing' && settled.running === 0) await close(settled)
    else if (stopped === 'nothing' && batch.status === 'cancelled') await letGo(database, ref(batch), jobOf(batch))
    if (ended > 0) return 'done'
    return stopped === 'nothing' && !runs ? 'held' : stopped
  }

  const jobOf = ({ company_id: companyId }: BatchRow) => (dispatchId: string) => jobs.batched({ companyId, dispatchId })

  /** Nothing is to be done for a batch that has stopped; whoever has cancelled it is told when its last dispatch has ended. */
  async function close (batch: BatchRow): Promise<void> {
    const type = batch.status === 'cancelled' && batch.told < 10 ? 'batch.cancelled' : undefined
    await advance(batch, { from: ['paused', 'cancelled', 'refused', 'finished'], closed: true, ...hasStopped(batch) ? { told: 10 } : {} },
      type)
  }

  /** `pauses`: milliseconds for which a batch rests that waits for its dispatches. */
  async function turn (pauses: number): Promise<Turn | 'none'> {
    const claim = newId()
    const batch = await claimBatch(database, claim, claimLasts)
    if (batch === undefined) return 'none'
    let came: Turn = 'held'
    try {
      came = await workOn(batch)
    } finally {
      await releaseBatch(database, batch, claim, { done: 0, nothing: pauses / 1_000, held: holdFor }[came])
    }
    return came
  }

  const closing = Promise.withResolvers<undefined>()
  let isClosing = false

  async function run (): Promise<void> {
    let [pauses, last]: [number, Turn | 'none'] = [shortest, 'none']
    while (!isClosing) {
      const came = await turn(pauses).catch((err: unknown) => {
        log.warn({ err }, 'a batch could not be worked on')
        return 'none' as const
      })
      if (came === 'done') pauses = shortest
      if (came === 'nothing') pauses = Math.min(longest, 2 * pauses)
      // Batches rest one by one: as long as there is another one, it is not kept waiting.
      if (came === 'none') await rest(last === 'nothing' ? pauses : idle)
      last = came
    }
  }

  async function rest (milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => {
      resolve(undefined)
    }, milliseconds)
    await Promise.race([promise, closing.promise])
    clearTimeout(timer)
  }

  const forgetting = runEvery(forgetEvery, () => forgetBatches(database, config.retentionDays), (err) => {
    log.warn({ err }, 'old batches could not be forgotten')
  })
  const running = run()
  return {
    async [Symbol.asyncDispose] () {
      isClosing = true
      closing.resolve(undefined)
      await Promise.all([running, forgetting.close()])
    }
  }
}

/** Those of a refusal that tell which they are. */
const rulesOf = ({ rules }: ApprovalRequired): ApprovalRuleRef[] =>
  rules.flatMap(({ id, name = '' }) => id === undefined ? [] : [{ id, name }])
