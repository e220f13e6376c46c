import type { Log } from '@dispatch/common'
import { createLocalFiles, createS3Files } from '@dispatch/files'
import type { KeyPlace } from '@dispatch/tables'
import { join } from 'node:path'
import type { Config } from './config.ts'

/** Where the data keys of companies are kept; undefined where documents are stored as they are. */
export function openKeysPlace (
  { dataDirectory, dataKeys }: Pick<Config, 'dataDirectory' | 'dataKeys'>,
  log: Pick<Log, 'error'>
): KeyPlace | undefined {
  if (dataKeys === undefined) return undefined
  if ('folder' in dataKeys) return createLocalFiles(dataKeys.folder)
  return createS3Files({ bucket: dataKeys.bucket, folder: join(dataDirectory, 'spool'), log, variable: 'DISPATCH_KEYS' })
}
