/** Holds whoever passes back until it is opened. */
export type Gate = {
  pass: () => Promise<unknown>
  /** Resolves when somebody waits at it. */
  reached: Promise<unknown>
  open: () => void
}

export function createGate (): Gate {
  const [reached, opened] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()]
  return {
    pass () {
      reached.resolve(true)
      return opened.promise
    },
    reached: reached.promise,
    open: () => opened.resolve(true)
  }
}
