import { type CompanyDomains, DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { domainToASCII } from 'node:url'
import type { AuditAuthor } from '../audit/audit.ts'
import { domainHolder, readDomains, storeDomains } from '../store/domains.ts'

/** The domain of an e-mail address, as it is in the DNS. */
export const domainOf = (email: string): string => domainToASCII(email.slice(email.lastIndexOf('@') + 1)).replace(/\.$/, '')

/** Whether an operator has given the domain of an e-mail address to another company. */
export async function isOfOther (database: Database, companyId: number, email: string): Promise<boolean> {
  const holder = await domainHolder(database, domainOf(email))
  return holder !== undefined && holder !== companyId
}

/** Throws `conflict` for an e-mail address whose domain belongs to another company: that one lets its people in. */
export async function refuseDomainOfOther (database: Database, companyId: number, email: string): Promise<void> {
  if (!await isOfOther(database, companyId, email)) return
  throw new DispatchError('conflict', 'The domain of this e-mail address belongs to another company: use an address of your own.', {
    reason: 'domain_taken'
  })
}

/** The domains of e-mail addresses that operators have given to companies. */
export type Domains = {
  /** Reads the domains of a company; undefined when there is none. */
  read: (companyId: number) => Promise<CompanyDomains | undefined>
  /** Sets them. Throws `conflict` for a domain of another company. Undefined when there is no such company. */
  set: (by: { author: AuditAuthor }, companyId: number, domains: CompanyDomains) => Promise<CompanyDomains | undefined>
}

/** Creates the domains of companies. What its functions throw is said at {@link Domains}. */
export function createDomains ({ database, now }: { database: Database, now: () => Date }): Domains {
  return {
    async read (companyId) {
      const domains = await readDomains(database, companyId)
      return domains && { domains }
    },

    async set ({ author }, companyId, { domains }) {
      const stored = await storeDomains(database, companyId, domains, { author, at: now() })
      if (stored?.taken !== undefined) {
        throw new DispatchError('conflict', `The domain ${stored.taken} is another company's.`, { reason: 'domain_taken' })
      }
      return stored && { domains: domains.toSorted() }
    }
  }
}
