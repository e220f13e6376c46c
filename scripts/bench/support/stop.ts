/** Before there is anything to close, a child that has lost its parent just ends. */
const end = () => process.exit(1)
process.once('disconnect', end)

/** Closes what a child has opened once it is told to stop or has lost its parent; nothing keeps it running then. */
export function whenStopped (close: () => Promise<unknown>): void {
  let closing: Promise<void> | undefined
  const stop = () => {
    closing ??= close().then(() => {
      if (process.connected) process.disconnect?.()
    })
  }
  process.off('disconnect', end).once('SIGTERM', stop).once('disconnect', stop)
}
