import type { JsonObject, Mode, ServicePath } from '@dispatch/core'
import pg from 'pg'
import { createLogger } from '../../../plugins/logging.ts'
import { openHouse } from './house.ts'
import { rateOf, type Rate } from './measure.ts'
import { recordScript, replay } from './statements.ts'

/** As many connections as the service has to its database. */
const connections = 10

/** What is dispatched; `bodyOf` makes a body that holds a word of its own. */
export type Dispatching = { databaseUrl: string, folder: string, services: ServicePath, bodyOf: (word: string) => JsonObject, mode?: Mode, seconds: number }

/** The statements of a real dispatch without its document, replayed. */
export async function replayed ({ databaseUrl, folder, services, bodyOf, mode = 'synchronous', seconds }: Dispatching): Promise<{ rate: Rate, close: () => Promise<void> }> {
  const { house, config, users: [user] } = await openHouse({ databaseUrl, folder, documents: 'unrendered', log: createLogger('warn') })
  const actor = await house.get('authentication').authenticate(`Basic ${btoa(`${user.email}:${user.password}`)}`, config.host)
  const dispatch = (word: string): Promise<unknown> => house.get('pipeline').dispatch({ actor, services, body: bodyOf(word), requestId: word, mode })
  // The first one also fills the caches.
  await dispatch('first')
  const script = await recordScript('recorded-number', () => dispatch('recorded-number'))
  await house.close()
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections })
  // The server ends before the last of them has gone.
  pool.on('error', () => undefined)
  return { rate: rateOf(seconds, () => replay(pool, script)), close: () => pool.end() }
}
