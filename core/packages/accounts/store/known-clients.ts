import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import type { KnownClients } from '../access/brute-force-guard.ts'

/** Milliseconds for which a client is known after its last login, and after which the time of that login is written again. */
const day = 24 * 3600 * 1000
export const clientsKnownFor = 30 * day
const writtenEvery = day

/** Stores in the database from which clients users have logged in. */
export function createKnownClients ({ owner }: Database, now: () => Date): KnownClients {
  const ago = (milliseconds: number): Date => new Date(now().getTime() - milliseconds)
  return {
    async amongKnown (users, client) {
      const { rows } = await sql<{ user_id: number }>`select user_id from known_clients where user_id = any(${[...users]}::integer[])
        and client = ${client} and last_at > ${ago(clientsKnownFor)}`.execute(owner)
      return rows.map((row) => row.user_id)
    },
    async remember (userId, client) {
      await sql`insert into known_clients (user_id, client, last_at) values (${userId}, ${client}, ${now()})
        on conflict (user_id, client) do update set last_at = excluded.last_at where known_clients.last_at < ${ago(writtenEvery)}`.execute(
        owner
      )
    }
  }
}
