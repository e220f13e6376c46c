/** Kills the service again and again: `npm run test:crash`, with `--kills 500`, `--seed 1` for the same run once more. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { check, tellFault, underWay, type Fault } from './check.ts'
import { place, send, type Told } from './client.ts'
import type { CrashDatabase } from './database.ts'
import { openHouse, type House } from './house.ts'
import { planLives, type Disturbance, type Life } from './plan.ts'
import { createRandom } from './random.ts'

/** `faults` are to be read, with the timelines that show them. */
export type Report = { faults: string[], summary: string }
/** `working`: how many processes only work. `linger`: seconds after everything is quiet, for what is to be found out later. `log`: a file for what the processes have to say. */
export type Options = { seed: number, kills: number, working?: number, linger?: number, log?: string, say?: (line: string) => void }

/** Seconds after the last life within which every client is answered. */
const answeredWithin = 30
const serving = 2

/** Lives and deaths as the seed says, and what came of all that was asked for. */
export async function runCrash ({ seed, kills, working = 0, linger = 0, log, say = () => undefined }: Options): Promise<Report> {
  const house = await openHouse({ serving, working, log })
  try {
    const lives = planLives(createRandom(seed), { count: kills, receiver: house.receiver.url })
    const over = new AbortController()
    const placed: Promise<Told>[] = []
    const caught = new Map<string, number>()
    for (const [index, life] of lives.entries()) {
      placed.push(...await live(house, life, index % serving, over.signal))
      await note(caught, house.database, life)
      if (index % 25 === 24) say(`${index + 1} of ${kills} lives`)
    }
    setTimeout(() => over.abort(), answeredWithin * 1000).unref()
    const told = await Promise.all(placed)
    await quiet(house)
    await pause(linger * 1000)
    const left = [...await quiet(house), ...await check(house, told)]
    const faults = [...left, ...left.length > 0 ? [] : await resolveDoubts(house, told), ...house.processes.flatMap(({ gaveUp }) => gaveUp.map((how): Fault => ({ rule: 'a process outlives its database', facts: how })))]
    return { faults: await Promise.all(faults.map((fault) => tellFault(house.database, fault))), summary: await summarise(house, { seed, caught, told }) }
  } finally {
    await house.close()
  }
}

/** One life: a burst of requests, and the death of the process that gets them first. */
async function live (house: House, { orders, killedAt, killed, disturbance }: Life, victim: number, over: AbortSignal): Promise<Promise<Told>[]> {
  const { processes, urls, token, database } = house
  const child = await processes[victim]?.ready()
  const doomed = killed === 'all' ? await Promise.all(processes.map((process) => process.ready())) : [child]
  const nearest = [...urls.slice(victim), ...urls.slice(0, victim)]
  const placed = orders.map(async (order) => {
    await pause(order.at)
    return place(order, nearest, token, over)
  })
  await Promise.all([...doomed.map((one) => kill(one, killedAt)), disturb(database, disturbance)])
  return placed
}

/** A process that the vendor had killed meanwhile stays dead; the one that took its place is not harmed. */
async function kill (child: ChildProcess | undefined, at: number): Promise<void> {
  await pause(at)
  child?.kill('SIGKILL')
}

async function disturb (database: CrashDatabase, disturbance: Disturbance | undefined): Promise<void> {
  if (disturbance === undefined) return
  await pause(disturbance.at)
  await database[disturbance.what]()
}

/** Notes how far the requests of a life had come when it ended: the last event of their dispatches, if they had begun and not ended. */
async function note (caught: Map<string, number>, { rows }: CrashDatabase, { orders, disturbance }: Life): Promise<void> {
  // The database may have been away itself.
  if (disturbance !== undefined) return
  const last = await rows<{ kind: string }>(`
    select distinct on (dispatch_id) kind from events join dispatches using (dispatch_id)
    where dispatches.status in ('queued', 'running') and metadata->>'order' in (${orders.map(({ number }) => `'${number}'`).join()}) order by dispatch_id, event_id desc`)
  for (const { kind } of last) caught.set(kind, (caught.get(kind) ?? 0) + 1)
}

/** Waits until nothing is under way any more, or something is stuck: that is what it resolves to. The vendor may still have the service killed meanwhile. */
async function quiet ({ processes, database }: House): Promise<Fault[]> {
  for (;;) {
    await Promise.all(processes.map((process) => process.ready()))
    const { count, stuck } = await underWay(database, Math.max(...processes.flatMap(({ kills }) => kills)))
    if (count === 0 || stuck.length > 0) return stuck
    await pause(250)
  }
}

/** A person says of every step that nobody can tell of what the vendor holds; then nothing is held any more, and the rest is as before. */
async function resolveDoubts (house: House, told: readonly Told[]): Promise<Fault[]> {
  const held = new Set((await house.vendor.receipts()).filter((receipt) => receipt.held && receipt.service === 'sms').map(({ order }) => order))
  const doubts = await house.database.rows<{ dispatch_id: string, order: string }>("select dispatch_id, metadata->>'order' as order from dispatches join steps using (dispatch_id) where steps.status = 'uncertain' and steps.service = 'sms'")
  for (const { dispatch_id: id, order } of doubts) {
    const body = { outcome: held.has(order) ? 'accepted' : 'rejected', reason: 'The vendor was asked on the telephone.' }
    const answer = await send(house.urls[0] ?? '', `/api/v1/dispatches/${id}/resolve`, { token: house.token, body })
    if (answer?.status !== 200) return [{ rule: 'a person can say what became of a step', dispatchId: id, facts: answer }]
  }
  return check(house, told)
}

async function summarise ({ processes, database }: House, { seed, caught, told }: { seed: number, caught: Map<string, number>, told: readonly Told[] }): Promise<string> {
  const statuses = await database.rows<{ status: string, count: number }>('select status, count(*)::int from dispatches group by 1 order by 1')
  const counts = (list: Iterable<readonly [string, number]>): string => [...list].map(([name, count]) => `${count} ${name}`).join(', ')
  return [
    `seed ${seed}: ${processes.reduce((sum, { kills }) => sum + kills.length, 0)} processes killed, ${told.length} requests`,
    `when killed, dispatches were: ${counts(caught)}`,
    `in the end, they are: ${counts(statuses.map(({ status, count }) => [status, count]))}`
  ].join('\n')
}

if (import.meta.main) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const { values: { kills, seed, working, linger, log } } = parseArgs({ options: { kills: { type: 'string', default: '500' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) }, working: { type: 'string', default: '1' }, linger: { type: 'string', default: '100' }, log: { type: 'string' } } })
  const { faults, summary } = await runCrash({ seed: Number(seed), kills: Number(kills), working: Number(working), linger: Number(linger), ...(log === undefined ? {} : { log }), say: (line) => { console.log(line) } })
  for (const fault of faults) console.log(`${fault}\n`)
  console.log(`${summary}\n${faults.length} promises broken`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
