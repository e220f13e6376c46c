import { sql } from 'kysely'
import { DispatchError } from '../../contract/errors.ts'
import { asOwner, type CompanyQueries, type OwnerQueries } from '../db/database.ts'

/** Keeps everybody else from changing an adapter, and from storing that it is needed, until the transaction ends. */
export async function lockAdapter (queries: OwnerQueries, code: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${keyOf(code)})`.execute(queries)
}

/**
 * Stores that a company needs adapters. None of them is removed meanwhile: a removal that comes later finds what was stored. Throws
 * `conflict`, and nothing is stored, where one was removed before.
 */
export async function needAdapters<T> (queries: CompanyQueries, codes: readonly string[], store: () => Promise<T>): Promise<T> {
  // All take the locks in one order, before any lock of a row, so that nobody waits for each other.
  for (const code of codes.toSorted()) await sql`select pg_advisory_xact_lock_shared(${keyOf(code)})`.execute(queries)
  const stored = await store()
  if (codes.length > 0) await requireInstalled(await asOwner(queries), codes)
  return stored
}

async function requireInstalled (queries: OwnerQueries, codes: readonly string[]): Promise<void> {
  const found = await queries.selectFrom('adapters').select('code').where('code', 'in', codes).execute()
  const gone = codes.find((code) => found.every((one) => one.code !== code))
  if (gone === undefined) return
  const message = `An operator has just removed the provider "${gone}": nothing was stored.`
  throw new DispatchError('conflict', message, { details: [{ path: '', code: 'adapter_removed', message }] })
}

const keyOf = (code: string) => sql`hashtextextended(${`adapter ${code}`}, 0)`
