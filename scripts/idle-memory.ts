import { memoryUsage } from 'node:process'

/** Milliseconds between two looks, and the share of that time in which the process was at most busy to count as idle. */
const [every, idle] = [5_000, 0.05]

/** A busy process soon takes back what it gives, which costs it time: it gives at each of so many looks. */
const busyLooks = 6

/** Bytes of the heap that are worth a collection: it takes a tenth of a second. An idle process itself fills 16 MiB of young objects. */
const worth = 24 * 1024 * 1024

/**
 * Gives memory back to the system. What is free between the allocations of glibc: by itself glibc keeps it, in an arena of its own for each
 * thread that compiles or renders. That takes 2 ms. And, when the process has nothing to do, the heap that the start and busy times leave:
 * V8 by itself keeps it, half as much again as is in use. It needs the option `--expose-gc` of Node, and does nothing without it. Answers
 * what ends it.
 */
export function giveMemoryBack (collect: NodeJS.GCFunction | undefined = globalThis.gc): Disposable {
  if (collect === undefined) return { [Symbol.dispose]: () => undefined }
  let trim: (() => void) | undefined
  let [kept, looks] = [0, 0]
  let before = performance.eventLoopUtilization()
  const looking = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    const isIdle = utilization <= idle
    if (isIdle && memoryUsage().heapTotal >= kept + worth) {
      collect({ type: 'major', flavor: 'last-resort', execution: 'sync' })
      kept = memoryUsage().heapTotal
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

/** `malloc_trim` of glibc. Nothing where Node cannot call it, and with the allocators of macOS and musl, which have none. */
function trimmer (): () => void {
  try {
    const { functions } = process.getBuiltinModule('node:ffi').dlopen(null, { malloc_trim: { arguments: ['u64'], return: 'i32' } })
    return () => void functions.malloc_trim(0n)
  } catch {
    return () => undefined
  }
}
