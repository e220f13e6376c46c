import type { Log } from '@dispatch/common'
import { runEvery } from '@dispatch/queue'
import type { UploadedFiles } from './files.ts'

/** Milliseconds between two looks for files to remove. */
const every = 3_600_000

/** Removes files that have expired, now and every hour. */
export function sweepFiles ({ uploadedFiles, log }: { uploadedFiles: UploadedFiles, log: Log }): AsyncDisposable {
  const sweeping = runEvery(every, uploadedFiles.sweep, (err) => {
    log.warn({ err }, 'expired files could not be removed')
  })
  return { [Symbol.asyncDispose]: sweeping.close }
}
