import type { Log } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import type pg from 'pg'

/**
 * An index on a table that may have millions of rows. `on`: the table, and what of it. It is not unique: nothing may rely on it.
 * `instead`: the index that it makes superfluous, which is dropped once it is there. `extensions`: what it needs of PostgreSQL; where a
 * database does not have them and cannot get them, there is no such index.
 */
export type ConcurrentIndex = { name: string, on: string, instead?: string, extensions?: readonly string[] }

/**
 * Indexes that are made while everybody works, after the migrations: `create index concurrently` cannot be part of a transaction, and
 * takes as long as the table is big. Until then statements are slower, and right. One that is not wanted any more is dropped by a
 * migration, in the release that takes it from here.
 */
export const concurrentIndexes: readonly ConcurrentIndex[] = [
  { name: 'audit_action', on: 'audit (company_id, action, audit_id desc)' },
  { name: 'callbacks_failed', on: 'callbacks (company_id, callback_id desc) where state = \'failed\'' },
  { name: 'dispatches_user', on: 'dispatches (company_id, user_id, dispatch_id desc) where user_id is not null' },
  { name: 'steps_provider', on: 'steps (company_id, provider_code, dispatch_id desc) where provider_code is not null' },
  {
    name: 'steps_status',
    on: 'steps (company_id, status, dispatch_id desc) where status not in (\'planned\', \'calling\', \'accepted\')'
  },
  // The newest of a provider, whosever they are. A step is in it from its first call on.
  { name: 'steps_newest', on: 'steps (provider_code, step_id desc) where status <> \'planned\'' },
  // Most steps are accepted: they have an index of their own, for those who look for them and for something that few dispatches have.
  { name: 'steps_accepted', on: 'steps (company_id, dispatch_id desc) where status = \'accepted\'' },
  {
    name: 'steps_followed_all',
    on: 'steps (provider_code, service, step_id) where status = \'accepted\' and ' +
      'service in (\'esign\', \'postal\', \'sms\', \'email\', \'upload\', \'invoicing\') and not delivery_settled',
    instead: 'steps_followed'
  },
  { name: 'steps_delivery', on: 'steps (company_id, delivery_status, dispatch_id desc) where delivery_status is not null' },
  // Of the view step_errors.
  { name: 'steps_errors', on: 'steps (company_id, (error->>\'word\'), dispatch_id desc) where error is not null' },
  { name: 'steps_marked', on: 'steps (company_id, dispatch_id desc) where marks is not null' },
  {
    name: 'dispatches_counted',
    on: 'dispatches (company_id, dispatch_id desc) include (created_at, status, path, test)',
    instead: 'dispatches_company'
  },
  // Moments are recorded in one form (ISO 8601, UTC), and texts of it stand in their order.
  { name: 'dispatches_due', on: 'dispatches (company_id, (schedule->>\'dueAt\')) where schedule->>\'dueAt\' is not null' },
  // What companies keep for less long than the operator says is found among their own.
  { name: 'dispatches_kept', on: 'dispatches (company_id, created_at) where data is not null' },
  { name: 'documents_kept_by', on: 'documents (company_id, created_at) where removed_at is null' },
  { name: 'callbacks_kept', on: 'callbacks (company_id, created_at) where body is not null' },
  { name: 'callbacks_to_endpoints_kept', on: 'callbacks_to_endpoints (company_id, created_at) where body is not null' },
  { name: 'inbound_kept', on: 'inbound (company_id, handled_at) where company_id is not null and body <> \'\'' },
  // By the parts of numbers and recipients, once a dispatch has ended: it is written to this index once.
  {
    name: 'dispatches_text',
    on: 'dispatches using gin (company_id, dispatch_text(document_number, recipient) gin_trgm_ops) where finished_at is not null',
    extensions: ['pg_trgm', 'btree_gin']
  }
]

type Making = { log: Log, signal?: AbortSignal, indexes?: readonly ConcurrentIndex[] }

