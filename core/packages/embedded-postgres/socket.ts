import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clusterOwner } from './cluster.ts'
import { StartError } from './error.ts'

/** Part of the socket's file name; nothing listens on the network. */
export const socketPort = 5432
/** Bytes, without the final NUL: sockaddr_un has 104 on macOS and 108 on Linux. */
const longest = 103

/**
 * The folder of the unix socket: `<dir>/run`, or one derived from the path under the system's temporary directory where that
 * would be too long for a socket. Only its owner may enter.
 * @throws StartError when somebody else made the folder.
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

/** Where a server is reached, and with which password if it has one. */
export type SocketAddress = { socketDir: string, port: number, password: string | undefined }

/** The address of a server's database, as libpq and pg read it. */
export function socketUrl ({ socketDir, port, password }: SocketAddress, database = 'postgres'): string {
  return `postgres://${clusterOwner}${password === undefined ? '' : `:${password}`}@/${database}?host=${
    encodeURIComponent(socketDir)
  }&port=${port}`
}

const fits = (folder: string) => Buffer.byteLength(join(folder, `.s.PGSQL.${socketPort}`)) <= longest

/** A root service may have given the folder to the account of the database. */
const mayOwn = (uid: number) => process.getuid?.() === 0 ? [0, 65534].includes(uid) : uid === process.getuid?.()
