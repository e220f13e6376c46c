import type { Database } from '@dispatch/database'
import { type AuditStamp, noteAudit } from '../audit/audit.ts'

/** The domains of a company; undefined when there is no such company. */
export async function readDomains ({ owner }: Database, companyId: number): Promise<string[] | undefined> {
  const rows = await owner.selectFrom('companies').leftJoin('company_domains', 'company_domains.company_id', 'companies.company_id')
    .select('domain').where('companies.company_id', '=', companyId).orderBy('domain').execute()
  return rows.length === 0 ? undefined : rows.flatMap(({ domain }) => domain ?? [])
}

/** Sets the domains of a company. Answers the first that another company has; undefined when there is no such company. */
export async function storeDomains (
  { owner }: Database,
  companyId: number,
  domains: readonly string[],
  signature: AuditStamp
): Promise<{ taken?: string } | undefined> {
  return owner.transaction().execute(async (queries) => {
    const company = await queries.selectFrom('companies').select('company_id').where('company_id', '=', companyId).forNoKeyUpdate()
      .executeTakeFirst()
    if (company === undefined) return undefined
    await queries.deleteFrom('company_domains').where('company_id', '=', companyId).execute()
    if (domains.length > 0) {
      await queries.insertInto('company_domains').values(domains.map((domain) => ({ domain, company_id: companyId })))
        .onConflict((any) => any.doNothing()).execute()
    }
    const stored = await queries.selectFrom('company_domains').select('domain').where('company_id', '=', companyId).execute()
    const taken = domains.find((domain) => !stored.some((row) => row.domain === domain))
    if (taken !== undefined) throw new DomainTaken(taken)
    const object = { kind: 'company', id: String(companyId) }
    await noteAudit(queries, { companyId, action: 'company-domains.changed', object, facts: { domains: [...domains] }, ...signature })
    return {}
  }).catch((error: unknown) => {
    if (error instanceof DomainTaken) return { taken: error.domain }
    throw error
  })
}

/** Ends the transaction that would take a domain of another company. */
class DomainTaken extends Error {
  override name = 'DomainTaken'
  readonly domain: string

  constructor (domain: string) {
    super(`${domain} is another company's.`)
    this.domain = domain
  }
}

/** The company to which an operator has given a domain. It is read as the owner: it may be another one. */
export async function domainHolder ({ owner }: Pick<Database, 'owner'>, domain: string): Promise<number | undefined> {
  const holder = await owner.selectFrom('company_domains').select('company_id').where('domain', '=', domain).executeTakeFirst()
  return holder?.company_id
}
