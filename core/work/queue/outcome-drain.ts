import { recordKept } from '../../pipeline/recover/late-outcomes.ts'
import type { Parts } from '../../pipeline/dependencies.ts'
import { repeat, type Repeating } from './repeat.ts'

/** Milliseconds between two tries to record what lies on the disk. */
const recordedEvery = 1_000

/** Records the outcomes that this process, another one or one that has died keeps on the disk, as soon as the database takes them. */
export function startRecording (parts: Parts): Repeating {
  return repeat(recordedEvery, () => recordKept(parts), (error) => { parts.log.debug({ err: error }, 'outcomes stay on the disk') })
}
