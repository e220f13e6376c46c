/** One day in seconds: the longest wait that is heeded. */
const longestWait = 24 * 3600

/** A Retry-After header (RFC 9110, 10.2.3), seconds or a date, as whole seconds from now: 1 to a day. Undefined where it is neither. */
export function requestedDelay (header: string | string[] | undefined, now: Date): number | undefined {
  const text = typeof header === 'string' ? header.trim() : ''
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now.getTime()) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), longestWait)
}
