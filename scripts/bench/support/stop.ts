/** A child that loses its parent before it has opened anything just ends. */
const end = () => process.exit(1)
process.once('disconnect', end)

/** Closes what a child has opened, when it is told to stop or has lost its parent. After that nothing keeps it running. */
export function whenStopped (close: () => Promise<unknown>): void {
  let closing: Promise<void> | undefined
  const stop = () => {
    closing ??= close().then(() => {
      if (process.connected) process.disconnect?.()
    })
  }
  process.off('disconnect', end).once('SIGTERM', stop).once('disconnect', stop)
}
