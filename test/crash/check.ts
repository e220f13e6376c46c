import { rowRules } from '../support/row-rules.ts'
import type { Told } from './client.ts'
import type { CrashDatabase } from './database.ts'
import type { Installation } from './installation.ts'
import type { Order } from './plan.ts'
import type { Callback } from './receiver.ts'
import type { Receipt } from './vendor.ts'

/** A broken promise, and the dispatch that shows it. */
export type Fault = { rule: string, dispatchId?: string | null, order?: string, facts?: unknown }

/** `restored`: it may have been done by a database that is lost. */
type Step = {
  dispatch_id: string
  order: string
  service: string
  status: string
  dispatch: string
  position: number
  restored: boolean
}
type World = {
  steps: readonly Step[]
  receipts: readonly Receipt[]
  reported: readonly Told[]
  recorded: readonly Recorded[]
  received: readonly Callback[]
  leases: readonly Lease[]
  lost: CrashDatabase['lost']
}
/** A call began, or the dispatch was taken from whoever had it: Unix time, milliseconds. */
type Lease = { order: string, service: string | null, kind: 'calling' | 'recovered', at: number }
/** A callback as the service has it, and what its dispatch was in the same moment. */
type Recorded = { dispatchId: string, type: string, state: string, sequence: number, status: string }

/** Compares what clients were told, what the vendor holds and what the database says. */
export async function check ({ database, vendor, receiver }: Installation, reported: readonly Told[]): Promise<Fault[]> {
  const steps = await database.rows<Step>(`
    select dispatch_id, metadata->>'order' as order, steps.service, steps.status, dispatches.status as dispatch, position,
      restored_to is not null as restored
    from dispatches join steps using (dispatch_id) order by dispatch_id, position`)
  const recorded = await database.rows<Recorded>(
    'select dispatch_id as "dispatchId", type, state, sequence, status from callbacks join dispatches using (dispatch_id)'
  )
  const leases = await database.rows<Lease>(`
    select metadata->>'order' as order, service, kind, extract(epoch from at)::float * 1000 as at
    from events join dispatches using (dispatch_id) left join steps using (step_id) where kind in ('calling', 'recovered') order by event_id`)
  const world: World = {
    steps,
    receipts: await vendor.receipts(),
    reported,
    recorded,
    received: receiver.callbacks,
    leases,
    lost: database.lost
  }
  const records = await Promise.all(
    Object.entries(queries).map(async ([rule, sql]) =>
      (await database.rows<{ dispatch_id?: string }>(sql)).map(({ dispatch_id: dispatchId, ...facts }) => ({
        rule,
        ...(dispatchId === undefined ? {} : { dispatchId }),
        facts
      }))
    )
  )
  return [
    ...records.flat(),
    ...answersOf(world),
    ...holdingsOf(world),
    ...repeatsOf(world),
    ...unsentOf(world),
    ...lostLeasesOf(world),
    ...endsOf(world),
    ...callbacksOf(world),
    ...signaturesOf(world)
  ]
}

/**
 * Seconds within which a dispatch goes on, whatever was killed: a job that was lost is missed after 30, by a sweep of every 5; a lease ends
 * after 15, by another sweep.
 */
const stuckAfter = 60

/** What is still to be done and not put off until a later try; an event that came too early is tried again later too. */
const unfinished = `
  with open as (
    select dispatch_id, null as deferred, status, next_try_at from dispatches where status = 'running' or status = 'queued' and coalesce(next_try_at, '-infinity') < now()
    union all
    select deferred.dispatch_id, deferred.service, deferred.status, deferred.next_try_at from steps deferred join steps about using (dispatch_id)
    where deferred.deferred_on = 'esign.completed' and about.service = 'esign' and about.status = 'accepted'
      and (deferred.status in ('planned', 'calling') or deferred.status = 'unavailable' and deferred.next_try_at < now() or deferred.status = 'waiting'
        and not exists (select from inbound where state in ('waiting', 'held') and position(convert_to('"' || about.remote_id || '"', 'UTF8') in body) > 0))
  )
  select open.*, greatest(next_try_at, (select max(at) from events where events.dispatch_id = open.dispatch_id)) as since from open`

