import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * The prefix binds a cookie to this very host, and needs `Secure` (RFC 6265bis, 4.1.3). Browsers accept it over plain HTTP from this
 * machine itself; Safari needs TLS there too.
 */
const names = {
  session: '__Host-console',
  waiting: '__Host-console-sign-in',
  signOn: '__Host-console-sign-on',
  challenge: '__Host-console-passkey',
  language: '__Host-console-language',
  columns: '__Host-console-columns'
} as const
type Name = keyof typeof names

const attributes = 'Path=/; Secure; HttpOnly'

/** A provider of single sign-on sends the browser back from another site. */
const sites = {
  session: 'Strict',
  waiting: 'Strict',
  challenge: 'Strict',
  signOn: 'Lax',
  language: 'Strict',
  columns: 'Strict'
} as const satisfies Record<
  Name,
  string
>

/** The value of a cookie; undefined where the browser has sent none, or more than one of the name. */
export function readCookie ({ headers }: FastifyRequest, name: Name): string | undefined {
  const [start, sent = ''] = [`${names[name]}=`, headers.cookie]
  if (!sent.includes(start)) return undefined
  const [value, ...others] = sent.split(/; ?/).filter((pair) => pair.startsWith(start))
  return others.length === 0 ? value?.slice(start.length) : undefined
}

/** The cookie lasts for some seconds; without them until the browser is closed. */
export function setCookie (reply: FastifyReply, name: Name, value: string, seconds?: number): void {
  reply.header('set-cookie',
    `${names[name]}=${value}; ${attributes}; SameSite=${sites[name]}${seconds === undefined ? '' : `; Max-Age=${seconds}`}`)
}
