import type { JsonObject } from '@dispatch/common'
import type { Mode, ServicePath } from '@dispatch/contract'
import pg from 'pg'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { openBenchApp } from './bench-app.ts'
import { type Rate, rateOf } from './measure.ts'
import { recordScript, replay, type Script } from './statements.ts'

/** The number of connections of the service to its database. */
const connections = 10

/** The work of a dispatch. `bodyOf` makes a body that contains a unique word. `vendor`: the simulator unless given. */
export type RecordOptions = {
  databaseUrl: string
  folder: string
  services: ServicePath
  bodyOf: (word: string) => JsonObject
  mode?: Mode
  vendor?: string
}

/** The statements of a real dispatch without its document. */
export async function recordDispatch ({ databaseUrl, folder, services, bodyOf, mode = 'synchronous', vendor }: RecordOptions): Promise<
  Script
> {
  const { app, config, users: [user] } = await openBenchApp({
    databaseUrl,
    folder,
    documents: 'unrendered',
    vendor,
    log: createLogger('warn')
  })
  const actor = await app.get('authentication').authenticate(`Basic ${btoa(`${user.email}:${user.password}`)}`, config.host)
  const dispatch = (word: string): Promise<unknown> =>
    app.get('pipeline').dispatch({ actor, services, body: bodyOf(word), requestId: word, mode })
  // The first one also fills the caches.
  await dispatch('first')
  const script = await recordScript('recorded-number', () => dispatch('recorded-number'))
  await app.close()
  return script
}

/** The same, replayed as often as it can be. */
export async function prepareReplay ({ seconds, ...options }: RecordOptions & { seconds: number }): Promise<
  { rate: Rate, close: () => Promise<void> }
> {
  const { databaseUrl } = options
  const script = await recordDispatch(options)
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections })
  // The server ends before the last connection has closed.
  pool.on('error', () => undefined)
  await assertDispatches(pool, script)
  return { rate: rateOf(seconds, () => replay(pool, script)), close: () => pool.end() }
}

/** The statements alone must have the same effect as the dispatch: a baseline that does less proves nothing. */
async function assertDispatches (pool: pg.Pool, script: Script): Promise<void> {
  const before = await latest(pool)
  await replay(pool, script)
  const after = await latest(pool)
  const [dispatches, status] = [Number(after.dispatches) - Number(before.dispatches), after.status]
  if (dispatches !== 1 || status !== before.status) {
    throw new Error(`The recorded statements made ${dispatches} dispatches, the last ${status}; the real one is ${before.status}.`)
  }
}

type Latest = { dispatches: string, status: string }

async function latest (pool: pg.Pool): Promise<Latest> {
  const { rows: [row] } = await pool.query<Latest>(
    'select count(*) over () as dispatches, status from dispatches order by created_at desc limit 1'
  )
  if (row === undefined) throw new Error('There is no dispatch.')
  return row
}