/**
 * How much is under way, and what of it has not moved for too long, neither by itself nor since all processes are there (Unix time,
 * milliseconds).
 */
export async function underWay (database: CrashDatabase, present: number): Promise<{ count: number, stuck: Fault[] }> {
  const rows = await database.rows<{ dispatch_id: string, since: Date }>(unfinished)
  const stuck = rows.filter(({ since }) => Math.max(since.getTime(), present) < Date.now() - stuckAfter * 1000)
  return {
    count: rows.length,
    stuck: stuck.map(({ dispatch_id: dispatchId, ...facts }) => ({
      rule: 'every dispatch and deferred action comes to an end, is uncertain or waits for its next try',
      dispatchId,
      facts
    }))
  }
}

/** What the records alone must say; each row is a fault. */
const queries: Readonly<Record<string, string>> = {
  ...rowRules,
  'only what is uncertain holds credits when all has ended': `
    select dispatch_id, dispatches.status, steps.service, steps.status as step, held from dispatches join steps using (dispatch_id)
    where held > 0 and steps.status <> 'uncertain' and (deferred_on is not null or dispatches.status not in ('uncertain', 'queued', 'running')) and steps.next_try_at is null`,
  'what is held is what the steps hold': `
    select company_id, held::int, (select coalesce(sum(held), 0)::int from steps where steps.company_id = credits.company_id) as steps from credits
    where held <> (select coalesce(sum(held), 0) from steps where steps.company_id = credits.company_id)`,
  'an accepted step is debited once, at its price, and no other is': `
    select steps.dispatch_id, steps.service, steps.status, price, charged, amount::int from steps left join ledger using (step_id)
    where (case when status = 'accepted' then price else 0 end) <> coalesce(-amount, 0) or charged <> coalesce(-amount, 0)`,
  'the balance is the sum of the ledger': `
    select company_id, balance::int from credits where balance <> (select coalesce(sum(amount), 0) from ledger where ledger.company_id = credits.company_id)`,
  'what a key or a lookup can tell is asked for when it is due': `
    select dispatch_id, service, looks, extract(epoch from now() - next_look_at)::int as seconds from steps
    where status = 'uncertain' and service <> 'sms' and (next_look_at is null or next_look_at < now() - interval '60 seconds')`,
  'a callback is not kept waiting for long': `
    select dispatch_id, type, attempts, extract(epoch from now() - next_at)::int as seconds from callbacks where next_at < now() - interval '90 seconds'`,
  'nothing comes after a step that was not accepted': `
    select later.dispatch_id, earlier.service, earlier.status, later.service as then, later.status as was from steps earlier join steps later using (dispatch_id)
    where later.position > earlier.position and earlier.status <> 'accepted' and later.status <> 'planned' and later.deferred_on is null`
}

/** What a client was told is so, and each of them was told something. */
function answersOf ({ steps, reported, lost }: World): Fault[] {
  const statusOf = new Map(steps.map(({ dispatch_id: id, dispatch }) => [id, dispatch]))
  return reported.flatMap(({ order, answer }): Fault[] => {
    const about = { order: String(order.number), facts: answer }
    if (answer === undefined) {
      return order.keyed
        ? [{ rule: 'a client with an idempotency key learns what became of its request', ...about }]
        : []
    }
    const { status, body } = answer
    const id: string | undefined = body.dispatchId
    if (id === undefined) return status >= 500 && !order.keyed ? [] : [{ rule: 'a valid request is dispatched', ...about }]
    const now = statusOf.get(id)
    if (lost.dispatches.has(id) || (lost.older.has(id) && now === 'uncertain')) return []
    // Whether it is recorded was not known when the client had waited long enough: then it may not be.
    if (now === undefined) {
      return body.error === 'recording_unknown'
        ? []
        : [{ rule: 'what was answered is recorded', dispatchId: id, ...about }]
    }
    return body.status === 'succeeded' && now !== 'succeeded'
      ? [{ rule: 'what was told to have succeeded has', dispatchId: id, ...about }]
      : []
  })
}

