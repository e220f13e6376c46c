/**
 * Kills and disturbs the service again and again: `npm run test:crash`, with `--kills 500`, `--seed 1` for the same run once more,
 * `--only asleep,cut` for faults of these kinds alone, in every life.
 */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { check, checkCalm, type Fault, tellFault, underWay } from './check.ts'
import { place, send, type Told } from './client.ts'
import type { CrashDatabase } from './database.ts'
import { type FaultName, faultNames, faults, long } from './faults.ts'
import { type Installation, openInstallation } from './installation.ts'
import { calmOrders, type Disturbance, type Life, ordersOfLife, planLives } from './plan.ts'
import { type Kept, missing } from './processes.ts'
import { createRandom } from './random.ts'

/** `faults` are to be read, with the timelines that show them. */
export type Report = { faults: string[], summary: string }
/**
 * `kinds`: of faults, all unless told; `disturbed`: by them so many lives of a hundred. `working`: how many processes only work. `linger`:
 * seconds after everything is quiet, for what is to be found out later. `log`: a file for what the processes have to say.
 */
export type Options = {
  seed: number
  kills: number
  kinds?: readonly FaultName[]
  disturbed?: number
  working?: number
  linger?: number
  log?: string
  say?: (line: string) => void
}

/**
 * Seconds within which every client is answered once all processes are there and stay: how long they take to start is the machine's affair.
 */
const answeredWithin = 30
const serving = 2
/** Seconds within which a look or a try that was begun has ended. */
const settling = 6
/** Requests of the time in which nothing is disturbed. */
const calmRequests = 4

/** Lives and deaths as the seed says, and what came of all that was asked for. */
export async function runCrash ({ seed, kills, kinds = faultNames, disturbed = 30, working = 0, linger = 0, log, say = () => undefined }:
  Options): Promise<Report>
{
  for (const what of missing) say(`not tried here: ${what}`)
  const installation = await openInstallation({ serving, working, log })
  try {
    const lives = planLives(createRandom(seed), { count: kills, kinds, disturbed, receiver: installation.receiver.url })
    const faults = createFaults(installation)
    const over = new AbortController()
    const placed: Promise<Told>[] = []
    const caught = new Map<string, number>()
    for (const [index, life] of lives.entries()) {
      placed.push(...await live(installation, life, { first: index % serving, faults, over: over.signal }))
      await note(caught, installation.database, life)
      if (index % 25 === 24) say(`${index + 1} of ${kills} lives`)
    }
    await faults.over()
    const reported = await allTold(installation, placed, over)
    await quiet(installation)
    const calm = linger > 0 ? await keepCalm(installation, { first: kills * ordersOfLife + 1, linger }) : { reported: [], faults: [] }
    reported.push(...calm.reported)
    const left = [...await quiet(installation), ...await checkTwice(installation, reported), ...calm.faults]
    const broken = [
      ...left,
      ...left.length > 0 ? [] : await resolveDoubts(installation, reported),
      ...installation.processes.flatMap(({ gaveUp }) =>
        gaveUp.map((how): Fault => ({ rule: 'a process outlives its database', facts: how }))
      )
    ]
    return {
      faults: await Promise.all(broken.map((fault) => tellFault(installation.database, fault))),
      summary: await summarise(installation, { seed, caught, reported, met: faults.met })
    }
  } finally {
    await installation.close()
  }
}

/** What is found while a step moves is looked at again. */
async function checkTwice (installation: Installation, reported: readonly Told[]): Promise<Fault[]> {
  if ((await check(installation, reported)).length === 0) return []
  await pause(settling * 1000)
  await quiet(installation)
  return check(installation, reported)
}

/** What all clients were told; who is told nothing for too long is told no more. */
async function allTold ({ processes }: Installation, placed: readonly Promise<Told>[], over: AbortController): Promise<Told[]> {
  const watch = setInterval(() => {
    if (Date.now() - Math.max(...processes.map(({ since }) => since)) > answeredWithin * 1000) over.abort()
  }, 500)
  try {
    return await Promise.all(placed)
  } finally {
    clearInterval(watch)
  }
}

