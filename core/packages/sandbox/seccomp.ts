import { endianness } from 'node:os'

type Numbers = Readonly<Record<string, readonly [x64: number | undefined, arm64: number | undefined]>>

/** Numbers of the system calls that an adapter has no use for (Linux, asm/unistd_64.h and asm-generic/unistd.h): x64, arm64. */
const denied = {
  // New connections; the ones to the host are there.
  socket: [41, 198],
  connect: [42, 203],
  accept: [43, 202],
  sendto: [44, 206],
  sendmsg: [46, 211],
  bind: [49, 200],
  listen: [50, 201],
  socketpair: [53, 199],
  accept4: [288, 242],
  sendmmsg: [307, 269],
  // Other processes: new ones, their signals, memory, priorities and limits.
  fork: [57, undefined],
  vfork: [58, undefined],
  kill: [62, 129],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  pidfd_send_signal: [424, 424],
  ptrace: [101, 117],
  kcmp: [312, 272],
  setpgid: [109, 154],
  setsid: [112, 157],
  setpriority: [141, 140],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  ioprio_set: [251, 30],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  // What the processes of a user share without a file (System V and POSIX).
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  semop: [65, 193],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  // Another user, and more rights.
  setuid: [105, 146],
  setgid: [106, 144],
  setreuid: [113, 145],
  setregid: [114, 143],
  setgroups: [116, 159],
  setresuid: [117, 147],
  setresgid: [119, 149],
  setfsuid: [122, 151],
  setfsgid: [123, 152],
  capset: [126, 91],
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
  fanotify_init: [300, 262],
  // The kernel itself, and the parts of it where most holes were found.
  syslog: [103, 116],
  adjtimex: [159, 171],
  settimeofday: [164, 170],
  sethostname: [170, 161],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
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
} satisfies Numbers

/** What starts a program: denied by the process itself, as whoever starts it needs them once. */
const programs = { execve: [59, 221], execveat: [322, 281] } satisfies Numbers

/** Calls that only the walls of a process are made with. */
const used = {
  close: [3, 57],
  fcntl: [72, 25],
  prctl: [157, 167],
  openat: [257, 56],
  seccomp: [317, 277],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446]
} satisfies Numbers

/** Calls of which the argument `index` decides: `values` of it are denied. The signals of a file reach whichever process owns it. */
const byArgument = [
  // fcntl: F_SETOWN, F_SETSIG, F_SETOWN_EX.
  { numbers: used.fcntl, index: 1, values: [8, 10, 15] },
  // ioctl: FIOSETOWN, SIOCSPGRP; TIOCSTI types at a terminal.
  { numbers: [16, 29], index: 1, values: [0x8901, 0x8902, 0x5412] }
] as const

/** Limits of another process; 0 is the one that asks. */
const prlimit = [302, 261] as const

const all: Numbers = { ...denied, ...programs, ...used }

/** A system call by its name. */
export type SystemCall = keyof typeof denied | keyof typeof programs | keyof typeof used

/** The number of a system call on this machine; undefined where it is not known. */
export function numberOf (call: SystemCall): number | undefined {
  const known = machines[process.arch]
  return known === undefined ? undefined : all[call]?.[known.index]
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
 * The seccomp filter of an adapter's process, as `bwrap --seccomp` and the kernel take it; undefined on machines whose numbers are not
 * known here. A denied call fails; one of another machine's table ends the process. Threads may be started, processes not; `starts`:
 * programs may be, in the place of the process.
 */
export function seccompFilter ({ starts }: { starts?: true } = {}): Buffer | undefined {
  const known = machines[process.arch]
  if (known === undefined || endianness() !== 'LE') return undefined
  const { index, audit, clone } = known
  const table: Numbers = { ...denied, ...starts === undefined && programs }
  const numbers = Object.values(table).flatMap((row) => row[index] ?? [])
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
    ...whereArgument(clone, 0, [[jumpIfSet, 1, 0, thread], [answer, 0, 0, notPermitted]]),
    ...whereArgument(prlimit[index], 0, [[jumpIfEqual, 1, 0, 0], [answer, 0, 0, notPermitted]]),
    ...byArgument.flatMap((call) =>
      whereArgument(call.numbers[index], call.index,
        call.values.flatMap((value): Instruction[] => [[jumpIfEqual, 0, 1, value], [answer, 0, 0, notPermitted]]))
    ),
    [answer, 0, 0, allow]
  ]
  return Buffer.concat(program.map(instruction))
}

/** Instructions for one call, about the lower half of its argument `index`; what they do not answer is allowed. */
function whereArgument (call: number, index: number, then: readonly Instruction[]): Instruction[] {
  return [[jumpIfEqual, 0, then.length + 2, call], [load, 0, 0, 16 + 8 * index], ...then, [answer, 0, 0, allow]]
}

function instruction ([code, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(value, 4)
  return bytes
}
