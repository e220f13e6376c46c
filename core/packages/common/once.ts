/** Does the work at the first call alone. */
export function once<Given extends unknown[]> (work: (...given: Given) => void): (...given: Given) => void {
  let done = false
  return (...given) => {
    if (done) return
    done = true
    work(...given)
  }
}
