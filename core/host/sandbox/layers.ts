import { withTimeLimit } from '@dispatch/common'
import { existsSync } from 'node:fs'
import { mkdir, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Log } from '../call/log.ts'
import { startChild } from './child.ts'
import { type Launch, launchAs, plainLaunch, type Readables, wrappedLaunch } from './launch.ts'
import { seccompFilter } from './seccomp.ts'

/** What stands between an adapter and the machine. */
export type Layer = 'node-permissions' | 'namespaces' | 'seccomp' | 'user'

/** How adapters are started on this machine. */
export type Launcher = {
  layers: readonly Layer[]
  launch: (readables: Readables) => Promise<Launch>
}

const homes = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap']

/** The user that owns nothing, on every system. */
const nobody = 65_534
/** Milliseconds that a process may take to answer for the first time. */
const answerWithin = 10_000

/**
 * Finds out which layers this machine has, by trying: the first of the ways that starts a process which answers. `cache` is the folder of
 * the runtime. What is weaker is one line of the log.
 */
export async function findLauncher (runtime: string, cache: string, log: Log): Promise<Launcher> {
  const readables = { runtime, entry: runtime, folder: await realpath(cache) }
  for (const launcher of await waysOf(cache)) {
    const why = await failureOfTrial(await launcher.launch(readables), readables.folder)
    if (why !== undefined) {
      log.debug({ layers: launcher.layers, why }, 'adapters cannot be started in this way')
      continue
    }
    const missing = weaknesses(launcher.layers)
    if (missing.length === 0) log.info({ layers: launcher.layers }, 'adapters run in processes of their own')
    else log.warn({ layers: launcher.layers }, `adapters run in processes of their own, but ${missing.join(', and ')}`)
    return launcher
  }
  throw new Error('No process of an adapter can be started here.')
}

async function waysOf (cache: string): Promise<Launcher[]> {
  const bwrap = homes.find((path) => existsSync(path))
  const filter = bwrap === undefined ? undefined : await writeFilter(cache)
  const plain: Launcher = {
    layers: process.getuid?.() === 0 ? ['node-permissions', 'user'] : ['node-permissions'],
    launch: async (readables) =>
      process.getuid?.() === 0 && await isOpenToAll(readables) ? launchAs(nobody, readables) : plainLaunch(readables)
  }
  if (bwrap === undefined) return [plain]
  const wrapped = (file: string | undefined): Launcher => ({
    layers: ['node-permissions', 'namespaces', ...file === undefined ? [] : ['seccomp'] as const],
    launch: (readables) => Promise.resolve(wrappedLaunch(bwrap, file, readables))
  })
  return [...filter === undefined ? [] : [wrapped(filter)], wrapped(undefined), plain]
}

async function writeFilter (cache: string): Promise<string | undefined> {
  const filter = seccompFilter()
  if (filter === undefined) return undefined
  const path = join(cache, 'seccomp.bpf')
  await mkdir(cache, { recursive: true })
  await writeFile(path, filter)
  return path
}

const nowhere: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** Why a process that is started in this way does not answer; undefined: it does. */
async function failureOfTrial (launch: Launch, folder: string): Promise<string | undefined> {
  const child = startChild({ launch, folder, code: 'trial', log: nowhere })
  try {
    await withTimeLimit(answerWithin, child.ask('ping', {}))
    return undefined
  } catch (error) {
    return String(error)
  } finally {
    child.kill()
  }
}

/** What a machine without all layers does not hold, in words. */
function weaknesses (layers: readonly Layer[]): string[] {
  if (layers.includes('seccomp')) return []
  if (layers.includes('namespaces')) return ['without a seccomp filter: this machine takes none']
  const user = layers.includes('user') ? [] : ['as the user of the service itself']
  return [
    'only Node\'s permissions hold them, which stop mistakes and not attackers: install bubblewrap (Linux), and allow user namespaces',
    ...user
  ]
}

/** Whether every user can read what an adapter reads, down from the root. */
async function isOpenToAll ({ runtime, entry, folder }: Readables): Promise<boolean> {
  const open = async (path: string, bits: number): Promise<boolean> => {
    const { mode } = await stat(path)
    return (mode & bits) === bits && (path === '/' || await open(dirname(path), 0o001))
  }
  return (await Promise.all([open(runtime, 0o004), open(entry, 0o004), open(folder, 0o005), open(process.execPath, 0o005)])).every(Boolean)
}
