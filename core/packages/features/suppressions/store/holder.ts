import { type Holder, tableHolder } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import { tablesIn } from './suppressions.ts'

/** An address of a channel of a company. */
export type ChannelAddress = { companyId: number, channel: string, address: string }

/** What stands in place of the address of somebody who was erased, and to whom nothing is sent all the same. */
export type AddressHashes = (of: ChannelAddress) => string

/** A suppression stays, so that nothing is sent to the person: as a hash, and without what was written of them. */
export function suppressionsHolder (database: Database, hashOf: AddressHashes): Holder {
  return tableHolder(database, {
    kind: 'suppressions',
    table: 'suppressions',
    key: sql`suppression_id`,
    type: 'uuid',
    async erase (queries, { companyId, person }, ids) {
      const tables = tablesIn(queries)
      const rows = await tables.selectFrom('suppressions').select(['suppression_id', 'channel', 'address', 'note'])
        .where('company_id', '=', companyId).where('suppression_id', 'in', ids).execute()
      for (const { suppression_id: id, channel, address, note } of rows) {
        const hashed = person.isIn(address) ? hashOf({ companyId, channel, address }) : address
        const same = hashed !== address && await tables.selectFrom('suppressions').select('address').where('company_id', '=', companyId)
              .where('channel', '=', channel).where('address', '=', hashed).executeTakeFirst() !== undefined
        const own = { company_id: companyId, suppression_id: id }
        if (same) await tables.deleteFrom('suppressions').where((where) => where.and(own)).execute()
        else {
          await tables.updateTable('suppressions').set({ address: hashed, note: note !== null && person.isIn(note) ? null : note })
            .where((where) => where.and(own)).execute()
        }
      }
      return rows.length
    }
  })
}
