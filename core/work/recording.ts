import { recordKept } from '../pipeline/correction.ts'
import type { Parts } from '../pipeline/parts.ts'

/** Milliseconds between two tries to record what lies on the disk. */
const recordedEvery = 1_000

/** Records the outcomes that this process, another one or one that has died keeps on the disk, as soon as the database takes them. */
export function startRecording (parts: Parts): { close: () => Promise<void> } {
  let recording: Promise<void> | undefined
  const record = (): void => {
    recording ??= recordKept(parts).catch((error: unknown) => parts.log.debug({ err: error }, 'outcomes stay on the disk')).finally(() => { recording = undefined })
  }
  record()
  const timer = setInterval(record, recordedEvery)
  return {
    async close () {
      clearInterval(timer)
      await recording
    }
  }
}
