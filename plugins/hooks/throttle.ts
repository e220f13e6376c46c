type Options = { burst: number, every: number, longest: number, now?: () => number }

/**
 * Keeps everybody to a pace, by the generic cell rate algorithm (ITU-T I.371): answers for how many milliseconds a client must wait now,
 * 0 while fewer than `burst` came in quick succession; undefined, and not counted, where it would be more than `longest`.
 */
export function createThrottle ({ burst, every, longest, now = () => performance.now() }: Options): (client: string) => number | undefined {
  /** When what has come from a client would have come at an even pace; clients that are in time are forgotten. */
  const even = new Map<string, number>()
  let looked = now()

  function forget (time: number): void {
    for (const [client, due] of even) if (due <= time) even.delete(client)
    looked = time
  }

  return (client) => {
    const time = now()
    if (time - looked > burst * every) forget(time)
    const due = Math.max(even.get(client) ?? time, time)
    const delay = Math.max(0, due - time - (burst - 1) * every)
    if (delay > longest) return undefined
    even.set(client, due + every)
    return delay
  }
}
