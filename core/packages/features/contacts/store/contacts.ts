import { type AuditAuthor, noteAudit } from '@dispatch/accounts'
import { type Holder, tableHolder } from '@dispatch/core'
import type { CompanyQueries, Database } from '@dispatch/database'
import { type ColumnType, type Selectable, sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import type { ContactBody, OwnDetails } from '../contract/contacts.ts'

type Tables = {
  contacts: {
    company_id: number
    contact_id: string
    name: string
    details: ColumnType<Omit<ContactBody, 'name'>, string, string>
    created_at: Date
    updated_at: Date
  }
  own_details: { company_id: number, details: ColumnType<OwnDetails, string, string>, updated_at: Date }
}

export type ContactRow = Selectable<Tables['contacts']>

/** Who changes something, and when. */
export type Change = { author: AuditAuthor, at: Date }

/** Which contacts are wanted: those with a text in their name, person or e-mail address, behind one of them. */
export type ContactFilter = { q?: string, limit: number, after?: string }

/** How many contacts a company keeps. */
export const maxContacts = 10_000

const columns = ['company_id', 'contact_id', 'name', 'details', 'created_at', 'updated_at'] as const

/** Contacts of a company by name. */
export async function listContacts (
  database: Database,
  companyId: number,
  { q = '', limit, after }: ContactFilter
): Promise<ContactRow[]> {
  const pattern = `%${q.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  return database.reading(companyId,
    (queries) =>
      tablesOf(queries).selectFrom('contacts').select(columns).where('company_id', '=', companyId)
        .$if(q !== '', (query) =>
          query.where(
            sql<boolean>`lower(concat_ws(' ', name, details ->> 'contact', details ->> 'email')) like ${pattern}`
          ))
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`(lower(name), contact_id) > (select lower(name), contact_id from contacts
          where company_id = ${companyId} and contact_id = ${after ?? ''})`))
        .orderBy(sql`lower(name)`).orderBy('contact_id').limit(limit).execute())
}

export async function readContact (database: Database, companyId: number, contactId: string): Promise<ContactRow | undefined> {
  return database.reading(companyId,
    (queries) =>
      tablesOf(queries).selectFrom('contacts').select(columns).where('company_id', '=', companyId).where('contact_id', '=', contactId)
        .executeTakeFirst())
}

/** Adds a contact to the author's company. Undefined where it has as many as it can keep. */
export async function addContact (database: Database, { name, ...details }: ContactBody, change: Change): Promise<ContactRow | undefined> {
  const { author: { companyId }, at } = change
  return database.company(companyId, async (queries) => {
    const tables = tablesOf(queries)
    const { count } = await tables.selectFrom('contacts').select(sql<number>`count(*)::integer`.as('count'))
      .where('company_id', '=', companyId).executeTakeFirstOrThrow()
    if (count >= maxContacts) return undefined
    const row = await tables.insertInto('contacts').values({
      company_id: companyId,
      contact_id: randomUUID(),
      name,
      details: JSON.stringify(details),
      created_at: at,
      updated_at: at
    }).returning(columns).executeTakeFirstOrThrow()
    await note(queries, 'contact.created', row.contact_id, change)
    return row
  })
}

/** Replaces what is kept of a contact of the author's company. Undefined where there is none. */
export async function changeContact (
  database: Database,
  contactId: string,
  { name, ...details }: ContactBody,
  change: Change
): Promise<ContactRow | undefined> {
  const { author: { companyId }, at } = change
  return database.company(companyId, async (queries) => {
    const row = await tablesOf(queries).updateTable('contacts').set({ name, details: JSON.stringify(details), updated_at: at })
      .where('company_id', '=', companyId).where('contact_id', '=', contactId).returning(columns).executeTakeFirst()
    if (row !== undefined) await note(queries, 'contact.changed', contactId, change)
    return row
  })
}

/** Removes a contact of the author's company. False where there is none. */
export async function removeContact (database: Database, contactId: string, change: Change): Promise<boolean> {
  const { author: { companyId } } = change
  return database.company(companyId, async (queries) => {
    const row = await tablesOf(queries).deleteFrom('contacts').where('company_id', '=', companyId).where('contact_id', '=', contactId)
      .returning('contact_id').executeTakeFirst()
    if (row !== undefined) await note(queries, 'contact.removed', contactId, change)
    return row !== undefined
  })
}

/** Who a company is on its documents, and since when; nothing where nobody has said it. */
export async function readOwnDetails (database: Database, companyId: number): Promise<{ details: OwnDetails, since?: Date }> {
  const row = await database.reading(companyId,
    (queries) =>
      tablesOf(queries).selectFrom('own_details').select(['details', 'updated_at as since']).where('company_id', '=', companyId)
        .executeTakeFirst())
  return row ?? { details: {} }
}

/** What was approved waits again for what has changed since, and only for that. */
const sinceChanged = sql<Date>`case when own_details.details is distinct from excluded.details then excluded.updated_at
  else own_details.updated_at end`

export async function writeOwnDetails (database: Database, details: OwnDetails, { author, at }: Change): Promise<void> {
  const { companyId } = author
  const row = { details: JSON.stringify(details), updated_at: at }
  await database.company(companyId, async (queries) => {
    await tablesOf(queries).insertInto('own_details').values({ company_id: companyId, ...row })
      .onConflict((conflict) => conflict.column('company_id').doUpdateSet({ ...row, updated_at: sinceChanged })).execute()
    const object = { kind: 'company', id: String(companyId) }
    await noteAudit(queries, { companyId, author, action: 'own-details.changed', object, facts: { fields: Object.keys(details) }, at })
  })
}

/** A contact that is the person goes; who the company itself is stays. */
export function contactsHolder (database: Database): Holder {
  return tableHolder(database, { kind: 'contacts', table: 'contacts', key: sql`contact_id`, type: 'uuid' })
}

/** A row of a company in each table, for the tests of the walls between companies. */
export async function fillContacts (queries: Database['owner'], companyId: number): Promise<void> {
  const tables = queries.$extendTables<Tables>()
  const at = new Date()
  const row = { company_id: companyId, contact_id: randomUUID(), name: 'Ada', details: '{}', created_at: at, updated_at: at }
  await tables.insertInto('contacts').values(row).execute()
  await tables.insertInto('own_details').values({ company_id: companyId, details: '{}', updated_at: at }).execute()
}

/** Whom it concerns stands in the contact alone: the log outlives it. */
async function note (queries: CompanyQueries, action: string, id: string, { author, at }: Change): Promise<void> {
  await noteAudit(queries, { companyId: author.companyId, author, action, object: { kind: 'contact', id }, at })
}

const tablesOf = (queries: CompanyQueries) => queries.$extendTables<Tables>()
