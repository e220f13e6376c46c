import type { Database } from '@dispatch/database'
import { draftEnding, type FileStore, isSealed } from '@dispatch/files'
import { listCompanyIds, sealRows } from '@dispatch/tables'
import { fileFolders } from './pipeline/run/content.ts'

/** How many files and values of columns were sealed. `left`: values that are not, because others had changed their rows meanwhile. */
export type SealedCounts = { files: number, values: number, left: number }

/**
 * Seals what was stored before there were data keys: files, and values of columns. The database and the files have the keys. It may be
 * interrupted, and is run again then; what is sealed stays as it is.
 */
export async function sealStored (
  database: Pick<Database, 'owner'>,
  files: Pick<FileStore, 'listBelow' | 'read' | 'put'>
): Promise<SealedCounts> {
  const { values, left } = await sealRows(database)
  let count = 0
  for (const companyId of await listCompanyIds(database)) {
    for (const folder of fileFolders) {
      for (const key of await files.listBelow(`${folder}/${companyId}`)) if (await sealFile(files, key)) count++
    }
  }
  return { files: count, values, left }
}

/**
 * A file that is removed at this very moment may be there again, sealed. Nothing names it then, and it goes with its company.
 */
async function sealFile (files: Pick<FileStore, 'read' | 'put'>, key: string): Promise<boolean> {
  if (key.endsWith(draftEnding)) return false
  const bytes = await files.read(key)
  if (bytes === undefined || isSealed(bytes)) return false
  await files.put(key, bytes)
  return true
}
