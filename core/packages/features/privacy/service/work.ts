import type { AuditAuthor } from '@dispatch/accounts'
import { canonicalJson, type Keyring, type Log, sumOfCounts } from '@dispatch/common'
import type { Erasing, Found, Holder } from '@dispatch/core'
import { asOwner, type Database } from '@dispatch/database'
import { runEvery } from '@dispatch/queue'
import { createHash } from 'node:crypto'
import { advanceErasure, claimErasure, finishErasure, forgetCounted, type Progress } from '../store/erasures.ts'
import type { ErasureRow } from '../store/tables.ts'
import { contextOf } from './erasures.ts'
import { personNamed, type Subject } from './subject.ts'

type Needs = {
  database: Database
  keyring: Pick<Keyring, 'open'>
  holders: readonly Holder[]
  log: Log
  newId: () => string
  now: () => Date
}

/** Milliseconds between two looks for an erasure, and between two for counts that nobody came back for. */
const [idle, forgetEvery] = [500, 3_600_000]
/** Seconds for which a process has an erasure to itself at each step. */
const claimLasts = 120
/** Seconds between two passes, doubled each time, where something is still under way. */
const [shortest, longest] = [2, 600]
/** Milliseconds for which what was counted waits for its beginning. */
const keptFor = 24 * 3_600_000

/**
 * Counts and erases, a bounded step at a time, in whichever process comes first. A step is done as a whole or not at all, and the next one
 * goes on behind it, also in another process after the end of this one. What is still under way is come back to in another pass.
 */
export function workOnErasures (needs: Needs): AsyncDisposable {
  const { database, log, now } = needs
  const step = createErasureStep(needs)
  let isClosing = false
  const working = runEvery(idle, async () => {
    while (!isClosing && await step());
  }, (err) => {
    log.warn({ err }, 'an erasure could not go on; it is tried again')
  })
  const forgetting = runEvery(forgetEvery, () => forgetCounted(database, new Date(now().getTime() - keptFor)), (err) => {
    log.warn({ err }, 'counted erasures could not be forgotten')
  })
  return {
    async [Symbol.asyncDispose] () {
      isClosing = true
      await Promise.all([working.close(), forgetting.close()])
    }
  }
}

/** Does one step of one erasure. Answers false where there is none to do. */
export function createErasureStep ({ database, keyring, holders, newId, now }: Needs): () => Promise<boolean> {
  function openedOf ({ company_id: companyId, erasure_id: id, subject, author }: ErasureRow): Erasing {
    if (subject === null || author === null) throw new Error('A finished erasure has nothing to do.')
    const { identifiers } = JSON.parse(keyring.open(subject, contextOf(companyId, id)).toString()) as Subject
    return { companyId, person: personNamed({ identifiers }), author }
  }

  const record = (row: ErasureRow, progress: Progress): Promise<void> => advanceErasure(database.owner, row, progress, database.now)

  async function count (row: ErasureRow, holder: Holder, found: readonly Found[], next: string | undefined): Promise<void> {
    const counts = sumOfCounts([row.counts, ...found.map((one) => one.counts ?? { [holder.kind]: 1 })])
    await record(row, { ...behind(holder, next), counts, passing: 0, seconds: 0 })
  }

  async function erase (row: ErasureRow, holder: Holder, found: readonly Found[], next: string | undefined): Promise<void> {
    const erasing = openedOf(row)
    const ids = found.map(({ id }) => id)
    let { counts, passing } = row
    if (ids.length > 0) {
      await holder.prepare?.(erasing, ids)
      // It stays at this place until the files are gone, too: what was erased is not found again.
      await database.owner.transaction().execute(async (queries) => {
        const erased = await holder.erase(queries, erasing, ids)
        counts = sumOfCounts([counts, erased.counts])
        passing += erased.waiting
        await advanceErasure(queries, row, { holder: holder.kind, place: row.place, counts, passing: row.passing }, database.now)
      })
    }
    await holder.clean?.(erasing.companyId)
    await record(row, { ...behind(holder, next), counts, passing, seconds: 0 })
  }

  /** Where the next look begins. */
  function behind (holder: Holder, next: string | undefined): Pick<Progress, 'holder' | 'place'> {
    if (next !== undefined) return { holder: holder.kind, place: next }
    const following = holders[holders.indexOf(holder) + 1]
    return { holder: following?.kind ?? 'end', place: null }
  }

  /** All holders were asked: it is counted or finished, or another pass comes. */
  async function conclude (row: ErasureRow): Promise<void> {
    const { status, counts, passing, passes, author } = row
    if (status === 'counting') return record(row, { holder: null, place: null, counts, passing: 0, counted: true })
    if (passing > 0) {
      const seconds = Math.min(longest, shortest * 2 ** Math.min(passes, 16))
      return record(row, { holder: null, place: null, counts, passing: 0, waiting: passing, passes: passes + 1, seconds })
    }
    if (author === null) throw new Error('A finished erasure has nothing to do.')
    const at = now()
    const receipt = receiptOf(row, author, at)
    const sha256 = createHash('sha256').update(receipt).digest('hex')
    await database.company(row.company_id, async (queries) => {
      await finishErasure(await asOwner(queries), row, { author, receipt, sha256, at })
    })
  }

  return async () => {
    const row = await claimErasure(database, newId(), claimLasts)
    if (row === undefined) return false
    if (row.holder === 'end') {
      await conclude(row)
      return true
    }
    const holder = holders.find(({ kind }) => kind === row.holder) ?? holders[0]
    if (holder === undefined) throw new Error('Nothing holds data of persons.')
    const { companyId, person } = openedOf(row)
    const { found, next } = await holder.search(companyId, person, holder.kind === row.holder ? row.place ?? undefined : undefined)
    await (row.status === 'counting' ? count : erase)(row, holder, found, next)
    return true
  }
}

/** What is held for whoever has to prove that it was erased: in the one writing that the same facts have. */
function receiptOf (
  {
    erasure_id: erasureId,
    company_id: companyId,
    user_id: userId,
    identified_by: by,
    person,
    counts,
    created_at: createdAt,
    begun_at: begunAt
  }: ErasureRow,
  { userId: begunBy }: AuditAuthor,
  at: Date
): string {
  return canonicalJson({
    erasureId,
    companyId,
    person,
    by,
    askedBy: userId,
    begunBy,
    askedAt: createdAt.toISOString(),
    begunAt: (begunAt ?? createdAt).toISOString(),
    finishedAt: at.toISOString(),
    counts,
    kept: ['ledger', 'usage', 'statistics', 'suppressions as hashes']
  })
}
