import { type Retention, retentionInEffect } from '@dispatch/contract'
import type { CompanyQueries, Database } from '@dispatch/database'
import { sql } from 'kysely'

/** The data of a company of which a dispatch has one of these services are kept for so many days. */
export type RetentionRule = { companyId: number, days: number, services: readonly string[] }

const unset: Retention = { days: null, services: {} }

/** The days for which a company keeps its data, where it has set them. */
export async function readRetention (queries: CompanyQueries, companyId: number): Promise<Retention> {
  const row = await queries.selectFrom('retentions').select(['days', 'services']).where('company_id', '=', companyId).executeTakeFirst()
  return row ?? unset
}

/** Stores it; one that says nothing is removed. */
export async function setRetention (queries: CompanyQueries, companyId: number, { days, services }: Retention): Promise<void> {
  if (days === null && Object.keys(services).length === 0) {
    await queries.deleteFrom('retentions').where('company_id', '=', companyId).execute()
    return
  }
  const stored = { days, services: JSON.stringify(services) }
  await queries.insertInto('retentions').values({ company_id: companyId, ...stored })
    .onConflict((conflict) => conflict.column('company_id').doUpdateSet(stored)).execute()
}

/** The rules of all companies that are shorter than the operator's. */
export async function listRetentionRules ({ owner }: Pick<Database, 'owner'>, operatorDays: number): Promise<RetentionRule[]> {
  const rows = await owner.selectFrom('retentions').select(['company_id', 'days', 'services']).orderBy('company_id').execute()
  return rows.flatMap(({ company_id: companyId, ...retention }) => {
    const inEffect = Object.entries(retentionInEffect(retention, operatorDays)).filter(([, days]) => days < operatorDays)
    return [...Map.groupBy(inEffect, ([, days]) => days)].map(([days, of]) => ({
      companyId,
      days,
      services: of.map(([service]) => service)
    }))
  })
}

/** When the bytes of a document are deleted: when it expires, or sooner where its company keeps the data of its services for less. */
export async function documentLastsUntil (database: Database, companyId: number, documentId: string): Promise<Date | undefined> {
  return database.reading(companyId, async (queries) => {
    const { rows: [found] } = await sql<{ until: Date }>`
      select least(documents.expires_at, documents.created_at + make_interval(days => (
          select min(coalesce((retentions.services->>service)::integer, days)) from unnest(dispatches.services) as service))) as until
      from documents join dispatches using (company_id, dispatch_id) left join retentions using (company_id)
      where company_id = ${companyId} and document_id = ${documentId}`.execute(queries)
    return found?.until
  })
}
