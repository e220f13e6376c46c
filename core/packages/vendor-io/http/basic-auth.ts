/** The Authorization header of HTTP Basic (RFC 7617), with its characters in UTF-8. */
export function basicHeader (user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}
