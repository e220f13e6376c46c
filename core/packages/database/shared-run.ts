import { setTimeout as pause } from 'node:timers/promises'

/** `now`: milliseconds of a clock that only counts. */
const systemClock = { now: () => performance.now(), pause: (milliseconds: number): Promise<unknown> => pause(milliseconds) }

/**
 * Shares runs of `work` among those who ask for one at the same time: whoever calls the answered function waits for a run that begins after
 * the call, and all that wait share it. While runs are shared, they begin at least `minInterval` milliseconds apart, so that more share
 * each.
 */
export function createSharedRun (
  work: () => Promise<void>,
  { minInterval, clock = systemClock }: { minInterval: number, clock?: typeof systemClock }
): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  /** How many wait for the next run, and how many shared the one before. */
  let [waiting, shared] = [0, 0]
  let begun = -Infinity

  async function begin (): Promise<void> {
    const early = begun + minInterval - clock.now()
    if (early > 0 && Math.max(waiting, shared) > 1) await clock.pause(early)
    ;[shared, waiting, next, begun] = [waiting, 0, undefined, clock.now()]
    running = work()
    return running
  }
  return () => {
    waiting++
    return next ??= running.then(begin, begin)
  }
}
