import { domainToASCII } from 'node:url'
import { DispatchError } from '../contract/errors.ts'
import type { Database } from '../store/db/database.ts'
import { domainHolder } from '../store/tenants/single-sign-on.ts'

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
  throw new DispatchError('conflict', 'The domain of this e-mail address belongs to another company: use an address of your own.')
}
