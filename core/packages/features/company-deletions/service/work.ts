import { canonicalJson, type Log } from '@dispatch/common'
import { type DispatchRows, fileFolders } from '@dispatch/core'
import type { Database, OwnerQueries } from '@dispatch/database'
import type { FileStore } from '@dispatch/files'
import { runEvery } from '@dispatch/queue'
import { type DataKeys, findDataKey, rememberedFor } from '@dispatch/tables'
import { createHash } from 'node:crypto'
import { advanceDeletion, claimDeletion, finishDeletion, noteDeleted } from '../store/deletions.ts'
import { countHeld, deleteAllRows, type DeletedRows, deleteFoundRows, isReferredTo, keepDisabled } from '../store/leaving.ts'
import type { DeletionRow, Stage } from '../store/tables.ts'

type Needs = {
  database: Database
  dataKeys: Pick<DataKeys, 'shred'> | undefined
  dispatchRows: readonly DispatchRows[]
  files: Pick<FileStore, 'removeBelow'>
  log: Log
  newId: () => string
  now: () => Date
  /** Seconds after which no other process knows anything of the company any more. */
  settles?: number
  /** Aborted where the process ends: what takes long is done again later. */
  signal?: AbortSignal
}

/** Milliseconds between two looks for a deletion. */
const idle = 1_000
/** Seconds for which a process has a deletion to itself at each step; the last one reads tables that have no index for it. */
const claimLasts = { max: 600, last: 3_600 }
/** Rows of each table that a step deletes. */
const together = 2_000
/** Seconds until what is still referred to, or under way, is tried again, and what another process has just now. */
const [blockedFor, lockedFor] = [60, 5]
/** Seconds in which a process that has the data keys may take a deletion from one that has not. */
const handedOnFor = 5

/**
 * Deletes companies, a bounded step at a time, in whichever process comes first: their keys, their files, their rows, and themselves last.
 * Each step may be interrupted, and is done again. What another process may have written meanwhile, as long as it remembered a key, is
 * deleted before the end.
 */
export function workOnDeletions (needs: Needs): AsyncDisposable {
  const end = new AbortController()
  const step = createDeletionStep({ ...needs, signal: end.signal })
  const working = runEvery(idle, async () => {
    while (!end.signal.aborted && await step());
  }, (err) => {
    needs.log.warn({ err }, 'the deletion of a company could not go on; it is tried again')
  })
  return {
    async [Symbol.asyncDispose] () {
      end.abort()
      await working.close()
    }
  }
}

/** Does one step of one deletion. Answers false where there is none to do. */
export function createDeletionStep ({
  database,
  dataKeys,
  dispatchRows,
  files,
  log,
  newId,
  now,
  settles = 2 * rememberedFor / 1000,
  signal = new AbortController().signal
}: Needs): () => Promise<boolean> {
  async function removeFiles (companyId: number): Promise<void> {
    for (const folder of fileFolders) await files.removeBelow(`${folder}/${companyId}`)
  }

  /** How rows are deleted: what each table had is recorded with its deletion, so that the receipt has all of it. */
  const deletingOf = (row: DeletionRow, seconds: number) => ({
    limit: together,
    dispatchRows,
    note: (queries: OwnerQueries, table: string, rows: number) => noteDeleted(database, queries, row, { table, rows, seconds })
  })

  /** Seconds until more is deleted. */
  function waitsFor ({ former_company: company }: DeletionRow, { deleted, blocked, locked }: DeletedRows): number {
    if (deleted || blocked.length === 0) return 0
    log.warn({ company, blocked }, 'rows of a company that is being deleted are referred to, or in use; they are tried again')
    return locked ? lockedFor : blockedFor
  }

  /** Whether something is still sent, or nobody knows whether it was: it would go on without what it needs. */
  async function isUnderWay (companyId: number): Promise<boolean> {
    const held = await countHeld(database, companyId)
    return held !== undefined && (held.running > 0 || held.held > 0)
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
      const go = (stage: Stage, seconds: number): Promise<void> => advanceDeletion(database, row, { stage, seconds })
      if (await isUnderWay(row.former_company)) return go('keys', blockedFor)
      return await shred(row.former_company) ? go('files', 0) : go('keys', handedOnFor)
    },
    async files (row) {
      await removeFiles(row.former_company)
      await advanceDeletion(database, row, { stage: 'rows', seconds: 0 })
    },
    async rows (row) {
      const done = await deleteFoundRows(database, row.former_company, deletingOf(row, claimLasts.max))
      if (done.deleted || done.locked) return advanceDeletion(database, row, { stage: 'rows', seconds: waitsFor(row, done) })
      await advanceDeletion(database, row, { stage: 'last', seconds: settles })
    },
    async last (row) {
      if (!await shred(row.former_company)) return advanceDeletion(database, row, { stage: 'last', seconds: handedOnFor })
      await removeFiles(row.former_company)
      const done = await deleteAllRows(database, row.former_company, { ...deletingOf(row, claimLasts.last), signal })
      if (done.deleted || done.blocked.length > 0) {
        return advanceDeletion(database, row, { stage: 'last', seconds: waitsFor(row, done) })
      }
      const { author } = row
      if (author === null) throw new Error('A finished deletion has nothing to do.')
      const at = now()
      const receipt = receiptOf(row, { at, sealed: dataKeys !== undefined })
      const sha256 = createHash('sha256').update(receipt).digest('hex')
      await finishDeletion(database, row, { author, receipt, sha256, at }).catch(async (error: unknown) => {
        if (!isReferredTo(error)) throw error
        await advanceDeletion(database, row, { stage: 'rows', seconds: 0 })
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
