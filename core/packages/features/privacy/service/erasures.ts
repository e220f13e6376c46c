import type { AuditAuthor } from '@dispatch/accounts'
import { type Counts, createFairSemaphore, type Keyring } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Holder } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { ErasureBody, ErasureView, PersonBody, ReceiptView } from '../contract/erasures.ts'
import { addErasure, beginErasure, findErasure, listErasures, noteExport } from '../store/erasures.ts'
import type { ErasureRow } from '../store/tables.ts'
import { createPersonHash, personNamed, type Subject, subjectOf } from './subject.ts'

/** A line of an export: something that is held, or how much that was. */
export type Line = { kind: string, id?: string, data?: object, counts?: Counts }

/** What companies hold about persons: erased for good, or handed over. */
export type Erasures = {
  /** Throws `validation_failed` where nobody is named, and `rate_limited` where too many erasures of the company are under way. */
  add: (author: AuditAuthor, body: ErasureBody) => Promise<ErasureView>
  list: (companyId: number, page: { limit: number, after?: string | undefined }) => Promise<ErasureView[]>
  find: (companyId: number, id: string) => Promise<ErasureView | undefined>
  /** Undefined where there is none; throws `conflict` where it waits for nobody. */
  begin: (author: AuditAuthor, id: string) => Promise<ErasureView | undefined>
  /** Undefined where there is no such erasure; throws `conflict` where it is not finished. */
  receipt: (companyId: number, id: string) => Promise<ReceiptView | undefined>
  /** All that is held about a person. One export of a company is under way at a time, until `gone`. Throws as `add`. */
  export: (author: AuditAuthor, body: PersonBody, gone: AbortSignal) => Promise<AsyncGenerator<Line, void>>
}

export const erasures = token<Erasures>('erasures')

/** The most erasures of a company that are under way. */
export const maxOpen = 50

type Options = {
  database: Database
  keyring: Pick<Keyring, 'seal'>
  linkKey: Uint8Array
  holders: readonly Holder[]
  newId: () => string
  now: () => Date
}

/** The context under which the subject of an erasure is sealed. */
export const contextOf = (companyId: number, erasureId: string): string => `erasure|${companyId}|${erasureId}`

/**
 * Erasures of persons and exports of what is known of them. Throws `conflict` for a step that the state of an erasure forbids;
 * `rate_limited` where a company has too many erasures under way, or another export.
 */
export function createErasures ({ database, keyring, linkKey, holders, newId, now }: Options): Erasures {
  const hashOf = createPersonHash(linkKey)
  const exporting = createFairSemaphore({ total: 4, perOwner: 1, waiting: 0 })

  async function* linesOf (companyId: number, subject: Subject): AsyncGenerator<Line, void> {
    const person = personNamed(subject)
    const counts: Record<string, number> = {}
    for (const { kind, search } of holders) {
      let after: string | undefined
      do {
        const { found, next } = await search(companyId, person, after)
        for (const { id, content } of found) yield { kind, id, data: content }
        if (found.length > 0) counts[kind] = (counts[kind] ?? 0) + found.length
        after = next
      } while (after !== undefined)
    }
    yield { kind: 'end', counts }
  }

  return {
    async add (author, { countFirst = false, ...body }) {
      const subject = subjectOf(body)
      const { companyId } = author
      const erasureId = newId()
      const sealed = keyring.seal(JSON.stringify(subject), contextOf(companyId, erasureId))
      const person = hashOf(companyId, subject)
      const row = await addErasure(database, { erasureId, author, subject: sealed, by: subject.by, person, countFirst, at: now() }, maxOpen)
      if (row === undefined) {
        throw new DispatchError('rate_limited',
          `${maxOpen} erasures of the company are under way: ask for this one when one of them is over.`, {
          retryAfter: 60
        })
      }
      return viewOf(row)
    },

    list: async (companyId, page) => (await listErasures(database, companyId, page)).map(viewOf),

    async find (companyId, id) {
      const row = await findErasure(database, companyId, id)
      return row && viewOf(row)
    },

    async begin (author, erasureId) {
      const begun = await beginErasure(database, { erasureId, author, at: now() })
      if (begun !== undefined) return viewOf(begun)
      const there = await findErasure(database, author.companyId, erasureId)
      if (there === undefined) return undefined
      throw new DispatchError('conflict', `The erasure is ${there.status}: only one that was counted waits for its beginning.`, {
        reason: 'state_forbids'
      })
    },

    async receipt (companyId, id) {
      const row = await findErasure(database, companyId, id)
      if (row === undefined) return undefined
      const { status, receipt, sha256 } = row
      if (receipt === null || sha256 === null) {
        throw new DispatchError('conflict', `The erasure is ${status}: there is a receipt once it is finished.`, {
          reason: 'state_forbids'
        })
      }
      return { receipt, sha256 }
    },

    async export (author, body, gone) {
      const { companyId } = author
      const subject = subjectOf(body)
      const permit = await exporting.acquire(companyId)
      if (permit === undefined) {
        throw new DispatchError('rate_limited', 'Another export of the company is under way: ask for this one when it is over.', {
          retryAfter: 60
        })
      }
      // Lines that nobody begins to read come to no end.
      gone.addEventListener('abort', () => permit.release(), { once: true })
      try {
        gone.throwIfAborted()
        await noteExport(database, { author, person: hashOf(companyId, subject), at: now() })
      } catch (error) {
        permit.release()
        throw error
      }
      async function* lines (): AsyncGenerator<Line, void> {
        try {
          yield* linesOf(companyId, subject)
        } finally {
          permit?.release()
        }
      }
      return lines()
    }
  }
}

export function viewOf (row: ErasureRow): ErasureView {
  return {
    id: row.erasure_id,
    status: row.status,
    by: row.identified_by,
    person: row.person,
    counts: { ...row.counts },
    waiting: row.waiting,
    userId: row.user_id,
    createdAt: row.created_at.toISOString(),
    begunAt: row.begun_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null
  }
}