/** How many items of a step the vendor may hold, by what the records say of it. */
const mayHold: Readonly<Record<string, readonly number[]>> = {
  accepted: [1],
  uncertain: [0, 1],
  calling: [0, 1],
  rejected: [0],
  unavailable: [0],
  planned: [0],
  waiting: [0],
  skipped: [0]
}

/** Of what is left of a restored database: of an order that it has lost nobody knows anything, and its client may send it anew. */
const known = <Of extends { order: string }>(all: readonly Of[], { orders }: World['lost']): Of[] =>
  all.filter(({ order }) => !orders.has(order))

/** The orders of some dispatches. */
const ordersOf = (steps: World['steps'], dispatches: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(steps.filter(({ dispatch_id: id }) => dispatches.has(id)).map(({ order }) => order))

/** The vendor holds each step once or not at all, as the records say. */
function holdingsOf ({ steps: all, receipts, lost }: World): Fault[] {
  const steps = known(all, lost)
  const received = Map.groupBy(known(receipts, lost), nameOf)
  const recorded = new Set(steps.map(nameOf))
  const unrecorded = [...received].filter(([name]) => !recorded.has(name)).map(([, list]): Fault => ({
    rule: 'nothing is sent before it is recorded',
    facts: list
  }))
  return steps.filter(({ service }) => service !== 'file').flatMap((step): Fault[] => {
    const list = received.get(nameOf(step)) ?? []
    const held = list.filter(({ held }) => held).length
    const about = { dispatchId: step.dispatch_id, order: step.order, facts: { service: step.service, status: step.status, receipts: list } }
    if (held > 1) return [{ rule: 'the vendor holds a step at most once', ...about }]
    return step.restored || mayHold[step.status]?.includes(held) === true ? [] : [{ rule: 'a step is what the vendor holds', ...about }]
  }).concat(unrecorded)
}

/** A turn after which the vendor surely holds nothing, and says so. */
const isUnsent = ({ turn }: Receipt): boolean => /^(busy|refuse)\b/.test(turn)

/** What may have been accepted is not sent again where nothing can tell, and a step is sent with the same bytes each time. */
function repeatsOf ({ receipts, steps, lost }: World): Fault[] {
  // What was made for them is lost with the database, and made anew.
  const older = ordersOf(steps, lost.older)
  return [...Map.groupBy(known(receipts, lost), nameOf).values()].flatMap((list): Fault[] => {
    const [{ order, service } = { order: '', service: '' }] = list
    const repeated = service === 'sms' && list.slice(0, -1).some((receipt) => !isUnsent(receipt))
    return [
      ...repeated ? [{ rule: 'what may have been accepted is not sent again blindly', order, facts: list }] : [],
      ...!older.has(order) && new Set(list.map(({ sha256 }) => sha256)).size > 1
        ? [{ rule: 'a step is sent with the same bytes each time', order, facts: list }]
        : []
    ]
  })
}

/**
 * Who was told that nothing was sent, by an answer or a callback, could send it again: the vendor must not take what it had been sent by
 * then.
 */
function unsentOf ({ receipts, reported, received, lost }: World): Fault[] {
  const held = Map.groupBy(known(receipts, lost).filter((receipt) => receipt.held), ({ order }) => order)
  const before = (order: string, at: number, service?: string): Receipt[] =>
    (held.get(order) ?? []).filter((receipt) => receipt.at < at && (service === undefined || receipt.service === service))
  return [
    ...reported.flatMap(({ order: { number }, unsent }) =>
      unsent.flatMap((at) => before(String(number), at)).map((facts): Fault => ({
        rule: 'nobody is told that nothing was sent of what the vendor takes',
        order: String(number),
        facts
      }))
    ),
    ...received.filter(({ type }) => type === 'dispatch.failed' || type === 'dispatch.partial').flatMap(
      ({ order, at, steps, dispatchId }) =>
        Object.entries(steps)
          .filter(([, status]) => status === 'unavailable').flatMap(([service]) => before(order, at - skew, service))
          .map((facts): Fault => ({ rule: 'nobody is called back that nothing was sent of what the vendor takes', dispatchId, facts }))
    )
  ]
}

/** Milliseconds that a callback's time may be ahead, as the clock of its process is. */
const skew = 30_000

/** Milliseconds that the network may take, beside the margin before the end of a lease. */
const travel = 4_000

/** What reaches the vendor was sent under a lease: not by a process that had lost its dispatch. */
function lostLeasesOf ({ receipts, leases, steps, lost }: World): Fault[] {
  const older = ordersOf(steps, lost.older)
  const ofOrder = Map.groupBy(leases, ({ order }) => order)
  return known(receipts, lost).filter(({ order }) => !older.has(order)).flatMap(({ order, service, at }): Fault[] => {
    const before = (ofOrder.get(order) ?? []).filter((lease) => lease.at < at)
    const begun = before.findLast(({ kind, service: of }) => kind === 'calling' && of === service)?.at ?? 0
    const lost = before.find((lease) => lease.kind === 'recovered' && lease.at > begun && lease.at < at - travel)
    return lost === undefined
      ? []
      : [{
        rule: 'nothing is sent under a lease that was lost',
        order,
        facts: { service, at: new Date(at), begun: new Date(begun), lost: new Date(lost.at) }
      }]
  })
}

/** What nobody waits for ends well by itself, unless its vendor refuses; whether a text message was sent, a person may have said. */
function endsOf ({ steps, reported, receipts }: World): Fault[] {
  const refused = new Set(receipts.filter(({ turn }) => turn.startsWith('refuse')).map(({ order }) => order))
  const queued = new Set(
    reported.filter(({ order: { mode, number, path } }) => mode === 'asynchronous' && !path.includes('sms') && !refused.has(String(number)))
      .map(({ order: { number } }) => String(number))
  )
  return steps.filter(({ order, position, dispatch }) =>
    position === 0 && queued.has(order) && (dispatch === 'failed' || dispatch === 'partial')
  )
    .map(({ order, dispatch_id: dispatchId, dispatch }): Fault => ({
      rule: 'what nobody waits for ends well by itself',
      order,
      dispatchId,
      facts: dispatch
    }))
}

/** Where nothing is killed and nothing stalls, nothing is taken from its process, however its clock goes. */
export async function checkCalm ({ database }: Installation, orders: readonly Order[]): Promise<Fault[]> {
  const taken = await database.rows<{ dispatch_id: string, status: string, taken: number }>(`
    select dispatch_id, status, (select count(*)::int from events where events.dispatch_id = dispatches.dispatch_id and kind in ('recovered', 'corrected')) as taken
    from dispatches where metadata->>'order' in (${orders.map(({ number }) => `'${number}'`).join()})`)
  return taken.filter(({ status, taken: times }) => status !== 'succeeded' || times > 0)
    .map(({ dispatch_id: dispatchId, ...facts }): Fault => ({
      rule: 'where nothing is disturbed nothing is taken from its process',
      dispatchId,
      facts
    }))
}

/**
 * Every callback is signed, is the same whenever it comes, has its number in the dispatch, and the last one tells what the dispatch has
 * come to.
 */
function signaturesOf ({ received: all, recorded, lost }: World): Fault[] {
  const received = all.filter(({ dispatchId }) => !lost.dispatches.has(dispatchId) && !lost.older.has(dispatchId))
  const numbers = Map.groupBy(recorded, ({ dispatchId }) => dispatchId)
  return [
    ...received.filter(({ signed }) => !signed).map(({ dispatchId, type }): Fault => ({
      rule: 'a callback is signed',
      dispatchId,
      facts: type
    })),
    ...[...Map.groupBy(received, ({ id }) => id).values()].filter((same) => new Set(same.map(({ body }) => body)).size > 1)
      .map(([one]): Fault => ({ rule: 'a callback that comes again is the same', dispatchId: one?.dispatchId ?? null, facts: one?.type })),
    ...received.filter(({ dispatchId, type, sequence }) =>
      numbers.get(dispatchId)?.some((callback) => callback.sequence === sequence && callback.type === type) !== true
    )
      .map(({ dispatchId, type, sequence }): Fault => ({ rule: 'a callback has its number', dispatchId, facts: { type, sequence } })),
    ...[...numbers].flatMap(([dispatchId, callbacks]): Fault[] => {
      const sequences = callbacks.map(({ sequence }) => sequence).sort((one, other) => one - other)
      const last = callbacks.filter(({ type }) => type.startsWith('dispatch.')).sort((one, other) => one.sequence - other.sequence).at(-1)
      return [
        ...sequences.some((sequence, index) => sequence !== index + 1)
          ? [{ rule: 'the callbacks of a dispatch are numbered without a gap', dispatchId, facts: sequences }]
          : [],
        ...last !== undefined && tells.has(last.status) && last.type !== `dispatch.${last.status}`
          ? [{ rule: 'the last callback tells what the dispatch has come to', dispatchId, facts: last }]
          : []
      ]
    })
  ]
}

/** The states in which a dispatch has something to tell. */
const tells: ReadonlySet<string> = new Set(['succeeded', 'failed', 'partial', 'uncertain', 'cancelled'])

/** Who asked for a callback with an asynchronous request is called with the state that it ended in; some wait for their next try. */
function callbacksOf ({ steps, reported, recorded, received }: World): Fault[] {
  const kinds = new Set(recorded.map(callOf))
  const met = new Set(received.map(callOf))
  const stepsOf = Map.groupBy(steps, ({ order }) => order)
  const asked = reported.filter(({ order: { mode, body } }) => mode === 'asynchronous' && 'callbackUrl' in body).flatMap(
    ({ order: { number } }) => stepsOf.get(String(number))?.slice(0, 1) ?? []
  )
  return [
    ...asked.filter(({ dispatch_id: dispatchId, dispatch }) =>
      tells.has(dispatch) && !kinds.has(callOf({ dispatchId, type: `dispatch.${dispatch}` }))
    )
      .map(({ dispatch_id: dispatchId, dispatch }): Fault => ({
        rule: 'who asked for a callback is called with what became of it',
        dispatchId,
        facts: dispatch
      })),
    ...recorded.filter((callback) => callback.state === 'delivered' && !met.has(callOf(callback)))
      .map(({ dispatchId, ...facts }): Fault => ({ rule: 'a callback that counts as delivered was received', dispatchId, facts }))
  ]
}

const callOf = ({ dispatchId, type }: Pick<Callback, 'dispatchId' | 'type'>): string => `${dispatchId} ${type}`
const nameOf = ({ order, service }: { order: string, service: string }): string => `${order}/${service}`

/** The timeline of the dispatch that shows a fault, to be read. */
export async function tellFault (database: CrashDatabase, { rule, dispatchId, order, facts }: Fault): Promise<string> {
  const which = dispatchId === undefined || dispatchId === null
    ? `(select dispatch_id from dispatches where metadata->>'order' = '${order ?? ''}')`
    : `('${dispatchId}')`
  const events = await database.rows<{ at: string, kind: string, service: string | null, facts: unknown }>(`
    select to_char(at, 'HH24:MI:SS.MS') as at, kind, service, facts from events left join steps using (step_id) where events.dispatch_id in ${which} order by event_id`)
  return [
    'BROKEN: ' +
    `${rule}${order === undefined ? '' : `, order ${order}`}${
      dispatchId === undefined || dispatchId === null ? '' : `, dispatch ${dispatchId}`
    }`,
    `  ${JSON.stringify(facts)}`,
    ...events.map((event) => `  ${event.at} ${event.kind.padEnd(12)} ${(event.service ?? '').padEnd(10)} ${JSON.stringify(event.facts)}`)
  ].join('\n')
}
