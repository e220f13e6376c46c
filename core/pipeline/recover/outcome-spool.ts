import type { Envelope, Keyring } from '../../access/keyring.ts'
import type { Log } from '../../host/call/log.ts'
import { openAtomicFiles } from '../../store/db/atomic-files.ts'
import type { EventActor } from '../../store/db/schema.ts'
import type { Settlement } from '../../store/dispatch/steps.ts'

/** What came of a call and is recorded after its run has ended: which attempt at which step, of which run, and whose answer it is. */
export type LateOutcome = {
  companyId: number
  dispatchId: string
  stepId: string
  runId: string
  attempt: number
  actor: EventActor
  settlement: Settlement
}

/** What recording a late outcome came to; `later`: another run has the dispatch. `unknown`: the database has no such attempt. */
export type RecordedLate = 'done' | 'later' | 'unknown'

/** Outcomes on the local disk, sealed, until they are recorded. */
export type OutcomeSpool = {
  /** Resolves when the outcome is on the disk to stay. */
  keep: (late: LateOutcome) => Promise<void>
  /** Whether an outcome of the step lies here. */
  has: (stepId: string) => Promise<boolean>
  /**
   * Hands the outcomes over one by one, forgets those that are recorded, and sets those aside that are unknown or cannot be read. Rejects
   * where `record` does.
   */
  drain: (record: (late: LateOutcome) => Promise<RecordedLate>) => Promise<void>
}

const context = 'outcome'

/** A spool in a folder, which may be shared by processes: whoever has the lease of the dispatch records what another one has kept. */
export async function openOutcomeSpool ({ folder, keyring, log }: {
  folder: string
  keyring: Pick<Keyring, 'seal' | 'open'>
  log: Log
}): Promise<OutcomeSpool> {
  const files = await openAtomicFiles({ folder, ending: '.json', log })
  // Only this file writes these, each of them whole.
  const read = (text: string): LateOutcome => JSON.parse(keyring.open(JSON.parse(text) as Envelope, context).toString()) as LateOutcome
  return {
    keep: (late) => files.write(`${late.stepId}-${late.attempt}.json`, JSON.stringify(keyring.seal(JSON.stringify(late), context))),
    has: async (stepId) => (await files.names()).some((name) => name.startsWith(stepId)),
    drain: (record) =>
      files.drain(read, async (late) => {
        const recorded = await record(late)
        const { companyId, dispatchId, settlement: { outcome } } = late
        return recorded === 'unknown' ? { unknown: { companyId, dispatchId, outcome } } : recorded
      })
  }
}
