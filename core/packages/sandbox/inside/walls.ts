import { readFileSync } from 'node:fs'
import { seccompFilter } from '../seccomp.ts'
import { type Layer, type Reach, reaches, type Walls, type WallsPlan } from '../walls.ts'
import { type Kernel, openKernel } from './kernel.ts'

/** Numbers of Linux (linux/prctl.h, linux/seccomp.h, linux/landlock.h, asm-generic/fcntl.h, asm-generic/errno-base.h). */
const [diesWithParent, noNewPrivileges] = [1, 38]
const sigkill = 9
const [filterMode, allThreads] = [1, 1]
const [landlockVersion, ruleBeneath] = [1, 1]
const [readFile, readFolder] = [0x4, 0x8]
const here = -100
const [closeOnExec, pathOnly] = [0o2000000, 0o10000000]
const [setDescriptorFlags, standardStreams] = [2, [0, 1, 2]]
const [notPermitted, noSuchFile, badAddress, notImplemented] = [1, 2, 14, 38]
const [internet, stream] = [2, 1]

/**
 * Raises the walls of this process and tries them, before anything of an adapter is loaded; then nothing here can make system calls by
 * itself any more. They need no rights and no namespaces: Landlock keeps the files, seccomp denies the calls that an adapter has no use
 * for. The threads that V8 has started before are under seccomp alone; they run no code of an adapter.
 */
export function raiseWalls (plan: WallsPlan): Walls {
  const kernel = openKernel()
  if (kernel === undefined) return { layers: permissionsOf(plan), gaps: reaches }
  kernel.call('prctl', diesWithParent, sigkill)
  kernel.call('prctl', noNewPrivileges, 1)
  closeRing(kernel)
  const before = lookAround(kernel, plan)
  holdFiles(kernel, plan.readable)
  filterCalls(kernel, seccompFilter())
  const after = lookAround(kernel, plan)
  kernel.close()
  const isElsewhere = before.canary === noSuchFile
  const layers: readonly (Layer | false)[] = [
    isElsewhere && 'namespaces',
    before.executable === 0 && after.executable !== 0 && 'landlock',
    before.start !== after.start && 'seccomp',
    !isElsewhere && process.getuid?.() !== plan.user && 'user'
  ]
  return { layers: [...permissionsOf(plan), ...layers.filter((layer) => layer !== false)], gaps: after.gaps }
}

/** What Node permits is asked of Node. */
function permissionsOf ({ canary }: WallsPlan): Layer[] {
  try {
    readFileSync(canary)
    return []
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ERR_ACCESS_DENIED' ? ['node-permissions'] : []
  }
}

type Found = { gaps: Reach[], canary: number, executable: number, start: number }

/** Tries what must not be reached, none of which does harm: the gaps, and the numbers of the errors that tell the layers. */
function lookAround (kernel: Kernel, { host, canary }: WallsPlan): Found {
  const opened = ({ value, error }: ReturnType<Kernel['call']>): number => {
    if (value >= 0) kernel.call('close', value)
    return error
  }
  const open = (path: string): number => opened(kernel.call('openat', here, text(path), closeOnExec))
  const found = { canary: open(canary), executable: open(process.execPath), start: kernel.call('execve', 0, 0, 0).error }
  const tried: Record<Reach, boolean> = {
    files: found.canary === 0,
    signals: kernel.call('kill', host, 0).error === 0,
    memory: isReadable(kernel, host) || open(`/proc/${host}/mem`) === 0,
    connections: opened(kernel.call('socket', internet, stream, 0)) === 0,
    programs: found.start === badAddress
  }
  return { ...found, gaps: reaches.filter((reach) => tried[reach]) }
}

/** Whether the memory of a process may be read: then an address where nothing lies is what is wrong. */
function isReadable (kernel: Kernel, pid: number): boolean {
  const byte = Buffer.alloc(1)
  const [local, remote] = [vector(kernel.addressOf(byte)), vector(1n)]
  const { value, error } = kernel.call('process_vm_readv', pid, local, 1, remote, 1, 0)
  return value >= 0 || error === badAddress
}

/** One piece of memory of one byte (struct iovec). */
function vector (address: bigint): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeBigUInt64LE(address, 0)
  bytes.writeBigUInt64LE(1n, 8)
  return bytes
}

/**
 * A ring of io_uring would go past every filter, and Node's event loop makes one where it may: then this process starts itself again
 * where it may not. Returns where there is none.
 */
function closeRing (kernel: Kernel): void {
  const { error } = kernel.call('io_uring_setup', 0, 0)
  if (error === notPermitted || error === notImplemented) return
  if (!filterCalls(kernel, seccompFilter({ starts: true }))) return
  const words = [process.execPath, ...process.execArgv, ...process.argv.slice(1)].map(text)
  const pointers = Buffer.alloc(8 * (words.length + 1))
  words.forEach((word, index) => pointers.writeBigUInt64LE(kernel.addressOf(word), 8 * index))
  // Node has set them to close.
  for (const descriptor of standardStreams) kernel.call('fcntl', descriptor, setDescriptorFlags, 0)
  const started = kernel.call('execve', text(process.execPath), pointers, Buffer.alloc(8))
  throw new Error(`It could not start itself again: error ${started.error}, ${words.length} words.`)
}

/** Nothing but this can be opened, and no socket of TCP: for this thread and those that it starts. */
function holdFiles (kernel: Kernel, readable: readonly string[]): void {
  const version = kernel.call('landlock_create_ruleset', 0, 0, landlockVersion).value
  if (version < 1) return
  const rights = Buffer.alloc(24)
  rights.writeBigUInt64LE(0x1FFFn | (version < 2 ? 0n : 0x2000n) | (version < 3 ? 0n : 0x4000n) | (version < 5 ? 0n : 0x8000n), 0)
  // Binding and connecting; abstract sockets and signals.
  rights.writeBigUInt64LE(0x3n, 8)
  rights.writeBigUInt64LE(0x3n, 16)
  const size = version < 4 ? 8 : version < 6 ? 16 : 24
  const rules = kernel.call('landlock_create_ruleset', rights, size, 0).value
  for (const path of readable) {
    const place = kernel.call('openat', here, text(path), pathOnly | closeOnExec).value
    const rule = Buffer.alloc(12)
    rule.writeBigUInt64LE(BigInt(path.endsWith('/') ? readFile | readFolder : readFile), 0)
    rule.writeInt32LE(place, 8)
    kernel.call('landlock_add_rule', rules, ruleBeneath, rule, 0)
    kernel.call('close', place)
  }
  kernel.call('landlock_restrict_self', rules, 0)
  kernel.call('close', rules)
}

/** Puts a filter before the system calls of all threads; whether the kernel took it. */
function filterCalls (kernel: Kernel, filter: Buffer | undefined): boolean {
  if (filter === undefined) return false
  const program = Buffer.alloc(16)
  program.writeUInt16LE(filter.length / 8, 0)
  program.writeBigUInt64LE(kernel.addressOf(filter), 8)
  return kernel.call('seccomp', filterMode, allThreads, program).value === 0
}

/** A text as C reads it. */
function text (words: string): Buffer {
  return Buffer.from(`${words}\0`)
}
