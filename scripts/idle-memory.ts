import { memoryUsage } from 'node:process'

/** Milliseconds between two looks, and the share of that time in which the process was at most busy to count as idle. */
const [every, idle] = [5_000, 0.05]

/** Bytes of the heap that are worth a collection: it takes a tenth of a second. */
const worth = 32 * 1024 * 1024

/**
 * Gives back the memory that the start and busy times leave, whenever the process has nothing to do: V8 by itself keeps it, half as much
 * again as is in use. It needs the option `--expose-gc` of Node, and does nothing without it. Answers what ends it.
 */
export function giveMemoryBack (collect: NodeJS.GCFunction | undefined = globalThis.gc): Disposable {
  let kept = 0
  let before = performance.eventLoopUtilization()
  const looking = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    if (utilization > idle || memoryUsage().heapTotal < kept + worth) return
    collect?.({ type: 'major', flavor: 'last-resort', execution: 'sync' })
    kept = memoryUsage().heapTotal
  }, every).unref()
  return {
    [Symbol.dispose]: () => {
      clearInterval(looking)
    }
  }
}
