import type { Log } from '@dispatch/common'
import type { ProviderSource } from '@dispatch/core/source'
import type { Database } from '@dispatch/database'
import { inspectPackage } from '@dispatch/marketplace'
import type { Sandbox } from '@dispatch/sandbox'
import { dirname } from 'node:path'
import { listPresent, listUsedPackages, readPackageBytes } from '../store/adapters.ts'
import { type AdapterFiles, createAdapterFiles, type PackageFiles } from './adapter-files.ts'
import { createAdapterLoader, unlockRemoved } from './load-adapters.ts'
import { createLockFile } from './lock-file.ts'

/** The adapters of a process: their files, where they run, and how the host loads them. */
export type Adapters = ProviderSource & {
  files: AdapterFiles
  sandbox: () => Promise<Sandbox>
  /** Removes what killed processes left in the folder. It is called before anything else. */
  sweep: () => Promise<void>
  /** Begins to open the sandbox where an adapter is installed: what else is started need not wait for it. */
  openAhead: () => Promise<void>
  /** Brings the lock file of the data directory to what is installed, for a process that loads none. */
  unlock: () => Promise<void>
}

/** Makes the adapters of this process, in `folder`. `sandbox` is opened once the first adapter needs it. */
export function createAdapters ({ folder, database, sandbox, log }: {
  folder: string
  database: Database
  sandbox: () => Promise<Sandbox>
  log: Log
}): Adapters {
  const files = createAdapterFiles({
    root: folder,
    read: (integrity) => readFiles(database, integrity),
    onChange: (changed) =>
      log.error({ folder: changed }, 'the files of an adapter were changed on the disk: they are not run, but extracted again')
  })
  const lock = createLockFile({ folder: dirname(folder), files })
  return {
    files,
    sandbox,
    load: createAdapterLoader({ database, files, lock, sandbox, log }),
    present: listPresent,
    sweep: () =>
      files.sweep(() => listUsedPackages(database)).catch((err: unknown) => {
        log.warn({ err, folder }, 'what killed installations left could not be removed')
      }),
    async openAhead () {
      // Whoever loads an adapter says why it cannot be opened.
      if ((await listUsedPackages(database)).length > 0) void sandbox().catch(() => undefined)
    },
    unlock: () => unlockRemoved({ database, lock, log })
  }
}

async function readFiles (database: Database, integrity: string): Promise<PackageFiles> {
  const bytes = await readPackageBytes(database, integrity)
  if (bytes === undefined) throw new Error('Its package is not in the database any more.')
  return inspectPackage(bytes, { integrity }).files
}