/** A time in which nothing is killed and nothing stalls; of anything the vendor has killed then, nothing is said. */
async function keepCalm (
  installation: Installation,
  { first, linger }: { first: number, linger: number }
): Promise<{ reported: Told[], faults: Fault[] }> {
  const kills = (): number => killsOf(installation.processes)
  const before = kills()
  const orders = calmOrders(first, calmRequests)
  const reported = await Promise.all(
    orders.map((order) => place(order, installation.urls, installation.token, new AbortController().signal))
  )
  await pause(linger * 1000)
  await quiet(installation)
  return { reported, faults: kills() === before ? await checkCalm(installation, orders) : [] }
}

/** What disturbs an installation, one thing at a time. */
type Faults = {
  /** Resolves at the end of a short one; a long one, once it has begun, goes on beside the lives that follow. */
  begin: (disturbance: Disturbance, victim: Kept) => Promise<void>
  /** Resolves when nothing is disturbed any more. */
  over: () => Promise<void>
  /** How often each has been. */
  met: ReadonlyMap<string, number>
}

function createFaults (installation: Installation): Faults {
  const met = new Map<string, number>()
  let underWay = Promise.resolve()
  return {
    met,
    async begin ({ what, at, seconds }, victim) {
      await underWay
      await pause(at)
      met.set(what, (met.get(what) ?? 0) + 1)
      underWay = faults[what].does(installation, victim, seconds)
      await (seconds < long ? underWay : Promise.race([underWay, pause(long * 1000)]))
    },
    over: () => underWay
  }
}

type Circumstances = { first: number, faults: Faults, over: AbortSignal }

/** One life: a burst of requests, and the death of the process that gets them first. One that stands still is left alone. */
async function live (
  installation: Installation,
  { orders, killedAt, killed, disturbance }: Life,
  { first, faults, over }: Circumstances
): Promise<Promise<Told>[]> {
  const { processes, urls, token } = installation
  const nearest = [...processes.slice(first, serving), ...processes.slice(0, first)]
  const victim = nearest.find(({ asleep }) => !asleep)
  if (victim === undefined) throw new Error('No process that serves is awake.')
  const child = await victim.ready()
  const doomed = killed === 'all' ? await Promise.all(processes.filter(({ asleep }) => !asleep).map((process) => process.ready())) : [child]
  const from = processes.indexOf(victim)
  const addresses = [...urls.slice(from), ...urls.slice(0, from)]
  const placed = orders.map(async (order) => {
    await pause(order.at)
    return place(order, addresses, token, over)
  })
  const disturbed = disturbance === undefined ? undefined : faults.begin(disturbance, victim)
  // Whatever is disturbed for long is not killed as well.
  if (disturbance === undefined || disturbance.seconds < long) await kill(doomed, killedAt)
  await disturbed
  return placed
}

/** A process that the vendor had killed meanwhile stays dead; the one that took its place is not harmed. */
async function kill (doomed: readonly ChildProcess[], at: number): Promise<void> {
  await pause(at)
  for (const child of doomed) child.kill('SIGKILL')
}

/** Notes how far the requests of a life had come when it ended: the last event of their dispatches, if they had begun and not ended. */
async function note (caught: Map<string, number>, { rows }: CrashDatabase, { orders, disturbance }: Life): Promise<void> {
  // The database may be away itself.
  if (disturbance !== undefined) return
  const last = await rows<{ kind: string }>(`
    select distinct on (dispatch_id) kind from events join dispatches using (dispatch_id)
    where dispatches.status in ('queued', 'running') and metadata->>'order' in (${
    orders.map(({ number }) => `'${number}'`).join()
  }) order by dispatch_id, event_id desc`).catch(() => [])
  for (const { kind } of last) caught.set(kind, (caught.get(kind) ?? 0) + 1)
}

/**
 * Waits until nothing is under way any more, or something is stuck: that is what it resolves to. The vendor may still have the service
 * killed meanwhile.
 */
async function quiet ({ processes, database }: Installation): Promise<Fault[]> {
  for (;;) {
    await Promise.all(processes.map((process) => process.ready()))
    const { count, stuck } = await underWay(database, Math.max(...processes.map(({ since }) => since)))
    if (count === 0 || stuck.length > 0) return stuck
    await pause(250)
  }
}

