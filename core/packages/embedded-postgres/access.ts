import { createHash, randomBytes } from 'node:crypto'
import { chownSync, existsSync, linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { clusterOwner, dataOf } from './cluster.ts'
import { StartError, systemErrorText } from './error.ts'
import { passwordFile } from './os-account.ts'
import { readPostmaster, signalServer } from './postmaster.ts'

/** Part of the socket's file name; no network port is opened. */
export const socketPort = 5432
/** Bytes, without the final NUL: sockaddr_un has 104 on macOS and 108 on Linux. */
const longest = 103

/**
 * The folder of the unix socket: `<dir>/run`. If that path is too long for a socket, a folder in the system's temporary directory, with a
 * name derived from the path. Only its owner may enter.
 * @throws StartError when another user made the folder.
 */
export function socketFolder (dir: string): string {
  const short = `dispatch-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`
  const folder = [join(dir, 'run'), join(tmpdir(), short)].find(fits) ?? join('/tmp', short)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  if (!mayOwn(uid) || (mode & 0o077) !== 0 || !lstatSync(folder).isDirectory()) {
    throw new StartError(`The folder ${folder}, needed for the database's socket, belongs to user ${uid} or is open to others: remove it`)
  }
  return folder
}

/** The address of a server, and its password if it has one. */
export type SocketAddress = { socketDir: string, port: number, password: string | undefined }

/** The URL of a server's database, as libpq and pg read it. */
export function socketUrl ({ socketDir, port, password }: SocketAddress, database = 'postgres'): string {
  return `postgres://${clusterOwner}${password === undefined ? '' : `:${password}`}@/${database}?host=${
    encodeURIComponent(socketDir)
  }&port=${port}`
}

const fits = (folder: string) => Buffer.byteLength(join(folder, `.s.PGSQL.${socketPort}`)) <= longest

/** A root service may have given the folder to the account of the database. */
const mayOwn = (uid: number) => process.getuid?.() === 0 ? [0, 65534].includes(uid) : uid === process.getuid?.()

/** Who may connect: everybody who knows the password. Until it is set, everybody who reaches the socket. */
const closed = '# Written by the service.\nlocal all all scram-sha-256\n'
const open = '# Written by the service, until the password is set.\nlocal all all trust\n'

/** The password of the database's owner; undefined while there is none. */
export function readPasswordFile (dir: string): string | undefined {
  const file = join(dir, passwordFile)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

/**
 * Makes a random password if there is none, in a file that only the service can read. An existing database without a password (an old one,
 * or one whose file is lost) accepts everybody who reaches its socket, until {@link requirePassword} sets the new password.
 * @throws StartError when the file cannot be read or written.
 */
export function ensurePassword (dir: string): void {
  // Asked first: a database that a rival start creates meanwhile gets this password, and is not to be opened.
  const isOld = existsSync(dataOf(dir))
  try {
    if (readPasswordFile(dir) !== undefined) return
    if (!createOnce(join(dir, passwordFile), `${randomBytes(32).toString('hex')}\n`)) return
  } catch (cause) {
    throw new StartError(
      `The password of the database in ${join(dir, passwordFile)} cannot be used (${systemErrorText(cause)}): give the file to the ` +
        'user of the service, or remove it for a new one',
      { cause }
    )
  }
  if (isOld) reopen(dir)
}

function reopen (dir: string): void {
  replace(accessOf(dir), open)
  const running = readPostmaster(dataOf(dir))
  if (running !== undefined) signalServer(running.pid, dataOf(dir), 'SIGHUP')
}

/**
 * Sets the password over a connection that needed none. From then on, every connection needs it. It does nothing if the password is already
 * set.
 */
export async function requirePassword (client: pg.Client, dir: string): Promise<void> {
  const password = readPasswordFile(dir)
  if (password === undefined || readFileSync(accessOf(dir), 'utf8') === closed) return
  await client.query(`alter role ${clusterOwner} password ${client.escapeLiteral(password)}`)
  replace(accessOf(dir), closed)
  await client.query('select pg_reload_conf()')
}

const accessOf = (dir: string): string => join(dataOf(dir), 'pg_hba.conf')

/** Creates the file completely or not at all, and never replaces an existing one. The result tells whether this call created it. */
function createOnce (file: string, text: string): boolean {
  const whole = `${file}.${process.pid}`
  writeFileSync(whole, text, { mode: 0o600, flush: true })
  try {
    linkSync(whole, file)
    return true
  } catch (error) {
    if (systemErrorText(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(whole)
  }
}

/** Replaces the content of a file and keeps its owner. */
function replace (file: string, text: string): void {
  const { uid, gid } = statSync(file)
  const whole = `${file}.${process.pid}`
  writeFileSync(whole, text, { mode: 0o600, flush: true })
  chownSync(whole, uid, gid)
  renameSync(whole, file)
}
