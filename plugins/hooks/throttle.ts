type Options = { burst: number, every: number, longest: number, now?: () => number }

/**
 * Throttles each client by the generic cell rate algorithm (ITU-T I.371). Returns how many milliseconds the client must wait: 0 for up to
 * `burst` calls in quick succession. Returns undefined, and does not count the call, when the wait would be longer than `longest`.
 */
export function createThrottle ({ burst, every, longest, now = () => performance.now() }: Options): (client: string) => number | undefined {
  /** The theoretical arrival time of each client's next call. A client whose time has passed is removed. */
  const arrivals = new Map<string, number>()
  let lastCleanup = now()

  function removePast (time: number): void {
    for (const [client, due] of arrivals) if (due <= time) arrivals.delete(client)
    lastCleanup = time
  }

  return (client) => {
    const time = now()
    if (time - lastCleanup > burst * every) removePast(time)
    const due = Math.max(arrivals.get(client) ?? time, time)
    const delay = Math.max(0, due - time - (burst - 1) * every)
    if (delay > longest) return undefined
    arrivals.set(client, due + every)
    return delay
  }
}
