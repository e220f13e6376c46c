import { isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import type { WallsPlan } from './walls.ts'

/** Megabytes of an adapter's heap. */
const heap = 128

/** What an adapter's process may read: the runtime, its entry, its folder. `canary`: a file that it must not read, to see that. */
export type Readables = { runtime: string, entry: string, folder: string, canary: string }

/** How a process is started: its command, and the file that it finds open as its descriptor 3, where it needs one. */
export type Launch = { command: readonly [string, ...string[]], opened?: string, user?: number }

/** The user that an adapter is in its own namespace. */
const nobody = '65534'

/** The descriptor under which {@link Launch} `opened` is found. */
const openedAs = 3

/**
 * The command that starts the process of an adapter under Node's permission model: no network, no children, no workers, no addons, no
 * inspector, no WASI, no writing; reading of what it needs alone; no code from texts. It holds mistakes, not attackers. FFI is what the
 * process raises its walls with, and gives up then (inside/walls.ts). Without V8's optimizing compilers a process takes 58 MB after 500
 * calls in place of 74, and has none of their weaknesses; a loop takes four times as long, of which an adapter has none that counts.
 */
function nodeCommand ({ runtime, entry, folder, canary }: Readables): string[] {
  const readable = [`${folder}/`, ...new Set([runtime, entry])]
  const plan: WallsPlan = { host: process.pid, user: process.getuid?.() ?? -1, readable, canary }
  return [
    process.execPath,
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...isBuiltin('node:ffi') ? ['--allow-ffi', '--disable-warning=PERM0003', '--disable-warning=ExperimentalWarning'] : [],
    '--disallow-code-generation-from-strings',
    '--disable-proto=throw',
    '--no-experimental-sqlite',
    '--no-addons',
    '--disable-sigusr1',
    `--max-old-space-size=${heap}`,
    '--max-semi-space-size=2',
    '--optimize-for-size',
    '--no-opt',
    '--no-maglev',
    runtime,
    JSON.stringify(plan)
  ]
}

/** Node's permissions alone. Nothing reaches its environment, whatever watches or wraps the starting of processes. */
export function plainLaunch (readables: Readables): Launch {
  return { command: ['/usr/bin/env', '-i', ...nodeCommand(readables)] }
}

/** Besides, as another user: what that user cannot read is out of reach whatever Node permits. */
export function launchAs (user: number, readables: Readables): Launch {
  return { ...plainLaunch(readables), user }
}

/**
 * Besides, in namespaces of its own (bubblewrap): a file system that has Node, its libraries and what the adapter may read, all of it
 * read-only; no network, no other process, no rights. `filter` is the file of a seccomp filter that stands from the start, so that Node
 * makes no ring of io_uring, which goes past filters.
 */
export function wrappedLaunch (bwrap: string, filter: string | undefined, readables: Readables): Launch {
  const { runtime, entry, folder } = readables
  const bound = [...new Set([process.execPath, ...librariesOfNode(), runtime, entry, folder])]
  const binds = bound.flatMap((path) => ['--ro-bind', path, path])
  return {
    command: [
      bwrap,
      '--unshare-all',
      '--die-with-parent',
      '--new-session',
      '--clearenv',
      ...['--uid', nobody, '--gid', nobody],
      ...['--hostname', 'adapter'],
      ...['--cap-drop', 'ALL'],
      ...binds,
      ...['--chdir', folder],
      ...filter === undefined ? [] : ['--seccomp', String(openedAs)],
      ...nodeCommand(readables)
    ],
    ...(filter !== undefined && { opened: filter })
  }
}

let libraries: readonly string[] | undefined

/** The shared objects that Node was started with, and what the loader finds them by. */
function librariesOfNode (): readonly string[] {
  libraries ??= readLibraries()
  return libraries
}

function readLibraries (): string[] {
  const { sharedObjects = [] } = process.report.getReport() as { sharedObjects?: string[] }
  const own = dirname(process.execPath)
  return sharedObjects.filter((path) => /^\/(usr\/)?lib/.test(path) || (path.startsWith(`${own}/`) && path !== process.execPath))
}
