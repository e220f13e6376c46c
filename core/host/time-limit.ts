/** The work's result, or a rejection after `limit` milliseconds; what was begun goes on by itself. */
export async function withTimeLimit<T> (limit: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`It took more than ${limit} milliseconds.`)), limit)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
