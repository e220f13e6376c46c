/** The work's result, or a rejection after `limit` milliseconds, with `error` where one is given; what was begun goes on by itself. */
export async function withTimeLimit<T> (limit: number, work: Promise<T>, error?: Error): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(error ?? new Error(`It took more than ${limit} milliseconds.`)), limit)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
