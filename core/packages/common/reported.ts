import { secondsSince } from './observations.ts'

/** The result of work. Until it ends, `report` is called every so many `milliseconds`, with the seconds that it has taken. */
export async function withReports<T> (milliseconds: number, work: Promise<T>, report: (seconds: number) => void): Promise<T> {
  const begun = performance.now()
  const timer = setInterval(() => {
    report(Math.round(secondsSince(begun)))
  }, milliseconds)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}
