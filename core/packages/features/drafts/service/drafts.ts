import type { UserRef } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { randomUUID } from 'node:crypto'
import type { DraftBody, DraftSummary, DraftView } from '../contract/drafts.ts'
import { type DraftRow, listDrafts, readDraft, removeDraft, removeOldDrafts, type SummaryRow, writeDraft } from '../store/drafts.ts'

/** Requests that people have begun to write. Each is private to its author, who may let everybody of the company read it. */
export type Drafts = {
  /** Of the person and shared ones, the last written first; 100 at most. */
  list: (reader: UserRef, only: { sandbox?: boolean }) => Promise<DraftSummary[]>
  /** Throws `not_found` where the person may not read it. */
  read: (reader: UserRef, id: string) => Promise<DraftView>
  create: (author: UserRef, body: DraftBody) => Promise<DraftView>
  /** Makes it, or replaces what it says. Throws `not_found` where it is somebody else's. */
  write: (author: UserRef, id: string, body: DraftBody) => Promise<DraftView>
  /** Throws `not_found` where the person has none with this id. */
  remove: (author: UserRef, id: string) => Promise<void>
  /** Removes what was sent a day ago, and what nobody has written to for 90 days. */
  sweep: () => Promise<void>
}

export const drafts = token<Drafts>('drafts')

const day = 86_400_000
const keptAfterSending = day
const kept = 90 * day

export function createDrafts ({ database, now }: { database: Database, now: () => Date }): Drafts {
  async function write (author: UserRef, id: string, body: DraftBody): Promise<DraftView> {
    const row = await writeDraft(database, author, id, { sandbox: false, ...body, at: now() })
    return row === undefined ? notFound(id) : viewOf(row)
  }
  return {
    write,
    list: async (reader, only) => (await listDrafts(database, reader, only)).map(summaryOf),
    async read (reader, id) {
      const row = await readDraft(database, reader, id)
      return row === undefined ? notFound(id) : viewOf(row)
    },
    create: (author, body) => write(author, randomUUID(), body),
    async remove (author, id) {
      if (!await removeDraft(database, author, id)) notFound(id)
    },
    async sweep () {
      const time = now().getTime()
      await removeOldDrafts(database, { sent: new Date(time - keptAfterSending), unsent: new Date(time - kept) })
    }
  }
}

function notFound (id: string): never {
  throw new DispatchError('not_found', `You have no draft ${id}.`)
}

function summaryOf (row: SummaryRow): DraftSummary {
  return {
    id: row.draft_id,
    service: row.service,
    sandbox: row.sandbox,
    shared: row.shared,
    dispatchId: row.dispatch_id,
    idempotencyKey: row.draft_id,
    userId: row.user_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString()
  }
}

function viewOf (row: DraftRow): DraftView {
  return { ...summaryOf(row), request: row.request }
}
