import { randomUUIDv7 } from 'node:crypto'

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

/** UUIDv7 of another time than now. */
export function idsAt (now: () => Date): () => string {
  return () => {
    const time = now().getTime().toString(16).padStart(12, '0')
    return `${time.slice(0, 8)}-${time.slice(8)}-${randomUUIDv7().slice(14)}`
  }
}
