import type { Envelope, Keyring, Log } from '@dispatch/common'
import { type AtomicFiles, openAtomicFiles } from '@dispatch/files'
import type { EventActor } from '@dispatch/tables'
import type { Settlement } from '../../store/dispatch/steps.ts'

/** The outcome of one attempt at a step that is recorded after its run has ended. `actor`: who told it. */
export type LateOutcome = {
  companyId: number
  dispatchId: string
  stepId: string
  runId: string
  attempt: number
  actor: EventActor
  settlement: Settlement
  /** Milliseconds of the process's clock: since when nobody knows whether the database has the attempt at all. */
  unsureSince?: number
}

/** The result of recording a late outcome. `later`: another run has the dispatch. `unknown`: the database has no such attempt. */
export type RecordedLate = 'done' | 'later' | 'unknown'

/** Encrypted outcomes on the local disk, kept until they are recorded. */
export type OutcomeSpool = {
  /** Resolves when the file is synced to the disk. */
  keep: (late: LateOutcome) => Promise<void>
  count: AtomicFiles['count']
  /** Whether there is an outcome of the step. */
  has: (stepId: string) => Promise<boolean>
  /**
   * Passes the outcomes to `record` one by one. Deletes those that are recorded, and moves away those that are unknown or unreadable.
   * Rejects when `record` rejects.
   */
  drain: (record: (late: LateOutcome) => Promise<RecordedLate>) => Promise<void>
}

const context = 'outcome'

/** Opens the spool in a folder. Processes may share the folder: the one that gets the lease of a dispatch records its outcomes. */
export async function openOutcomeSpool ({ folder, keyring, log }: {
  folder: string
  keyring: Pick<Keyring, 'seal' | 'open'>
  log: Log
}): Promise<OutcomeSpool> {
  const files = await openAtomicFiles({ folder, ending: '.json', log })
  // The cast is safe: only this file writes these files, each of them whole.
  const read = (text: string): LateOutcome => JSON.parse(keyring.open(JSON.parse(text) as Envelope, context).toString()) as LateOutcome
  return {
    keep: (late) => files.write(`${late.stepId}-${late.attempt}.json`, JSON.stringify(keyring.seal(JSON.stringify(late), context))),
    count: files.count,
    has: async (stepId) => (await files.names()).some((name) => name.startsWith(stepId)),
    drain: (record) =>
      files.drain(read, async (late) => {
        const recorded = await record(late)
        const { companyId, dispatchId, settlement: { outcome } } = late
        return recorded === 'unknown' ? { unknown: { companyId, dispatchId, outcome } } : recorded
      })
  }
}
