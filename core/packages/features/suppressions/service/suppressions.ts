import { type AuditAuthor, noteAudit, type UserRef } from '@dispatch/accounts'
import type { Problem } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import type { RecipientBook, Templates } from '@dispatch/core'
import type { Database, Freshness } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { isServiceName, services } from '@dispatch/services'
import type { ImportView, SuppressionBody, SuppressionFilter, SuppressionView, TransactionalView } from '../contract/suppressions.ts'
import { addSuppressions, companyName, findSuppressed, findSuppression, listSuppressions, listTransactional, readSuppressed,
  removeSuppression, setTransactional, type SuppressionRow } from '../store/suppressions.ts'
import { createAddressHashes } from './address-hashes.ts'
import { createRecipientBook, rowOf } from './book.ts'
import { createUnsubscribeLinks, type Subscription } from './unsubscribe-links.ts'

/** Who changes something for a company. */
type Changing = { actor: UserRef, author: AuditAuthor }

/** To whom companies send nothing. */
export type Suppressions = RecipientBook & {
  list: (companyId: number, filter: SuppressionFilter, page: { limit: number, after?: string | undefined }) => Promise<SuppressionView[]>
  /** All of them, in pages. */
  all: (companyId: number, filter: SuppressionFilter) => AsyncGenerator<SuppressionView[], void>
  find: (companyId: number, id: string) => Promise<SuppressionView | undefined>
  /** One that stands there already stays as it is. Throws `validation_failed` for what is no address of its channel. */
  add: (by: Changing, body: SuppressionBody) => Promise<{ suppression: SuppressionView, isNew: boolean }>
  /** All or none: throws `validation_failed` with the rows that are wrong. */
  import: (by: Changing, bodies: readonly SuppressionBody[]) => Promise<ImportView>
  /** Answers whether there was one. */
  remove: (by: Changing, id: string, why: string) => Promise<boolean>
  /** The templates that are sent all the same, for some reasons. */
  transactional: (companyId: number) => Promise<TransactionalView[]>
  /** Throws `template_not_found`. */
  setTransactional: (by: Changing, view: TransactionalView) => Promise<TransactionalView>
  /** What a link unsubscribes from, with the name of the company; undefined for a link that is none. */
  subscription: (token: string) => Promise<(Subscription & { company: string }) | undefined>
  unsubscribe: (subscription: Subscription) => Promise<void>
}

export const suppressions = token<Suppressions>('suppressions')

/** Rows that are written or read together. */
const together = 5_000

type Options = {
  database: Database
  freshness: Freshness
  templates: Pick<Templates, 'find'>
  linkKey: Uint8Array
  publicUrl: string
  newId: () => string
  now: () => Date
}

/** The recipients to whom companies send nothing. Throws `validation_failed` with all addresses that are none. */
export function createSuppressions ({ database, freshness, templates, linkKey, publicUrl, newId, now }: Options): Suppressions {
  const links = createUnsubscribeLinks(linkKey)
  const hashOf = createAddressHashes(linkKey)
  const noted = ({ actor: { companyId }, author }: Changing, action: string, id: string, facts = {}) => ({
    companyId,
    author,
    at: now(),
    action: `suppression.${action}`,
    object: { kind: 'suppression', id },
    facts
  })

  return {
    ...createRecipientBook({ database, freshness, hashOf, links, publicUrl, newId }),

    list: async (companyId, filter, page) => (await listSuppressions(database, companyId, filter, page)).map(viewOf),

    async *all (companyId, filter) {
      let after: string | undefined
      do {
        const rows = await listSuppressions(database, companyId, filter, { limit: together, after })
        if (rows.length > 0) yield rows.map(viewOf)
        after = rows.length < together ? undefined : rows.at(-1)?.suppression_id
      } while (after !== undefined)
    },

    async find (companyId, id) {
      const row = await findSuppression(database, companyId, id)
      return row && viewOf(row)
    },

    async add (by, body) {
      const { actor: { companyId, userId } } = by
      const [known] = knownOf([body], (_, field) => `/${field}`)
      if (known === undefined) throw new TypeError('One body is one suppression.')
      return database.company(companyId, async (queries) => {
        const row = rowOf(newId(), known, userId)
        const isNew = await addSuppressions(queries, companyId, [row], database.now) === 1
        if (isNew) await noteAudit(queries, noted(by, 'added', row.suppression_id, { channel: row.channel, reason: row.reason }))
        return { suppression: viewOf(await readSuppressed(queries, companyId, known)), isNew }
      })
    },

    async import (by, bodies) {
      const { actor: { companyId, userId } } = by
      const rows = knownOf(bodies, (index, field) => `/suppressions/${index}/${field}`).map((body) => rowOf(newId(), body, userId))
      return database.company(companyId, async (queries) => {
        let added = 0
        for (let from = 0; from < rows.length; from += together) {
          added += await addSuppressions(queries, companyId, rows.slice(from, from + together), database.now)
        }
        if (added > 0) await noteAudit(queries, noted(by, 'imported', String(companyId), { added }))
        return { added, known: rows.length - added }
      })
    },

    async remove (by, id, why) {
      const { actor: { companyId } } = by
      return database.company(companyId, async (queries) => {
        const row = await removeSuppression(queries, companyId, id)
        if (row === undefined) return false
        await noteAudit(queries, noted(by, 'removed', id, { channel: row.channel, reason: row.reason, why }))
        return true
      })
    },

    transactional: async (companyId) =>
      [...await listTransactional(database, companyId)].map(([templateId, reasons]) => ({ templateId, reasons: [...reasons] })),

    async setTransactional (by, view) {
      const { actor: { companyId } } = by
      await templates.find(companyId, { id: view.templateId })
      await database.company(companyId, async (queries) => {
        await setTransactional(queries, companyId, view, database.now)
        await noteAudit(queries, {
          ...noted(by, 'transactional', ''),
          object: { kind: 'template', id: String(view.templateId) },
          facts: { reasons: view.reasons.join(', ') }
        })
      })
      return view
    },

    async subscription (text) {
      const subscription = links.open(text)
      const company = subscription && await companyName(database, subscription.companyId)
      return subscription === undefined || company === undefined ? undefined : { ...subscription, company }
    },

    async unsubscribe ({ companyId, channel, address }) {
      if (!isServiceName(channel)) return
      // Who was erased, and is suppressed already, is not written down again.
      const [erased] = await findSuppressed(database, companyId, [{ channel, address: hashOf({ companyId, channel, address }) }])
      if (erased !== undefined) return
      await database.company(companyId,
        (queries) =>
          addSuppressions(queries, companyId, [rowOf(newId(), { channel, address, reason: 'unsubscribed' }, null)], database.now))
    }
  }
}

/** Suppressions with their addresses as they are compared. Throws `validation_failed` with all that are none. */
function knownOf (bodies: readonly SuppressionBody[], place: (index: number, field: string) => string): SuppressionBody[] {
  const problems: Problem[] = []
  const known = bodies.flatMap((body, index) => {
    const address = services[body.channel].recipients?.known(body.address.trim())
    if (address !== undefined) return [{ ...body, address }]
    problems.push({ path: place(index, 'address'), code: 'format', message: `It is no address of the channel "${body.channel}".` })
    return []
  })
  if (problems.length > 0) throw refusal('validation_failed', problems)
  return known
}

function viewOf (row: SuppressionRow): SuppressionView {
  return {
    id: row.suppression_id,
    channel: row.channel,
    address: row.address,
    reason: row.reason,
    note: row.note,
    since: row.since.toISOString(),
    userId: row.user_id,
    dispatchId: row.dispatch_id
  }
}
