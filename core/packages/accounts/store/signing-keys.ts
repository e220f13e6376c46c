import type { Envelope } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import type { KeyStore, StoredKey } from '../access/signing-keys.ts'

/** The sealed keys that all processes share. Companies cannot read them. */
export function createKeyStore ({ owner }: Database): KeyStore {
  const load: KeyStore['load'] = async (purpose) => {
    const rows = await owner.selectFrom('signing_keys').select(['key_id', 'sealed', 'created_at']).where('purpose', '=', purpose)
      .orderBy('created_at', 'desc').orderBy('key_id').execute()
    return rows.map((row): StoredKey => ({ kid: row.key_id, createdAt: row.created_at, secret: row.sealed as Envelope }))
  }
  return {
    load,
    async insertUnlessNewer (purpose, key, since) {
      await owner.transaction().execute(async (queries) => {
        // Only one process may make a key: the lock ends with the transaction.
        await sql`lock table signing_keys in exclusive mode`.execute(queries)
        const newer = await queries.selectFrom('signing_keys').select('key_id').where('purpose', '=', purpose).where('created_at', '>',
          since).limit(1).executeTakeFirst()
        if (newer === undefined) {
          await queries.insertInto('signing_keys').values({
            key_id: key.kid,
            purpose,
            sealed: JSON.stringify(key.secret),
            created_at: key.createdAt
          }).execute()
        }
      })
      return load(purpose)
    },
    async remove (purpose, kids) {
      if (kids.length > 0) await owner.deleteFrom('signing_keys').where('purpose', '=', purpose).where('key_id', 'in', [...kids]).execute()
    }
  }
}
