import { endianness } from 'node:os'

/** Numbers of the system calls that an adapter has no use for (Linux, asm/unistd_64.h and asm-generic/unistd.h): x64, arm64. */
const denied: Readonly<Record<string, readonly [x64: number | undefined, arm64: number | undefined]>> = {
  // New connections; the ones to the host are there.
  socket: [41, 198],
  connect: [42, 203],
  accept: [43, 202],
  sendto: [44, 206],
  sendmsg: [46, 211],
  bind: [49, 200],
  listen: [50, 201],
  accept4: [288, 242],
  sendmmsg: [307, 269],
  // Other processes.
  fork: [57, undefined],
  vfork: [58, undefined],
  kill: [62, 129],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  // File systems and namespaces.
  pivot_root: [155, 41],
  chroot: [161, 51],
  mount: [165, 40],
  umount2: [166, 39],
  unshare: [272, 97],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  setns: [308, 268],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsmount: [432, 432],
  mount_setattr: [442, 442],
  // The kernel itself, and the parts of it where most holes were found.
  syslog: [103, 116],
  personality: [135, 92],
  acct: [163, 89],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  init_module: [175, 105],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  perf_event_open: [298, 241],
  finit_module: [313, 273],
  kexec_file_load: [320, 294],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427]
}

/** What differs between the machines: the audit number (linux/audit.h), and the two calls that start threads. */
const machines: Readonly<Record<string, { index: 0 | 1, audit: number, clone: number }>> = {
  x64: { index: 0, audit: 0xC000_003E, clone: 56 },
  arm64: { index: 1, audit: 0xC000_00B7, clone: 220 }
}
const clone3 = 435
/** The flag of `clone` that makes a thread rather than a process (linux/sched.h). */
const thread = 0x1_0000

/** Instructions of classic BPF (linux/filter.h, linux/seccomp.h). */
const load = 0x20
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const jumpIfSet = 0x45
const answer = 0x06
const allow = 0x7FFF_0000
const kill = 0x8000_0000
const errorOf = (errno: number): number => 0x5_0000 + errno
const notPermitted = errorOf(1)
const notImplemented = errorOf(38)
/** From here on the numbers are those of x32, another table of the same machine. */
const x32 = 0x4000_0000

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number]

/**
 * The seccomp filter of an adapter's process, as `bwrap --seccomp` takes it; undefined on machines whose numbers are not known here. A
 * denied call fails; one of another machine's table ends the process. Threads may be started, processes not.
 */
export function seccompFilter (machine: string = process.arch): Buffer | undefined {
  const known = machines[machine]
  if (known === undefined || endianness() !== 'LE') return undefined
  const { index, audit, clone } = known
  const numbers = Object.values(denied).flatMap((row) => row[index] ?? [])
  const program: Instruction[] = [
    [load, 0, 0, 4],
    [jumpIfEqual, 1, 0, audit],
    [answer, 0, 0, kill],
    [load, 0, 0, 0],
    [jumpIfAtLeast, 0, 1, x32],
    [answer, 0, 0, kill],
    ...numbers.flatMap((number): Instruction[] => [[jumpIfEqual, 0, 1, number], [answer, 0, 0, notPermitted]]),
    // The C library falls back to clone, whose flags can be seen.
    [jumpIfEqual, 0, 1, clone3],
    [answer, 0, 0, notImplemented],
    [jumpIfEqual, 0, 3, clone],
    [load, 0, 0, 16],
    [jumpIfSet, 1, 0, thread],
    [answer, 0, 0, notPermitted],
    [answer, 0, 0, allow]
  ]
  return Buffer.concat(program.map(instruction))
}

function instruction ([code, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(value, 4)
  return bytes
}
