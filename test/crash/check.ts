import type { Told } from './client.ts'
import type { CrashDatabase } from './database.ts'
import type { House } from './house.ts'
import type { Callback } from './receiver.ts'
import type { Receipt } from './vendor.ts'

/** A broken promise, and the dispatch that shows it. */
export type Fault = { rule: string, dispatchId?: string | null, order?: string, facts?: unknown }

type Step = { dispatch_id: string, order: string, service: string, status: string, dispatch: string, position: number }
type World = { steps: readonly Step[], receipts: readonly Receipt[], told: readonly Told[], recorded: readonly Recorded[], received: readonly Callback[] }
/** A callback as the service has it. */
type Recorded = { dispatchId: string, type: string, state: string }

/** Compares what clients were told, what the vendor holds and what the database says. */
export async function check ({ database, vendor, receiver }: House, told: readonly Told[]): Promise<Fault[]> {
  const steps = await database.rows<Step>(`
    select dispatch_id, metadata->>'order' as order, steps.service, steps.status, dispatches.status as dispatch, position
    from dispatches join steps using (dispatch_id) order by dispatch_id, position`)
  const recorded = await database.rows<Recorded>('select dispatch_id as "dispatchId", type, state from callbacks')
  const world: World = { steps, receipts: await vendor.receipts(), told, recorded, received: receiver.callbacks }
  const records = await Promise.all(Object.entries(queries).map(async ([rule, sql]) => (await database.rows<{ dispatch_id?: string }>(sql)).map(({ dispatch_id: dispatchId, ...facts }) => ({ rule, ...(dispatchId === undefined ? {} : { dispatchId }), facts }))))
  return [...records.flat(), ...answersOf(world), ...holdingsOf(world), ...repeatsOf(world), ...callbacksOf(world)]
}

/** Seconds within which a dispatch goes on, whatever was killed. */
const stuckAfter = 30

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

/** How much is under way, and what of it has not moved for too long, neither by itself nor since the last kill (Unix time, milliseconds). */
export async function underWay (database: CrashDatabase, lastKill: number): Promise<{ count: number, stuck: Fault[] }> {
  const rows = await database.rows<{ dispatch_id: string, since: Date }>(unfinished)
  const stuck = rows.filter(({ since }) => Math.max(since.getTime(), lastKill) < Date.now() - stuckAfter * 1000)
  return { count: rows.length, stuck: stuck.map(({ dispatch_id: dispatchId, ...facts }) => ({ rule: 'every dispatch and deferred action comes to an end, is uncertain or waits for its next try', dispatchId, facts })) }
}

/** What the records alone must say; each row is a fault. */
const queries: Readonly<Record<string, string>> = {
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
  'what a key or a lookup can tell is not uncertain for long': `
    select steps.dispatch_id, steps.service, extract(epoch from now() - max(at))::int as seconds from steps join events using (step_id)
    where steps.status = 'uncertain' and steps.service <> 'sms' group by 1, 2 having max(at) < now() - interval '90 seconds'`,
  'a callback is not kept waiting for long': `
    select dispatch_id, type, attempts, extract(epoch from now() - next_at)::int as seconds from callbacks where next_at < now() - interval '90 seconds'`,
  'nothing comes after a step that was not accepted': `
    select later.dispatch_id, earlier.service, earlier.status, later.service as then, later.status as was from steps earlier join steps later using (dispatch_id)
    where later.position > earlier.position and earlier.status <> 'accepted' and later.status <> 'planned' and later.deferred_on is null`
}

/** What a client was told is so, and each of them was told something. */
function answersOf ({ steps, told }: World): Fault[] {
  const statusOf = new Map(steps.map(({ dispatch_id: id, dispatch }) => [id, dispatch]))
  return told.flatMap(({ order, answer }): Fault[] => {
    const about = { order: String(order.number), facts: answer }
    if (answer === undefined) return order.keyed ? [{ rule: 'a client with an idempotency key learns what became of its request', ...about }] : []
    const { status, body } = answer
    const id: string | undefined = body.dispatchId
    if (id === undefined) return status >= 500 && !order.keyed ? [] : [{ rule: 'a valid request is dispatched', ...about }]
    const now = statusOf.get(id)
    // Whether it is queued was not known when the client had waited long enough: then it may not be.
    if (now === undefined) return body.error === 'timeout' ? [] : [{ rule: 'what was answered is recorded', dispatchId: id, ...about }]
    return body.status === 'succeeded' && now !== 'succeeded' ? [{ rule: 'what was told to have succeeded has', dispatchId: id, ...about }] : []
  })
}

