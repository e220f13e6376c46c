/**
 * Makes transactions durable together. Each has committed without waiting for the disk: its locks are free, and others see its changes, but
 * a crash of the server could still lose them. `flush` writes everything to the disk that was committed before it began. Whoever calls the
 * answered function waits for a flush that begins after the call; all that wait at the same time share one. Nothing that was committed
 * later can be on the disk without what was committed before, so no order is lost in a crash.
 */
export function createGroupCommit (flush: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  function begin (): Promise<void> {
    next = undefined
    running = flush()
    return running
  }
  return () => next ??= running.then(begin, begin)
}
