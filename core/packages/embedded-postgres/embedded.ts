import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ensurePassword, readPasswordFile, requirePassword, socketFolder, socketUrl } from './access.ts'
import { locateBinaries } from './binaries.ts'
import { dataOf, ensureCluster, openFolder } from './cluster.ts'
import { StartError } from './error.ts'
import { chooseOsAccount } from './os-account.ts'
import { isPostmaster, type Postmaster, readPostmaster, stopServer, takeOverPidFile } from './postmaster.ts'
import { launchServer, type ServerSettings } from './server.ts'

export { StartError } from './error.ts'

/** A running embedded PostgreSQL. */
export type Embedded = {
  /** For `pg`, libpq and `DATABASE_URL`. */
  url: string
  /** The folder of the unix socket. */
  socketDir: string
  /** The number in the name of the socket's file. */
  port: number
  /** The process id of the server. */
  pid: number
  /** True when an earlier run of the service left the server running. */
  adopted: boolean
  /** Resolves when the lock on the database is lost: by `stop`, or because the server died or restarted by itself. */
  lost: Promise<void>
  /** Whether the server answers on the connection that holds the lock. */
  alive(): Promise<boolean>
  /** Closes all connections and stops the server (a fast shutdown). It resolves when no process is left, and may be called again. */
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  /** The database's own folder, created if necessary. Nothing else may be in it. */
  dir: string
  /** PostgreSQL settings in addition to the service's own. */
  settings?: ServerSettings
  /** Called with a sentence about slow or unusual events. */
  log?: (line: string) => void
}

/** How long a start waits for another process's server to answer or to end, in milliseconds. */
const readyTimeoutMs = 60_000
/** How long it may take until the server notices the lost connection of a killed service, in milliseconds. */
const handover = 2_000
/** Any fixed number works. This one spells "dispatch" in ASCII. */
const instanceLock = '7235441202855961448'

/**
 * Starts the embedded PostgreSQL of one service, or takes over the server that a killed service left running on the same folder. It does
 * not keep the event loop alive, and continues to run when the process ends without `stop`.
 * @throws StartError when it cannot start, or when another service holds the lock.
 */
export async function startEmbedded ({ dir: path, settings = {}, log = () => undefined }: EmbeddedOptions): Promise<Embedded> {
  const dir = openFolder(path)
  ensurePassword(dir)
  let launched: number | undefined
  for (const end = performance.now() + readyTimeoutMs; performance.now() < end;) {
    const server = await findServer(dir)
    if (server === 'none') launched = await launch(dir, settings, log)
    else if (server === 'busy') await sleep(20)
    else if (await holdServer(server, dir)) {
      await requirePassword(server.client, dir)
      return describe(server, dir, launched)
    }
  }
  throw new StartError(`The PostgreSQL server in ${dir} neither answers nor ends: its log is ${dir}/postgres.log`)
}

/** The URL of the embedded PostgreSQL that runs on the folder, for a command besides the service; undefined when none runs. */
export async function findEmbedded (path: string): Promise<string | undefined> {
  const dir = openFolder(path)
  const server = await findServer(dir)
  if (typeof server === 'string') return undefined
  await server.client.end()
  return socketUrl({ ...server.postmaster, password: readPasswordFile(dir) })
}

/**
 * Takes the lock that reserves the database for one service. The lock lasts as long as the client's connection, so it ends with the
 * process. The client must be used for nothing else.
 * @returns whether the lock is held: false when another service still has it after a short wait for one that was just killed.
 */
export async function holdInstanceLock (client: pg.Client): Promise<boolean> {
  for (const end = performance.now() + handover; performance.now() < end;) {
    const { rows: [row] } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [instanceLock])
    if (row?.held === true) return true
    await sleep(20)
  }
  return false
}

type Server = { postmaster: Postmaster, client: pg.Client, socket: Socket }

/** A server that starts, recovers or ends is busy. */
async function findServer (dir: string): Promise<Server | 'busy' | 'none'> {
  const data = dataOf(dir)
  const postmaster = readPostmaster(data)
  if (postmaster === undefined) return 'none'
  // The server is asked before its process id is checked: the id of a server in another container has no meaning here.
  const server = await connect(postmaster, dir)
  return server ?? (isPostmaster(postmaster.pid, data) ? 'busy' : 'none')
}

/** A connection to the server of this very data directory. A copied directory contains the pid file of the original. */
async function connect (postmaster: Postmaster, dir: string): Promise<Server | undefined> {
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: socketUrl({ ...postmaster, password: readPasswordFile(dir) }),
    connectionTimeoutMillis: 2_000,
    stream: () => socket
  })
  // A lost connection is reported as `end`. pg also emits errors, which need a listener.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows: [row] } = await client.query<{ data: string }>('select current_setting(\'data_directory\') as data')
    if (row?.data === dataOf(dir)) return { postmaster, client, socket }
  } catch {
    // The server does not answer, for any reason. The caller checks whether its process lives.
  }
  await client.end()
  return undefined
}

async function launch (dir: string, settings: ServerSettings, log: (line: string) => void): Promise<number | undefined> {
  const socketDir = socketFolder(dir)
  const account = chooseOsAccount(locateBinaries(), [dir, socketDir])
  await ensureCluster(dir, account, log)
  takeOverPidFile(dataOf(dir))
  return await launchServer(dir, socketDir, account, settings)
}

/** False when another process has stopped the server meanwhile. */
async function holdServer ({ client }: Server, dir: string): Promise<boolean> {
  try {
    if (await holdInstanceLock(client)) return true
  } catch {
    return false
  }
  await client.end()
  throw new StartError(
    `Another instance of the service runs on ${dir}: stop it first, or give this one another data directory (DISPATCH_DATA_DIR)`
  )
}

function describe ({ postmaster: { pid, port, socketDir }, client, socket }: Server, dir: string, launched: number | undefined): Embedded {
  socket.unref()
  const lost = new Promise<void>(resolve => client.once('end', resolve))
  let stopped: Promise<void> | undefined
  const stop = () => stopped ??= stopServer(pid, dataOf(dir))
  const alive = () => client.query('select').then(() => true, () => false)
  return {
    url: socketUrl({ socketDir, port, password: readPasswordFile(dir) }),
    socketDir,
    port,
    pid,
    adopted: pid !== launched,
    lost,
    alive,
    stop
  }
}