/** How many items of a step the vendor may hold, by what the records say of it. */
const mayHold: Readonly<Record<string, readonly number[]>> = { accepted: [1], uncertain: [0, 1], calling: [0, 1], rejected: [0], unavailable: [0], planned: [0], waiting: [0] }

/** The vendor holds each step once or not at all, as the records say. */
function holdingsOf ({ steps, receipts }: World): Fault[] {
  const received = Map.groupBy(receipts, nameOf)
  const recorded = new Set(steps.map(nameOf))
  const unrecorded = [...received].filter(([name]) => !recorded.has(name)).map(([, list]): Fault => ({ rule: 'nothing is sent before it is recorded', facts: list }))
  return steps.filter(({ service }) => service !== 'file').flatMap((step): Fault[] => {
    const list = received.get(nameOf(step)) ?? []
    const held = list.filter(({ held }) => held).length
    const about = { dispatchId: step.dispatch_id, order: step.order, facts: { service: step.service, status: step.status, receipts: list } }
    if (held > 1) return [{ rule: 'the vendor holds a step at most once', ...about }]
    return mayHold[step.status]?.includes(held) === true ? [] : [{ rule: 'a step is what the vendor holds', ...about }]
  }).concat(unrecorded)
}

/** A turn after which the vendor surely holds nothing, and says so. */
const isUnsent = ({ turn }: Receipt): boolean => /^(busy|refuse)\b/.test(turn)

/** What may have been accepted is not sent again where nothing can tell, and a step is sent with the same bytes each time. */
function repeatsOf ({ receipts }: World): Fault[] {
  return [...Map.groupBy(receipts, nameOf).values()].flatMap((list): Fault[] => {
    const [{ order, service } = { order: '', service: '' }] = list
    const repeated = service === 'sms' && list.slice(0, -1).some((receipt) => !isUnsent(receipt))
    return [
      ...repeated ? [{ rule: 'what may have been accepted is not sent again blindly', order, facts: list }] : [],
      ...new Set(list.map(({ sha256 }) => sha256)).size > 1 ? [{ rule: 'a step is sent with the same bytes each time', order, facts: list }] : []
    ]
  })
}

/** The states in which a dispatch has something to tell. */
const tells: ReadonlySet<string> = new Set(['succeeded', 'failed', 'partial', 'uncertain', 'cancelled'])

/** Who asked for a callback with an asynchronous request is called with the state that it ended in; some wait for their next try. */
function callbacksOf ({ steps, told, recorded, received }: World): Fault[] {
  const kinds = new Set(recorded.map(callOf))
  const met = new Set(received.map(callOf))
  const stepsOf = Map.groupBy(steps, ({ order }) => order)
  const asked = told.filter(({ order: { mode, body } }) => mode === 'asynchronous' && 'callbackUrl' in body).flatMap(({ order: { number } }) => stepsOf.get(String(number))?.slice(0, 1) ?? [])
  return [
    ...asked.filter(({ dispatch_id: dispatchId, dispatch }) => tells.has(dispatch) && !kinds.has(callOf({ dispatchId, type: `dispatch.${dispatch}` })))
      .map(({ dispatch_id: dispatchId, dispatch }): Fault => ({ rule: 'who asked for a callback is called with what became of it', dispatchId, facts: dispatch })),
    ...recorded.filter((callback) => callback.state === 'delivered' && !met.has(callOf(callback)))
      .map(({ dispatchId, ...facts }): Fault => ({ rule: 'a callback that counts as delivered was received', dispatchId, facts }))
  ]
}

const callOf = ({ dispatchId, type }: Pick<Callback, 'dispatchId' | 'type'>): string => `${dispatchId} ${type}`
const nameOf = ({ order, service }: { order: string, service: string }): string => `${order}/${service}`

/** The timeline of the dispatch that shows a fault, to be read. */
export async function tellFault (database: CrashDatabase, { rule, dispatchId, order, facts }: Fault): Promise<string> {
  const which = dispatchId === undefined || dispatchId === null ? `(select dispatch_id from dispatches where metadata->>'order' = '${order ?? ''}')` : `('${dispatchId}')`
  const events = await database.rows<{ at: string, kind: string, service: string | null, facts: unknown }>(`
    select to_char(at, 'HH24:MI:SS.MS') as at, kind, service, facts from events left join steps using (step_id) where events.dispatch_id in ${which} order by event_id`)
  return [
    `BROKEN: ${rule}${order === undefined ? '' : `, order ${order}`}${dispatchId === undefined || dispatchId === null ? '' : `, dispatch ${dispatchId}`}`,
    `  ${JSON.stringify(facts)}`,
    ...events.map((event) => `  ${event.at} ${event.kind.padEnd(12)} ${(event.service ?? '').padEnd(10)} ${JSON.stringify(event.facts)}`)
  ].join('\n')
}
