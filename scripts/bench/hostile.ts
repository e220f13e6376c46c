import { setTimeout as pause } from 'node:timers/promises'
import { startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { invoiceRequest } from './support/invoice.ts'
import { ask, post } from './support/post.ts'
import type { RunningService } from './support/service.ts'
import { smsRequest } from './support/sms.ts'
import { printTable } from './support/table.ts'

/**
 * A hostile company holds all that it can get of one thing that companies share, or 300 addresses ask with made-up passwords and keys, or
 * all of it happens at once. Beside them another company works: the 99th percentile of what it does is compared with the one of quiet
 * periods, each just before an attack. The service, the attackers and the measuring process are separate processes. The rate limits are
 * those of the service, so both companies send many users, and each attack comes from users and addresses of its own.
 */

/** `measured`: how often each act is done in one period. One of few acts is slow for the disk's sake: so there are several periods. */
const { attacks, measured, rounds } = effort({
  attacks: ['passwords', 'dispatches', 'slow bodies', 'long bodies', 'bodies of a million objects', 'documents', 'queued dispatches',
    'lists', 'streams', '300 addresses', 'all at once'],
  measured: 60,
  rounds: 3
}, { attacks: ['all at once'], measured: 5, rounds: 1 })
const users = 30
const attackingUsers = 40
/** Milliseconds between two acts. */
const every = 20
const wanted = 3

/** No number is used twice. */
let invoices = 0

type Act = (service: RunningService, number: number) => Promise<number>

/** What the company does, by the shared things that it needs beside connections to the database. */
const acts: Readonly<Record<string, Act>> = {
  'a dispatch': ({ url, bearers }, number) => post(url, '/api/sms', smsRequest(String(number)), bearers[number % users]),
  'a document: threads': ({ url, bearers }, number) =>
    post(url, '/api/invoicing', invoiceRequest(`B-${++invoices}`), bearers[number % users]),
  'a queued dispatch: the intake': ({ url, bearers }, number) =>
    post(url, '/api/sms?async=true', smsRequest(`Q-${number}`), bearers[number % users]),
  'a password: hashing': ({ url, basics }, number) => ask(url, '/api/v1/credits', { authorization: basics[number % users] }),
  'a list': ({ url, bearers }, number) => ask(url, '/api/v1/dispatches?limit=25', { authorization: bearers[number % users] })
}

await withBenchDatabase(async ({ url }, folder) => {
  const service = await startChild<RunningService>('service.ts', [url, folder, 'rendered'], {
    DISPATCH_AUTH_LIMIT: '10',
    DISPATCH_DISPATCH_LIMIT: '100',
    BENCH_USERS: String(users)
  })
  // Another company; its process only runs jobs of the queue.
  const other = await startChild<RunningService>('service.ts', [url, folder, 'rendered'], {
    DISPATCH_WORKER: 'off',
    BENCH_USERS: String(attackingUsers * rounds * attacks.length)
  })
  try {
    printTable(await compare(service.ready, { ...other.ready, url: service.ready.url }))
  } finally {
    await Promise.all([service.stop(), other.stop()])
  }
})

async function compare (victim: RunningService, { url, bearers }: RunningService): Promise<Record<string, object>> {
  await Promise.all([spell(victim), spell(victim)])
  const rows: Record<string, object> = {}
  let begun = 0
  for (const attack of attacks) {
    const quiet: number[] = []
    const hostile: number[] = []
    for (let round = 0; round < rounds; round++) {
      quiet.push(...await spell(victim))
      const attacking = bearers.slice(begun * attackingUsers, (begun + 1) * attackingUsers)
      const attackers = await startChild('attacker.ts', [url, attack, String(++begun), ...attacking])
      await pause(1000)
      hostile.push(...await spell(victim))
      await attackers.stop()
      await pause(3000)
    }
    rows[attack] = row(quiet, hostile)
  }
  return rows
}

/** How many milliseconds each act took. They begin at regular intervals, whether or not earlier ones have been answered. */
async function spell (service: RunningService): Promise<number[]> {
  const answers: Promise<number>[] = []
  for (let number = 0; number < measured; number++) {
    for (const [name, act] of Object.entries(acts)) {
      answers.push(timed(name, () => act(service, number)))
      await pause(every)
    }
  }
  return await Promise.all(answers)
}

async function timed (name: string, work: () => Promise<number>): Promise<number> {
  const begun = performance.now()
  const status = await work()
  if (status < 200 || status > 299) throw new Error(`The company that is measured was answered ${status}: ${name}.`)
  return performance.now() - begun
}

function row (quiet: readonly number[], hostile: readonly number[]): object {
  const ratio = percentile(hostile, 99) / percentile(quiet, 99)
  return {
    'quiet p50 ms': rounded(percentile(quiet, 50)),
    'p50 ms': rounded(percentile(hostile, 50)),
    'quiet p99 ms': rounded(percentile(quiet, 99)),
    'p99 ms': rounded(percentile(hostile, 99)),
    'of the quiet p99': `${rounded(ratio)}×`,
    wanted: `< ${wanted}×`
  }
}

function percentile (values: readonly number[], of: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * of / 100)] ?? NaN
}

function rounded (value: number): number {
  return Math.round(value * 10) / 10
}
