import { createGuard, type Guard, loopback, type Resolve } from './http/guard.ts'
import { type AccessTokenCache, createAccessTokenCache } from './http/oauth.ts'
import type { HttpTransport, HttpTransportOptions, Route } from './http/transport.ts'
import type { LazyMailers, MailersOptions } from './smtp/mailer.ts'

/**
 * `allow`: networks (CIDR) that tenants may reach in addition to the public addresses. `loopback` permits this machine's own addresses, for
 * development. `ca`: certificate authorities (PEM) instead of the system's. `route` and `resolve` replace the internet in a test.
 * `mailName`: the name with which this service greets mail servers.
 */
export type NetworkOptions = {
  allow?: readonly string[]
  loopback?: 'allowed' | 'refused'
  ca?: readonly string[]
  route?: Route
  resolve?: Resolve
  mailName?: string
  now?: () => Date
}

/** Every outgoing connection of this process, with what is kept between calls: connections, access tokens, mail sessions. */
export type Network = {
  guard: Guard
  transport: HttpTransport
  accessTokens: AccessTokenCache
  mailers: LazyMailers
  close: () => Promise<void>
}

/**
 * The connections of a process to the outside: by HTTP and SMTP, behind one guard. `allow`: networks besides the public internet. `close`
 * ends them all.
 */
export function createNetwork ({ allow = [], loopback: own = 'refused', ca, route, resolve, mailName, now = () => new Date() }:
  NetworkOptions = {}): Network
{
  const guard = createGuard({ allow: own === 'allowed' ? [...allow, ...loopback] : allow, ...(resolve !== undefined && { resolve }) })
  const wire = httpTransport({ guard, ...(ca !== undefined && { ca }), ...(route !== undefined && { route }) })
  const mailers = mailSessions({
    guard,
    ...(ca !== undefined && { ca }),
    ...(route !== undefined && { route }),
    ...(mailName !== undefined && { name: mailName })
  })
  return {
    guard,
    transport: wire,
    accessTokens: createAccessTokenCache({ wire, now }),
    mailers,
    async close () {
      await mailers.close()
      await wire.close()
    }
  }
}

/** The HTTP client is loaded with the first request: not every process asks anybody, and its modules are many. */
function httpTransport (options: HttpTransportOptions): HttpTransport {
  const opened = openedOnce(async () => (await import('./http/transport.ts')).createHttpTransport(options))
  return {
    send: async (request) => (await opened.get()).send(request),
    close: opened.close
  }
}

/** The mail client is loaded with the first mail. */
function mailSessions (options: MailersOptions): Network['mailers'] {
  const opened = openedOnce(async () => (await import('./smtp/mailer.ts')).createMailers(options))
  return {
    get: async (account, transport, host) => (await opened.get()).get(account, transport, host),
    close: opened.close
  }
}

/** What is opened when it is first asked for; again, where that failed. */
function openedOnce<Opened extends { close: () => Promise<void> | void }> (open: () => Promise<Opened>) {
  let opening: Promise<Opened> | undefined
  return {
    get (): Promise<Opened> {
      return opening ??= open().catch((error: unknown) => {
        opening = undefined
        throw error
      })
    },
    close: async (): Promise<void> => {
      await (await opening?.catch(() => undefined))?.close()
    }
  }
}
