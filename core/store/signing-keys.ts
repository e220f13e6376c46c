import { sql } from 'kysely'
import type { Envelope } from '../access/keyring.ts'
import type { KeyStore, StoredKey } from '../access/signing-keys.ts'
import type { Database } from './database.ts'

/** The keys that all processes share, sealed; no company reaches them. */
export function createKeyStore ({ owner }: Database): KeyStore {
  const load: KeyStore['load'] = async (purpose) => {
    const rows = await owner.selectFrom('signing_keys').select(['key_id', 'sealed', 'created_at']).where('purpose', '=', purpose)
      .orderBy('created_at', 'desc').orderBy('key_id').execute()
    return rows.map((row): StoredKey => ({ kid: row.key_id, createdAt: row.created_at, secret: row.sealed as Envelope }))
  }
  return {
    load,
    async insertIfAbsent (purpose, key) {
      await owner.transaction().execute(async (queries) => {
        // Two first processes must not make two keys: the lock ends with the transaction.
        await sql`lock table signing_keys in exclusive mode`.execute(queries)
        const present = await queries.selectFrom('signing_keys').select('key_id').where('purpose', '=', purpose).limit(1).executeTakeFirst()
        if (present === undefined) await queries.insertInto('signing_keys').values({ key_id: key.kid, purpose, sealed: JSON.stringify(key.secret), created_at: key.createdAt }).execute()
      })
      return load(purpose)
    }
  }
}
