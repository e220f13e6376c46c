/** The same answer at each call, made at the first one. */
export function lazy<Answer extends object> (make: () => Answer): () => Answer {
  let made: Answer | undefined
  return () => made ??= make()
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
