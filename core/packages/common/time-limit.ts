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

/** The result of the work, or a rejection with `reason` when the signal fires. The work itself is not stopped. */
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
