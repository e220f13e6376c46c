import { setTimeout as pause } from 'node:timers/promises'

/**
 * Shares runs of `work` among those who ask for one at the same time: whoever calls the answered function waits for a run that begins after
 * the call, and all that wait share it. While runs are shared, they begin at least `minInterval` milliseconds apart, so that more share each.
 */
export function createSharedRun (work: () => Promise<void>, { minInterval }: { minInterval: number }): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  /** How many wait for the next run, and how many shared the one before. */
  let [waiting, shared] = [0, 0]
  let begun = -Infinity

  async function begin (): Promise<void> {
    const early = begun + minInterval - performance.now()
    if (early > 0 && Math.max(waiting, shared) > 1) await pause(early)
    ;[shared, waiting, next, begun] = [waiting, 0, undefined, performance.now()]
    running = work()
    return running
  }
  return () => {
    waiting++
    return next ??= running.then(begin, begin)
  }
}
