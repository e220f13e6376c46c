import type { Log } from '@dispatch/common'
import { createLocalFiles, createS3Files, type FileKeys, type FileStore } from '@dispatch/files'
import { join } from 'node:path'
import type { Config } from './config.ts'

/** Where documents and uploads are kept; sealed, where there are keys. */
export function openFiles (
  { dataDirectory, storage: bucket }: Pick<Config, 'dataDirectory' | 'storage'>,
  { keys, log }: { keys: FileKeys | undefined, log: Pick<Log, 'error'> }
): FileStore {
  return bucket === undefined
    ? createLocalFiles(join(dataDirectory, 'files'), keys)
    : createS3Files({ bucket, folder: join(dataDirectory, 'spool'), log, keys })
}
