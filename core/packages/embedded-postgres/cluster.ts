import { execFile } from 'node:child_process'
import { accessSync, chownSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync,
  rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { StartError, systemErrorText } from './error.ts'
import { commandOf, type OsAccount } from './os-account.ts'
import { processExists } from './postmaster.ts'

/** The superuser that owns the embedded database. */
export const clusterOwner = 'dispatch'

/** The folder of the database. It is always complete: while initdb creates it, it has another name. */
export const dataOf = (dir: string): string => join(dir, 'data')

const initdb = [
  `--username=${clusterOwner}`,
  '--auth-local=trust',
  '--auth-host=reject',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
  '--no-instructions'
]
const unfinished = /^initdb-(\d+)-/

/**
 * Creates the database's folder and returns its real path, by which processes recognise each other.
 * @throws StartError when the folder cannot be created or written.
 */
export function openFolder (dir: string): string {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK)
    return realpathSync(dir)
  } catch (error) {
    throw new StartError(
      `The data directory ${dir} cannot be written (${systemErrorText(error)}): choose another with DISPATCH_DATA_DIR, or give the ` +
        'service access to it',
      { cause: error }
    )
  }
}

/**
 * Creates the database in `<dir>/data` if it does not exist. It is created under another name and then renamed, so that neither a killed
 * initdb nor two simultaneous starts leave an incomplete database.
 * @throws StartError when initdb fails, or when the database and the binaries have different major versions.
 */
export async function ensureCluster (dir: string, account: OsAccount, log: (line: string) => void): Promise<void> {
  const data = dataOf(dir)
  removeUnfinished(dir)
  if (!existsSync(data)) {
    log(`Creating the database in ${dir}`)
    await createCluster(dir, account)
  }
  const found = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  const major = account.binaries.version.split('.')[0] ?? ''
  if (found !== major) {
    throw new StartError(`The database in ${data} was made by PostgreSQL ${found} and this service brings ${major}: ` +
      'move the data with pg_dump, or choose another data directory')
  }
}

async function createCluster (dir: string, account: OsAccount): Promise<void> {
  const folder = mkdtempSync(join(dir, `initdb-${process.pid}-`))
  chownSync(folder, account.owner.uid, account.owner.gid)
  const [command, args] = commandOf(account, 'initdb', [...initdb, folder])
  try {
    await promisify(execFile)(command, args, { ...account.ids, cwd: dir, env: { PATH: process.env['PATH'] } })
    renameSync(folder, dataOf(dir))
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    if (existsSync(dataOf(dir))) return
    throw new StartError(`The database could not be created in ${dir}: ${complaintOf(error)}`, { cause: error })
  }
}

/** initdb names the cause on the first line that contains `error` or `FATAL`. */
function complaintOf (error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  return /(?:error|FATAL): +(.*)/.exec(stderr)?.[1] ?? systemErrorText(error)
}

/** The initdb of a killed service may still write: then the folder is not empty when it is removed, and it is tried again. */
function removeUnfinished (dir: string): void {
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }
  for (const name of readdirSync(dir)) {
    const pid = unfinished.exec(name)?.[1]
    if (pid !== undefined && !processExists(Number(pid))) rmSync(join(dir, name), options)
  }
}