/** A person says of every step that nobody can tell of what the vendor holds; then nothing is held any more, and the rest is as before. */
async function resolveDoubts (installation: Installation, reported: readonly Told[]): Promise<Fault[]> {
  const held = new Set(
    (await installation.vendor.receipts()).filter((receipt) => receipt.held && receipt.service === 'sms').map(({ order }) => order)
  )
  const doubts = await installation.database.rows<{ dispatch_id: string, order: string }>(
    'select dispatch_id, metadata->>\'order\' as order from dispatches join steps using (dispatch_id) where steps.status = ' +
      '\'uncertain\' and steps.service = \'sms\''
  )
  for (const { dispatch_id: id, order } of doubts) {
    const body = { outcome: held.has(order) ? 'accepted' : 'rejected', reason: 'The vendor was asked on the telephone.' }
    const heard = await resolve(installation, id, body)
    if (heard !== 'resolved') return [{ rule: 'a person can say what became of a step', dispatchId: id, facts: heard }]
  }
  return checkTwice(installation, reported)
}

/** Milliseconds for which a person asks again. */
const persistence = 60_000

/**
 * Says what became of a dispatch. It goes on then, and the vendor may have the service killed at its next call: whoever is cut off by that
 * looks, when the processes are there again, whether the word was heard, and says it once more where it was not.
 */
async function resolve ({ processes, database, urls: [url = ''], token }: Installation, id: string, body: object): Promise<string> {
  const kills = (): number => killsOf(processes)
  const end = Date.now() + persistence
  for (;;) {
    const before = kills()
    const answer = await send(url, `/api/v1/dispatches/${id}/resolve`, { token, body })
    if (answer?.status === 200) return 'resolved'
    await pause(1000)
    // What a killed process had begun is taken over within seconds: until then the dispatch is being looked at.
    const mayPass = answer === undefined ? kills() > before : answer.body.error === 'conflict'
    if (!mayPass || Date.now() > end) return JSON.stringify(answer ?? 'The connection was cut, and no process was killed.')
    await Promise.all(processes.map((process) => process.ready()))
    const inDoubt = await database.rows(`select from steps where dispatch_id = '${id}' and service = 'sms' and status = 'uncertain'`)
    if (inDoubt.length === 0) return 'resolved'
  }
}

function killsOf (processes: readonly Kept[]): number {
  return processes.reduce((sum, { kills }) => sum + kills.length, 0)
}

async function summarise (
  { processes, database }: Installation,
  { seed, caught, reported, met }: {
    seed: number
    caught: Map<string, number>
    reported: readonly Told[]
    met: ReadonlyMap<string, number>
  }
): Promise<string> {
  const statuses = await database.rows<{ status: string, count: number }>(
    'select status, count(*)::int from dispatches group by 1 order by 1'
  )
  const counts = (list: Iterable<readonly [string, number]>): string => [...list].map(([name, count]) => `${count} ${name}`).join(', ')
  return [
    `seed ${seed}: ${killsOf(processes)} processes killed, ${reported.length} requests`,
    `disturbed by: ${counts(met)}; clocks ${missing.some((what) => what.startsWith('clocks')) ? 'right' : '30 s behind and ahead'}`,
    `when killed, dispatches were: ${counts(caught)}`,
    `in the end, they are: ${counts(statuses.map(({ status, count }) => [status, count]))}`
  ].join('\n')
}

/** The kinds of faults that a list names. */
function kindsOf (list: string): FaultName[] {
  return list.split(',').map((given) => {
    const kind = faultNames.find((name) => name === given)
    if (kind === undefined) throw new Error(`There is no fault "${given}"; there are ${faultNames.join(', ')}.`)
    return kind
  })
}

if (import.meta.main) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const { values: { kills, seed, only, working, linger, log } } = parseArgs({
    options: {
      only: { type: 'string' },
      kills: { type: 'string', default: '500' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      working: { type: 'string', default: '1' },
      linger: { type: 'string', default: '100' },
      log: { type: 'string' }
    }
  })
  const kinds = only === undefined ? {} : { kinds: kindsOf(only), disturbed: 100 }
  const { faults, summary } = await runCrash({
    seed: Number(seed),
    kills: Number(kills),
    ...kinds,
    working: Number(working),
    linger: Number(linger),
    ...(log === undefined ? {} : { log }),
    say: (line) => {
      console.log(line)
    }
  })
  for (const fault of faults) console.log(`${fault}\n`)
  console.log(`${summary}\n${faults.length} promises broken`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