/**
 * Makes the indexes that are missing, one after the other, without limits of time; what a killed process left of one is made again. Answers
 * false where another process makes them. Aborting cancels the statement.
 */
export async function makeIndexes (database: Database, { log, signal, indexes = concurrentIndexes }: Making): Promise<boolean> {
  if ((await Promise.all(indexes.map((index) => isDone(database, index)))).every((done) => done)) return true
  return await database.session(async (client) => {
    const { rows: [mine] } = await client.query<{ taken: boolean, pid: number }>(
      'select pg_try_advisory_lock(hashtextextended(\'document-dispatch indexes\', 0)) as taken, pg_backend_pid() as pid'
    )
    if (mine?.taken !== true) return false
    const cancel = (): void => {
      void sql`select pg_cancel_backend(${mine.pid})`.execute(database.vital).catch(() => undefined)
    }
    signal?.addEventListener('abort', cancel)
    try {
      for (const index of indexes) {
        signal?.throwIfAborted()
        await make(database, client, index, log)
      }
      return true
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  })
}

async function make (database: Database, client: pg.Client, index: ConcurrentIndex, log: Log): Promise<void> {
  const state = await stateOf(database, index)
  if (state === 'valid') return dropSuperfluous(client, index)
  if (!await hasExtensions(client, index, log)) return
  const begun = performance.now()
  // Who made it held the lock that this process has now, and so is gone.
  if (state === 'invalid') await client.query(`drop index concurrently if exists ${index.name}`)
  await client.query(`create index concurrently ${index.name} on ${index.on}`)
  const [again, seconds] = [state === 'invalid', Math.round((performance.now() - begun) / 1000)]
  // On an empty database there is nothing to tell.
  log[again || seconds > 0 ? 'info' : 'debug']({ index: index.name, again, seconds }, 'an index was made')
  await dropSuperfluous(client, index)
}

/** Creates the extensions that an index needs, as the owner of a database may where its server has them. */
async function hasExtensions (client: pg.Client, { name, extensions = [] }: ConcurrentIndex, log: Log): Promise<boolean> {
  try {
    for (const extension of extensions) await client.query(`create extension if not exists ${extension}`)
    return true
  } catch (err) {
    log.warn({ err, index: name, extensions }, 'an index needs extensions that this database cannot have; what it serves is left out')
    return false
  }
}

async function dropSuperfluous (client: pg.Client, { instead }: ConcurrentIndex): Promise<void> {
  if (instead !== undefined) await client.query(`drop index concurrently if exists ${instead}`)
}

async function stateOf ({ owner }: Database, { name }: Pick<ConcurrentIndex, 'name'>): Promise<'missing' | 'invalid' | 'valid'> {
  const { rows: [found] } = await sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`.execute(owner)
  if (found === undefined) return 'missing'
  return found.valid ? 'valid' : 'invalid'
}

async function isDone (database: Database, { name, instead }: ConcurrentIndex): Promise<boolean> {
  return await stateOf(database, { name }) === 'valid' &&
    (instead === undefined || await stateOf(database, { name: instead }) === 'missing')
}

/** Milliseconds until it is tried again, where another process makes them, or where it failed. */
const triedEvery = 60_000

/** Sees to it that all indexes are there in the end. Closing it cancels the one that is being made. */
export function followIndexes (database: Database, log: Log): { close: () => Promise<void> } {
  const end = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let making = Promise.resolve()
  const begin = (): void => {
    making = makeIndexes(database, { log, signal: end.signal }).catch((err: unknown) => {
      if (!end.signal.aborted) log.warn({ err }, 'an index could not be made; it is tried again')
      return false
    }).then((made) => {
      if (!made && !end.signal.aborted) timer = setTimeout(begin, triedEvery).unref()
    })
  }
  begin()
  return {
    async close () {
      end.abort()
      clearTimeout(timer)
      await making
    }
  }
}
