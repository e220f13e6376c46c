import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { type Binaries, copyBinaries } from './binaries.ts'
import { StartError } from './error.ts'
import { giveTo, type Owner } from './vanishing.ts'

/** The account that runs PostgreSQL, and how a command is started under it. */
export type OsAccount = {
  binaries: Binaries
  /** Words before the command: none, or `unshare` with its options. */
  prefix: string[]
  /** Options for `spawn`: empty when the account is the service's own. */
  ids: { uid?: number, gid?: number }
  /** The owner of the database's files, as the service sees it. */
  owner: Owner
}

/** A file in the database's folder that stays with the service's account. */
export const passwordFile = 'password'

/** The password, and the file that becomes it: two names of one file for a moment. */
const isPassword = (name: string): boolean => name === passwordFile || name.startsWith(`${passwordFile}.`)

/** "nobody" on Linux and the overflow id of user namespaces: it owns nothing else and needs no entry in /etc/passwd. */
const nobody = { uid: 65534, gid: 65534 }
const unshare = ['unshare', '--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`]

/**
 * PostgreSQL refuses to run as root. A root service runs it as `nobody`. If `nobody` cannot reach the files (a checkout in a 0700 home), it
 * runs in a user namespace that shows root as `nobody`. Without namespaces, it runs from a copy of the binaries beside the data. The
 * folders are given to the account.
 * @param folders the database's own folder first, then those outside it (the socket's)
 * @throws StartError when no account can reach the folders.
 */
export function chooseOsAccount (binaries: Binaries, folders: [string, ...string[]]): OsAccount {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  if (own.uid !== 0) return { binaries, prefix: [], ids: {}, owner: own }
  const account = rootAccount(binaries, folders)
  for (const folder of folders) giveTo(account.owner, folder, isPassword)
  return account
}

/** A program of the installation with its arguments, as a command for the account. */
export function commandOf ({ prefix: [first, ...rest], binaries }: OsAccount, program: string, args: string[]): [string, string[]] {
  const path = join(binaries.home, 'bin', program)
  return first === undefined ? [path, args] : [first, [...rest, path, ...args]]
}

/** Changes no owner: a rival start may already use the folders. */
function rootAccount (binaries: Binaries, folders: [string, ...string[]]): OsAccount {
  const dropped = { prefix: [], ids: nobody, owner: nobody }
  // A folder in another one is reached once that one is given to the account.
  const reachable = folders.map(folder => dirname(folder)).every(parent => folders.includes(parent) || nobodyMayEnterOrRun(parent))
  if (reachable && mayRun(binaries)) return { binaries, ...dropped }
  if (spawnSync('unshare', [...unshare.slice(1), 'true']).status === 0) {
    return { binaries, prefix: unshare, ids: {}, owner: { uid: 0, gid: 0 } }
  }
  if (reachable) return { binaries: readableCopy(binaries, folders[0]), ...dropped }
  throw new StartError(`PostgreSQL does not run as root, and user ${nobody.uid} cannot reach ${folders[0]}: ` +
    'choose a data directory whose parents it may enter (DISPATCH_DATA_DIR), or start the service as another user')
}

function readableCopy (binaries: Binaries, dir: string): Binaries {
  const copy = copyBinaries(binaries, dir)
  giveTo(nobody, copy.home)
  return copy
}

const mayRun = (binaries: Binaries) => nobodyMayEnterOrRun(join(binaries.home, 'bin/postgres'))

/** The kernel is asked, because access lists and mounts count besides the mode bits. */
function nobodyMayEnterOrRun (path: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'test -x "$0"', path], { ...nobody, cwd: '/' }).status === 0
}
