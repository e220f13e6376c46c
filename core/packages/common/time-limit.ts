/** The result of the work, or after `limit` milliseconds a rejection with the error that `late` makes. The work itself is not stopped. */
export async function withTimeLimit<T> (limit: number, work: Promise<T>, late: () => Error = () => tooLate(limit)): Promise<T> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => over.reject(late()), limit)
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Milliseconds between two turns that are counted. */
const turnEvery = 20

/**
 * A signal that fires once the event loop has turned for so many milliseconds, 20 to a turn. A busy machine turns more slowly, and so takes
 * nothing from work of this thread: what is pending then waits for something else. `clear` ends it.
 */
export function turnLimit (milliseconds: number): { signal: AbortSignal, clear: () => void } {
  const end = new AbortController()
  let left = Math.ceil(milliseconds / turnEvery)
  const turn = (): void => {
    left--
    if (left > 0) timer = setTimeout(turn, turnEvery)
    else end.abort()
  }
  let timer = setTimeout(turn, turnEvery)
  return { signal: end.signal, clear: () => clearTimeout(timer) }
}

/**
 * Runs work that a signal can stop. After `limit` milliseconds, or when `outer` fires, it rejects with `reason`, also when the work ignores
 * its signal. The signal fires then with the same reason, and also when the work is done, so that nothing of it goes on.
 */
export async function withDeadline<T> (
  limit: number,
  work: (ended: AbortSignal) => Promise<T>,
  reason: Error,
  outer?: AbortSignal
): Promise<T> {
  const end = new AbortController()
  const ended = outer === undefined ? end.signal : AbortSignal.any([end.signal, outer])
  const timer = setTimeout(() => end.abort(reason), limit)
  try {
    return await untilAborted(ended, work(ended), reason)
  } finally {
    clearTimeout(timer)
    end.abort(reason)
  }
}

/** The result of work of this thread, or a rejection with `late` once the event loop has turned for so many milliseconds without it. */
export async function withinTurns<T> (milliseconds: number, work: Promise<T>, late: Error): Promise<T> {
  const { signal, clear } = turnLimit(milliseconds)
  try {
    return await untilAborted(signal, work, late)
  } finally {
    clear()
  }
}

async function untilAborted<T> (signal: AbortSignal, work: Promise<T>, reason: Error): Promise<T> {
  const over = Promise.withResolvers<never>()
  const giveUp = (): void => over.reject(reason)
  if (signal.aborted) giveUp()
  signal.addEventListener('abort', giveUp)
  try {
    return await Promise.race([over.promise, work])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

function tooLate (limit: number): Error {
  return new Error(`It took more than ${limit} milliseconds.`)
}
