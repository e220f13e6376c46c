import { memoryUsage } from 'node:process'

/** The share of its time for which a process that has nothing to do works at most. */
const idle = 0.05

/** A busy process soon takes back what it gives, which costs it time: it gives at each of so many looks. */
const busyLooks = 6

/**
 * Bytes in the heap, and in the buffers that it holds, that are worth a collection: it takes a tenth of a second. An idle process itself
 * fills 16 MiB of young objects.
 */
const worth = 24 * 1024 * 1024

/** The milliseconds between two looks, and what collects. */
export type GivingOptions = { every?: number, collect?: NodeJS.GCFunction | undefined }

/**
 * Gives memory back to the system. What is free between the allocations of glibc: by itself glibc keeps it, in an arena of its own for each
 * thread that compiles or renders. That takes 2 ms. And, when the process has nothing to do, the heap and the buffers that the start and
 * busy times leave: V8 by itself keeps half as much again as is in use. It needs the option `--expose-gc` of Node, and does nothing without
 * it. Answers what ends it.
 */
export function giveMemoryBack ({ every = 5_000, collect = globalThis.gc }: GivingOptions = {}): Disposable {
  if (collect === undefined) return { [Symbol.dispose]: () => undefined }
  let trim: (() => void) | undefined
  let [kept, looks] = [0, 0]
  let before = timesOf()
  const looking = setInterval(() => {
    const now = timesOf()
    const [worked, rested] = [now.worked - before.worked, now.rested - before.rested]
    before = now
    const isIdle = worked <= idle * (worked + rested)
    if (isIdle && held() >= kept + worth) {
      collect({ type: 'major', flavor: 'last-resort', execution: 'sync' })
      kept = held()
    }
    looks += 1
    if (!isIdle && looks % busyLooks !== 0) return
    trim ??= trimmer()
    trim()
  }, every).unref()
  return {
    [Symbol.dispose]: () => {
      clearInterval(looking)
    }
  }
}

/**
 * The milliseconds for which this thread has worked, and for which it has waited for something to do. The time in which other processes
 * have the processor is in neither: on a machine under load an idle process is idle, and a busy one busy.
 */
function timesOf (): { worked: number, rested: number } {
  const { user, system } = process.threadCpuUsage()
  return { worked: (user + system) / 1_000, rested: performance.eventLoopUtilization().idle }
}

function held (): number {
  const { heapTotal, external } = memoryUsage()
  return heapTotal + external
}

/** `malloc_trim` of glibc. Nothing where Node cannot call it, and with the allocators of macOS and musl, which have none. */
function trimmer (): () => void {
  try {
    const { functions } = process.getBuiltinModule('node:ffi').dlopen(null, { malloc_trim: { arguments: ['u64'], return: 'i32' } })
    return () => void functions.malloc_trim(0n)
  } catch {
    return () => undefined
  }
}
