import { DispatchError } from '@dispatch/contract'
import { asOwner, type CompanyQueries, type OwnerQueries } from '@dispatch/database'
import type { OtherProviders } from '@dispatch/host'
import { sql } from 'kysely'

/** Providers that come from elsewhere than the directories, and that an operator can remove while the service runs: adapters. */
export type ProviderSource = {
  /** Asked before the service starts, and at each reload. */
  load: OtherProviders
  /** Those of these codes that are not removed, as a transaction sees them. Who removes one holds its lock ({@link lockAdapter}). */
  present: (queries: OwnerQueries, codes: readonly string[]) => Promise<readonly string[]>
}

/** Keeps everybody else from changing an adapter, and from storing that it is needed, until the transaction ends. */
export async function lockAdapter (queries: OwnerQueries, code: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${keyOf(code)})`.execute(queries)
}

/** Adapters, by their codes, and the sources that they may come from. */
type NeededAdapters = { codes: readonly string[], sources: readonly Pick<ProviderSource, 'present'>[] }

/**
 * Stores that a company needs adapters. None of them is removed meanwhile: a removal that comes later finds what was stored. Throws
 * `conflict`, and nothing is stored, where one was removed before.
 */
export async function needAdapters<T> (queries: CompanyQueries, { codes, sources }: NeededAdapters, store: () => Promise<T>): Promise<T> {
  // All take the locks in one order, before any lock of a row, so that nobody waits for each other.
  for (const code of codes.toSorted()) await sql`select pg_advisory_xact_lock_shared(${keyOf(code)})`.execute(queries)
  const stored = await store()
  if (codes.length > 0) await requirePresent(await asOwner(queries), { codes, sources })
  return stored
}

async function requirePresent (queries: OwnerQueries, { codes, sources }: NeededAdapters): Promise<void> {
  const found = new Set<string>()
  for (const { present } of sources) for (const code of await present(queries, codes)) found.add(code)
  const gone = codes.find((code) => !found.has(code))
  if (gone === undefined) return
  const message = `An operator has just removed the provider "${gone}": nothing was stored.`
  throw new DispatchError('conflict', message, { details: [{ path: '', code: 'adapter_removed', message }] })
}

const keyOf = (code: string) => sql`hashtextextended(${`adapter ${code}`}, 0)`
