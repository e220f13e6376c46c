/** The same answer at each call, made at the first one. */
export function lazy<Answer extends object> (make: () => Answer): () => Answer {
  let made: Answer | undefined
  return () => made ??= make()
}

/** The same answer at each call, made at the first one; after a failure it is made at the next. */
export function lazyUnlessFailed<Answer> (make: () => Promise<Answer>): () => Promise<Answer> {
  let made: Promise<Answer> | undefined
  return () =>
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
}

/** Does the work at the first call alone. */
export function once<Given extends unknown[]> (work: (...given: Given) => void): (...given: Given) => void {
  let done = false
  return (...given) => {
    if (done) return
    done = true
    work(...given)
  }
}
