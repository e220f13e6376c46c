/**
 * A second signal within this time, in ms, is an echo of the first: npm forwards a signal that the terminal has sent to the whole process
 * group already.
 */
const echo = 500

/** Aborts with the first signal to stop, its name the reason. A later one ends the process without waiting. */
export function endOnSignal (end: AbortController): void {
  let first: number | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    first ??= performance.now()
    if (performance.now() - first > echo) exitAtOnce(1)
    end.abort(signal)
  }
  // SIGHUP: the terminal was closed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
}

/**
 * Ends the process after what listens to its exit. Node's own end first ends the threads, and may crash where one of them is at work; the
 * end of the C library does not. Where Node cannot call that, its own end is left.
 */
export function exitAtOnce (code: number): void {
  process.on('exit', () => {
    try {
      process.getBuiltinModule('node:ffi').dlopen(null, { _exit: { arguments: ['i32'], return: 'void' } }).functions._exit(code)
    } catch {
      // Node ends it.
    }
  })
  process.exit(code)
}
