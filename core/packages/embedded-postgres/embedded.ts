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

export type Embedded = {
  /** For `pg`, libpq and `DATABASE_URL`. */
  url: string
  socketDir: string
  port: number
  /** Process number of the server. */
  pid: number
  /** True when an earlier run of the service left the server behind. */
  adopted: boolean
  /** Resolves when the hold on the database is gone: by `stop`, or because the server died or restarted by itself. */
  lost: Promise<void>
  /** Whether the server answers on the connection that holds it. */
  alive(): Promise<boolean>
  /** Ends every connection and the server (a fast shutdown); resolves when no process is left. May be called again. */
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  /** The database's own folder; created if need be. Nothing else belongs in it. */
  dir: string
  /** Settings of PostgreSQL on top of the service's. */
  settings?: ServerSettings
  /** Told, in a sentence, what takes long or is out of the ordinary. */
  log?: (line: string) => void
}

/** How long a start waits for a server that it did not launch to answer or to end (ms). */
const patience = 60_000
/** How long a killed service's connection may take to be noticed (ms). */
const handover = 2_000
/** Any fixed number serves; this one spells "dispatch" in ASCII. */
const instanceLock = '7235441202855961448'

/**
 * Starts the embedded PostgreSQL of one service, or adopts the one that a killed service left running on the same folder.
 * It does not keep the event loop alive, and goes on running when the process ends without `stop`.
 * @throws StartError when it cannot start, or another service holds the database.
 */
export async function startEmbedded ({ dir: path, settings = {}, log = () => undefined }: EmbeddedOptions): Promise<Embedded> {
  const dir = openFolder(path)
  ensurePassword(dir)
  let launched: number | undefined
  for (const end = performance.now() + patience; performance.now() < end;) {
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

/** The address of the embedded PostgreSQL that runs in the folder now, for a command beside the service; undefined when none does. */
export async function findEmbedded (path: string): Promise<string | undefined> {
  const dir = openFolder(path)
  const server = await findServer(dir)
  if (typeof server === 'string') return undefined
  await server.client.end()
  return socketUrl({ ...server.postmaster, password: readPasswordFile(dir) })
}

/**
 * Takes the lock that makes a service the only one on its database. It lasts as long as the client's connection, so it vanishes
 * with the process; give it a connection of its own.
 * @returns whether it is held: false when another service still has it after a moment's grace for one that was just killed.
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

/** A server is busy while it starts, recovers or ends. */
async function findServer (dir: string): Promise<Server | 'busy' | 'none'> {
  const data = dataOf(dir)
  const postmaster = readPostmaster(data)
  if (postmaster === undefined) return 'none'
  // Asked before its number is looked up: a server in another container has one that means nothing here.
  const server = await connect(postmaster, dir)
  return server ?? (isPostmaster(postmaster.pid, data) ? 'busy' : 'none')
}

/** A connection to the server of this very data directory: a copied one carries the pid file of the original. */
async function connect (postmaster: Postmaster, dir: string): Promise<Server | undefined> {
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: socketUrl({ ...postmaster, password: readPasswordFile(dir) }),
    connectionTimeoutMillis: 2_000,
    stream: () => socket
  })
  // A lost connection shows as `end`; pg throws errors that nobody listens to.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows: [row] } = await client.query<{ data: string }>('select current_setting(\'data_directory\') as data')
    if (row?.data === dataOf(dir)) return { postmaster, client, socket }
  } catch {
    // Whatever the reason, nobody answers here now; the caller looks whether a process lives.
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

/** False when the server ended meanwhile: whoever had it stopped it. */
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
