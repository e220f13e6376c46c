import { SealError, type Envelope, type Keyring } from '../access/keyring.ts'
import type { Log } from '../host/log.ts'
import type { EventActor } from '../store/schema.ts'
import type { Settlement } from '../store/steps.ts'
import { openWholeFiles } from '../store/whole-files.ts'

/** What came of a call and is recorded after its run has ended: which attempt at which step, of which run, and whose answer it is. */
export type LateOutcome = { companyId: number, dispatchId: string, stepId: string, runId: string, attempt: number, actor: EventActor, settlement: Settlement }

/** Outcomes on the local disk, sealed, until they are recorded. */
export type OutcomeSpool = {
  /** Resolves when the outcome is on the disk to stay. */
  keep: (late: LateOutcome) => Promise<void>
  /** Whether an outcome of the step lies here. */
  has: (stepId: string) => Promise<boolean>
  /** Hands the outcomes over one by one, and forgets those of which `record` says that nothing is left to do. Rejects where `record` does. */
  drain: (record: (late: LateOutcome) => Promise<boolean>) => Promise<void>
}

const context = 'outcome'

/** A spool in a folder, which may be shared by processes: whoever has the lease of the dispatch records what another one has kept. */
export async function openOutcomeSpool ({ folder, keyring, log }: { folder: string, keyring: Pick<Keyring, 'seal' | 'open'>, log: Log }): Promise<OutcomeSpool> {
  const files = await openWholeFiles(folder, '.json')
  let draining: Promise<void> | undefined

  /** Undefined where it is gone, or set aside because nobody can read it. */
  async function read (name: string): Promise<LateOutcome | undefined> {
    const text = await files.read(name)
    if (text === undefined) return undefined
    try {
      // Only this file writes these, each of them whole.
      return JSON.parse(keyring.open(JSON.parse(text) as Envelope, context).toString()) as LateOutcome
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof SealError)) throw error
      log.error({ err: error, file: await files.setAside(name) }, 'an outcome on the disk cannot be read; it is set aside')
      return undefined
    }
  }

  async function drainOnce (record: (late: LateOutcome) => Promise<boolean>): Promise<void> {
    for (const name of await files.names()) {
      const late = await read(name)
      if (late !== undefined && await record(late)) await files.remove(name)
    }
  }

  return {
    keep: (late) => files.write(`${late.stepId}-${late.attempt}.json`, JSON.stringify(keyring.seal(JSON.stringify(late), context))),
    has: async (stepId) => (await files.names()).some((name) => name.startsWith(stepId)),
    async drain (record) {
      draining ??= drainOnce(record).finally(() => { draining = undefined })
      await draining
    }
  }
}
