import type { PipelineDependencies } from '../../pipeline/dependencies.ts'
import { recordSpooledOutcomes } from '../../pipeline/recover/late-outcomes.ts'
import { type RepeatingTask, runEvery } from './repeat.ts'

/** Milliseconds between two tries to record the outcomes on the disk. */
const recordedEvery = 1_000

/** Records the outcomes on the disk, of whichever process, as soon as the database takes them. */
export function startOutcomeDrain (dependencies: PipelineDependencies): RepeatingTask {
  return runEvery(recordedEvery, () => recordSpooledOutcomes(dependencies), (error) => {
    dependencies.log.debug({ err: error }, 'outcomes stay on the disk')
  })
}
