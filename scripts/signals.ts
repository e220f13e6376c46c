/**
 * Milliseconds within which a signal is the first one's echo: npm passes on what a terminal has sent to the whole process group already.
 */
const echo = 500

/** Aborts with the first signal to stop, its name the reason. A later one ends the process without waiting. */
export function endOnSignal (end: AbortController): void {
  let first: number | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    first ??= performance.now()
    if (performance.now() - first > echo) process.exit(1)
    end.abort(signal)
  }
  // SIGHUP: the terminal was closed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
}
