import type { AuditAuthor } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { ContactBody, ContactView, OwnDetails } from '../contract/contacts.ts'
import { addContact, changeContact, type ContactFilter, type ContactRow, listContacts, maxContacts, readContact, readOwnDetails,
  removeContact, writeOwnDetails } from '../store/contacts.ts'

/** Contacts of companies, and who these are on their documents. Who changes them does so for their own company. */
export type Contacts = {
  /** By name. */
  list: (companyId: number, desired: ContactFilter) => Promise<ContactView[]>
  /** Throws `not_found`. */
  read: (companyId: number, id: string) => Promise<ContactView>
  /** Throws `conflict` where the company has as many as it can keep. */
  add: (author: AuditAuthor, body: ContactBody) => Promise<ContactView>
  /** Replaces what is kept of a contact. Throws `not_found`. */
  change: (author: AuditAuthor, id: string, body: ContactBody) => Promise<ContactView>
  /** Throws `not_found`. */
  remove: (author: AuditAuthor, id: string) => Promise<void>
  own: (companyId: number) => Promise<OwnDetails>
  /** The same with since when that is. */
  ownSince: (companyId: number) => Promise<{ details: OwnDetails, since?: Date }>
  setOwn: (author: AuditAuthor, details: OwnDetails) => Promise<OwnDetails>
}

export const contacts = token<Contacts>('contacts')

/** The contacts of companies. Throws `not_found` for one that is not there, `conflict` beyond the most contacts of a company. */
export function createContacts ({ database, now }: { database: Database, now: () => Date }): Contacts {
  const by = (author: AuditAuthor): { author: AuditAuthor, at: Date } => ({ author, at: now() })
  return {
    list: async (companyId, desired) => (await listContacts(database, companyId, desired)).map(viewOf),
    read: async (companyId, id) => found(await readContact(database, companyId, id), id),
    async add (author, body) {
      const row = await addContact(database, body, by(author))
      if (row !== undefined) return viewOf(row)
      throw new DispatchError('conflict', `The company has ${maxContacts} contacts, which is the most: delete one first.`, {
        reason: 'at_most'
      })
    },
    change: async (author, id, body) => found(await changeContact(database, id, body, by(author)), id),
    async remove (author, id) {
      if (!await removeContact(database, id, by(author))) notFound(id)
    },
    own: async (companyId) => (await readOwnDetails(database, companyId)).details,
    ownSince: (companyId) => readOwnDetails(database, companyId),
    async setOwn (author, details) {
      await writeOwnDetails(database, details, by(author))
      return details
    }
  }
}

function found (row: ContactRow | undefined, id: string): ContactView {
  return row === undefined ? notFound(id) : viewOf(row)
}

function notFound (id: string): never {
  throw new DispatchError('not_found', `You have no contact ${id}.`)
}

function viewOf ({ contact_id: id, name, details, created_at: created, updated_at: updated }: ContactRow): ContactView {
  return { id, name, ...details, createdAt: created.toISOString(), updatedAt: updated.toISOString() }
}
