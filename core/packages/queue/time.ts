/** The moment so many `milliseconds` before another one. */
export function before (time: Date, milliseconds: number): Date {
  return new Date(time.getTime() - milliseconds)
}
