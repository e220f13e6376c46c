import { withTimeLimit } from '@dispatch/common'
import type { Log } from '@dispatch/host/provider'
import { existsSync } from 'node:fs'
import { mkdir, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startChild } from './child.ts'
import { type Launch, launchAs, plainLaunch, type Readables, wrappedLaunch } from './launch.ts'
import { seccompFilter } from './seccomp.ts'
import { gapsInWords, howToClose, type Walls } from './walls.ts'

/** How adapters are started on this machine, and the walls that a process found that was started so. */
export type Launcher = {
  walls: Walls
  launch: (readables: Omit<Readables, 'canary'>) => Promise<Launch>
}

/** `cache` is the folder of the runtime. `bwrap`: where bubblewrap may lie. */
export type LauncherOptions = { runtime: string, cache: string, log: Log, bwrap?: readonly string[] }

/** A way to start a process. */
type Way = (readables: Readables) => Promise<Launch>

/** The user that owns nothing, on every system. */
const nobody = 65_534
/** Milliseconds that a process may take to answer for the first time. */
const answerWithin = 10_000

/**
 * Finds out how adapters are started on this machine, by trying: the first of the ways that starts a process which answers. What its walls
 * do not hold is one line of the log.
 */
export async function findLauncher ({
  runtime,
  cache,
  log,
  bwrap = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap']
}: LauncherOptions): Promise<Launcher> {
  const folder = await realpath(cache)
  const canary = join(folder, 'canary')
  await writeFile(canary, 'An adapter that can read this can read the files of the service.\n', { mode: 0o600 })
  const empty = join(folder, 'empty')
  await mkdir(empty, { recursive: true })
  for (const [name, way] of await waysOf(folder, bwrap)) {
    const launch: Launcher['launch'] = (readables) => way({ ...readables, canary })
    const walls = await tryWay(await launch({ runtime, entry: runtime, folder: empty }), empty).catch(String)
    if (typeof walls === 'string') {
      log.debug({ way: name, why: walls }, 'adapters cannot be started in this way')
      continue
    }
    const { layers, gaps } = walls
    if (gaps.length === 0) log.info({ layers }, 'adapters run in processes of their own')
    else log.warn({ layers, gaps }, `adapters run in processes of their own, but: ${gapsInWords(gaps)} ${howToClose}`)
    return { walls, launch }
  }
  throw new Error('No process of an adapter can be started here.')
}

async function waysOf (cache: string, homes: readonly string[]): Promise<[string, Way][]> {
  const bwrap = homes.find((path) => existsSync(path))
  const filter = bwrap === undefined ? undefined : await writeFilter(cache)
  const plain: Way = async (readables) =>
    process.getuid?.() === 0 && await isOpenToAll(readables) ? launchAs(nobody, readables) : plainLaunch(readables)
  if (bwrap === undefined) return [['plain', plain]]
  const wrapped = (file?: string): Way => (readables) => Promise.resolve(wrappedLaunch(bwrap, file, readables))
  return [
    ...filter === undefined ? [] : [['bubblewrap and a filter', wrapped(filter)] satisfies [string, Way]],
    ['bubblewrap', wrapped()],
    ['plain', plain]
  ]
}

async function writeFilter (cache: string): Promise<string | undefined> {
  const filter = seccompFilter({ starts: true })
  if (filter === undefined) return undefined
  const path = join(cache, 'seccomp.bpf')
  await writeFile(path, filter)
  return path
}

const nowhere: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** The walls of a process that is started in this way. Rejects where it does not answer. */
async function tryWay (launch: Launch, folder: string): Promise<Walls> {
  const child = startChild({ launch, folder, code: 'trial', log: nowhere })
  try {
    return await withTimeLimit(answerWithin, child.ask('walls', {}))
  } finally {
    child.kill()
  }
}

/** Whether every user can read what an adapter reads, down from the root. */
async function isOpenToAll ({ runtime, entry, folder }: Readables): Promise<boolean> {
  const open = async (path: string, bits: number): Promise<boolean> => {
    const { mode } = await stat(path)
    return (mode & bits) === bits && (path === '/' || await open(dirname(path), 0o001))
  }
  return (await Promise.all([open(runtime, 0o004), open(entry, 0o004), open(folder, 0o005), open(process.execPath, 0o005)])).every(Boolean)
}
