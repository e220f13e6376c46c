import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { Database } from '@dispatch/database'
import type { PassedTrials, Pin, Pins, Publisher } from '@dispatch/host'
import { columns } from '@dispatch/tables'
import { sql } from 'kysely'

/** Pins of provider codes, for all processes. */
export function createPins ({ owner, now }: Database): Pins {
  return {
    async claim (code, candidate) {
      const found = await owner.selectFrom('provider_pins').select(columns.provider_pins).where('code', '=', code).executeTakeFirst()
      if (found !== undefined) return { packageName: found.package_name, author: found.author, folder: found.folder }
      const { packageName, author, folder } = candidate
      await owner.insertInto('provider_pins').values({ code, package_name: packageName, author, folder, at: now })
        .onConflict((conflict) => conflict.doNothing()).execute()
      return await this.claim(code, candidate)
    }
  }
}

/** Gives a code, and the secrets that are stored for it, to another publisher. Answers whether the code was anybody's. */
export async function changePublisher (
  { owner }: Database,
  { companyId, code, packageName, author }: Publisher & { companyId: number, code: string },
  stamp: AuditStamp
): Promise<boolean> {
  return await owner.transaction().execute(async (queries) => {
    const before = await queries.selectFrom('provider_pins').select(columns.provider_pins).where('code', '=', code).forUpdate()
      .executeTakeFirst()
    if (before === undefined) return false
    await queries.updateTable('provider_pins').set({ package_name: packageName, author, at: stamp.at }).where('code', '=', code).execute()
    await sql`update provider_reloads set number = number + 1`.execute(queries)
    await noteAudit(queries, {
      companyId,
      action: 'provider.publisher_changed',
      object: { kind: 'provider', id: code },
      facts: { from: publisherOf(before), to: { packageName, author } },
      ...stamp
    })
    return true
  })
}

function publisherOf ({ package_name: packageName, author }: { package_name: string, author: string | null }): Omit<Pin, 'folder'> {
  return { packageName, author }
}

/** Folders that have passed their trial, for all processes and later starts. */
export function createPassedTrials ({ owner, now }: Database): PassedTrials {
  return {
    async among (keys) {
      if (keys.length === 0) return new Set()
      const rows = await owner.selectFrom('provider_trials').select('key').where('key', 'in', [...keys]).execute()
      return new Set(rows.map(({ key }) => key))
    },
    async add (keys) {
      await owner.insertInto('provider_trials').values(keys.map((key) => ({ key, at: now }))).onConflict((conflict) => conflict.doNothing())
        .execute()
    }
  }
}
