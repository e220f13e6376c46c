/**
 * Where the time of one kind of request goes: the processor time of the service by folder and by function, and the statements of the
 * database. `BENCH_PROFILE=queued npm run bench -- profile`; the kinds are the keys of `kinds`, `sms` unless set.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startChild } from './support/child.ts'
import { byFolder, byFunction, type CpuProfile, selfTimes } from './support/cpu-profile.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { invoiceRequest } from './support/invoice.ts'
import { underLoad } from './support/load.ts'
import type { RunningService } from './support/service.ts'
import { smsRequest } from './support/sms.ts'
import { printTable } from './support/table.ts'

const { seconds, rows } = effort({ seconds: 10, rows: 25 }, { seconds: 0.2, rows: 5 })

/** Each kind of request: its path, its body, whether its document is made, and its vendor, which is the simulator unless given. */
const kinds: Record<string, { path: string, body: ReturnType<typeof smsRequest>, documents?: 'rendered', vendor?: 'instant' }> = {
  sms: { path: '/api/sms', body: smsRequest('[<id>]'), vendor: 'instant' },
  queued: { path: '/api/sms?async=true', body: smsRequest('[<id>]'), vendor: 'instant' },
  validation: { path: '/api/invoicing/validate', body: invoiceRequest('[<id>]') },
  invoice: { path: '/api/invoicing', body: invoiceRequest('[<id>]'), documents: 'rendered' }
}
const name = process.env['BENCH_PROFILE'] ?? 'sms'
const kind = kinds[name]
if (kind === undefined) throw new Error(`There is no kind "${name}"; there are ${Object.keys(kinds).join(', ')}.`)
const { path, body, documents = 'unrendered', vendor } = kind

type Statement = { statement: string, calls: string, ms: number, planning: number, rows: string }

/** The statements that took longest; those of functions are counted with their function too. */
const statements = `select left(regexp_replace(query, '\\s+', ' ', 'g'), 110) as statement, calls, total_exec_time as ms,
  total_plan_time as planning, rows from pg_stat_statements where query !~ 'pg_stat_statements' order by total_exec_time desc limit $1`

// Nobody works on what is queued.
process.env['DISPATCH_WORKER'] = 'off'

const { requests, profile, executed } = await withBenchDatabase(async ({ url: databaseUrl }, folder) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  // The server ends before the last connection has closed.
  pool.on('error', () => undefined)
  await pool.query('create extension pg_stat_statements')
  const service = await startChild<RunningService>('service.ts', [databaseUrl, folder, documents, ...vendor === undefined ? [] : [vendor]],
    {
      NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${join(folder, 'profiles')}`
    })
  const { ready: { url, bearer: authorization } } = service
  await underLoad({ url: url + path, body, authorization }, seconds / 2)
  await pool.query('select pg_stat_statements_reset()')
  const { perSecond } = await underLoad({ url: url + path, body, authorization }, seconds)
  const { rows: executed } = await pool.query<Statement>(statements, [rows])
  await service.stop()
  await pool.end()
  const [largest = ''] = globSync('profiles/*.cpuprofile', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'))
    .sort((a, b) => b.length - a.length)
  return { requests: perSecond * seconds, profile: JSON.parse(largest) as CpuProfile, executed }
}, { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'all', 'pg_stat_statements.track_planning': 'on' })

const times = selfTimes(profile, seconds)
const share = (part: number): object => ({ '% of the processor time': (part * 100).toFixed(1) })
const ranked = (shares: ReadonlyMap<string, number>): Record<string, object> =>
  Object.fromEntries([...shares].sort(([, a], [, b]) => b - a).slice(0, rows).map(([name, part]) => [name, share(part)]))

printTable(ranked(byFolder(times)))
printTable(ranked(byFunction(times)))
printTable(executed.map(({ statement, calls, ms, planning, rows }) => ({
  statement,
  'calls a request': (Number(calls) / requests).toFixed(2),
  'µs a request': Math.round(ms / requests * 1000),
  'planning, µs': Math.round(planning / requests * 1000),
  'rows a request': (Number(rows) / requests).toFixed(2)
})))
