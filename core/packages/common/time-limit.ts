/** The work's result, or a rejection with what `late` makes after `limit` milliseconds; what was begun goes on by itself. */
export async function withTimeLimit<T> (limit: number, work: Promise<T>, late: () => Error = () => tooLate(limit)): Promise<T> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => over.reject(late()), limit)
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The work's result, or a rejection with `reason` once the signal fires; what was begun goes on by itself. */
export async function untilAborted<T> (signal: AbortSignal, work: Promise<T>, reason: Error): Promise<T> {
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
