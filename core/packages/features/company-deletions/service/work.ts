import { canonicalJson, type Log } from '@dispatch/common'
import { type DataKeys, deleteCompanyRows, fileFolders, findDataKey, isReferredTo, keepDisabled, rememberedFor,
  runEvery } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import type { FileStore } from '@dispatch/files'
import { createHash } from 'node:crypto'
import { advanceDeletion, claimDeletion, finishDeletion } from '../store/deletions.ts'
import type { Counts, DeletionRow, Stage } from '../store/tables.ts'

type Needs = {
  database: Database
  dataKeys: Pick<DataKeys, 'shred'> | undefined
  files: Pick<FileStore, 'removeBelow'>
  log: Log
  newId: () => string
  now: () => Date
  /** Seconds after which no other process knows anything of the company any more. */
  settles?: number
}

/** Milliseconds between two looks for a deletion. */
const idle = 1_000
/** Seconds for which a process has a deletion to itself at each step. */
const claimLasts = 600
/** Rows of each table that a step deletes. */
const together = 2_000
/** Seconds until what is still referred to is tried again. */
const blockedFor = 60
/** Seconds in which a process that has the data keys may take a deletion from one that has not. */
const handedOnFor = 5

/**
 * Deletes companies, a bounded step at a time, in whichever process comes first: their keys, their files, their rows, and themselves last.
 * Each step may be interrupted, and is done again. What another process may have written meanwhile, as long as it remembered a key, is
 * deleted before the end.
 */
export function workOnDeletions (needs: Needs): AsyncDisposable {
  const step = createDeletionStep(needs)
  let isClosing = false
  const working = runEvery(idle, async () => {
    while (!isClosing && await step());
  }, (err) => {
    needs.log.warn({ err }, 'the deletion of a company could not go on; it is tried again')
  })
  return {
    async [Symbol.asyncDispose] () {
      isClosing = true
      await working.close()
    }
  }
}

/** Does one step of one deletion. Answers false where there is none to do. */
export function createDeletionStep ({ database, dataKeys, files, log, newId, now, settles = 2 * rememberedFor / 1000 }: Needs): () =>
  Promise<boolean>
{
  async function removeFiles (companyId: number): Promise<void> {
    for (const folder of fileFolders) await files.removeBelow(`${folder}/${companyId}`)
  }

  /** Deletes rows; answers what was deleted, and how many seconds what is still referred to waits. */
  async function removeRows (row: DeletionRow): Promise<{ counts: Counts, isDone: boolean, seconds: number }> {
    const { counts, blocked } = await deleteCompanyRows(database, row.former_company, together)
    const isDone = Object.keys(counts).length === 0 && blocked.length === 0
    const isStuck = Object.keys(counts).length === 0 && blocked.length > 0
    if (isStuck) {
      log.warn({ company: row.former_company, blocked }, 'rows of a company that is being deleted are referred to; they are tried again')
    }
    return { counts: added(row.counts, counts), isDone, seconds: isStuck ? blockedFor : 0 }
  }

  /** Removes the data keys. Answers false where the company has one, and this process does not know where: another one does it. */
  async function shred (companyId: number): Promise<boolean> {
    if (dataKeys === undefined && await findDataKey(database, companyId) !== undefined) {
      log.warn({ company: companyId }, 'the deletion of a company waits for a process with DISPATCH_KEYS')
      return false
    }
    await dataKeys?.shred(companyId)
    return true
  }

  const steps: Record<Exclude<Stage, 'finished'>, (row: DeletionRow) => Promise<void>> = {
    async keys (row) {
      if (await shred(row.former_company)) await advanceDeletion(database, row, { stage: 'files', counts: row.counts, seconds: 0 })
      else await advanceDeletion(database, row, { stage: 'keys', counts: row.counts, seconds: handedOnFor })
    },
    async files (row) {
      await removeFiles(row.former_company)
      await advanceDeletion(database, row, { stage: 'rows', counts: row.counts, seconds: 0 })
    },
    async rows (row) {
      const { counts, isDone, seconds } = await removeRows(row)
      await advanceDeletion(database, row, { stage: isDone ? 'last' : 'rows', counts, seconds: isDone ? settles : seconds })
    },
    async last (row) {
      if (!await shred(row.former_company)) {
        return advanceDeletion(database, row, { stage: 'last', counts: row.counts, seconds: handedOnFor })
      }
      await removeFiles(row.former_company)
      const { counts, isDone, seconds } = await removeRows(row)
      if (!isDone) return advanceDeletion(database, row, { stage: 'last', counts, seconds })
      const { author } = row
      if (author === null) throw new Error('A finished deletion has nothing to do.')
      const at = now()
      const receipt = receiptOf(row, { at, sealed: dataKeys !== undefined })
      const sha256 = createHash('sha256').update(receipt).digest('hex')
      await finishDeletion(database, row, { author, receipt, sha256, at }).catch(async (error: unknown) => {
        if (!isReferredTo(error)) throw error
        await advanceDeletion(database, row, { stage: 'rows', counts, seconds: 0 })
      })
    }
  }

  return async () => {
    const row = await claimDeletion(database, newId(), claimLasts)
    if (row === undefined) return false
    if (row.stage === 'finished') throw new Error('A finished deletion has nothing to do.')
    await keepDisabled(database, row.former_company)
    await steps[row.stage](row)
    return true
  }
}

function added (one: Counts, other: Counts): Counts {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(names.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]))
}

/** What is held for whoever has to prove that it was deleted: in the one writing that the same facts have. */
function receiptOf (
  { former_company: companyId, name, asked_by: askedBy, created_at: askedAt, counts }: DeletionRow,
  { at, sealed }: { at: Date, sealed: boolean }
): string {
  return canonicalJson({
    companyId,
    name,
    askedBy,
    askedAt: askedAt.toISOString(),
    finishedAt: at.toISOString(),
    counts,
    dataKeys: sealed ? 'removed' : 'none',
    kept: ['this receipt', 'entries about the company in the audit log of the platform']
  })
}
