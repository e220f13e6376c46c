/** A clock that stands still until it is told otherwise. */
export type Clock = { now: () => Date, advance: (seconds: number) => void }

export function clockAt (start: string): Clock {
  let time = Date.parse(start)
  return {
    now: () => new Date(time),
    advance: (seconds) => {
      time += seconds * 1000
    }
  }
}
