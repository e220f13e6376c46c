import { createMailers, type Mailers } from '../smtp/mailer.ts'
import { createGuard, type Guard, loopback, type Resolve } from './guard.ts'
import { type AccessTokenCache, createAccessTokenCache } from './oauth.ts'
import { createHttpTransport, type HttpTransport, type Route } from './transport.ts'

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
  mailers: Mailers
  close: () => Promise<void>
}

export function createNetwork ({ allow = [], loopback: own = 'refused', ca, route, resolve, mailName, now = () => new Date() }:
  NetworkOptions = {}): Network
{
  const guard = createGuard({ allow: own === 'allowed' ? [...allow, ...loopback] : allow, ...(resolve !== undefined && { resolve }) })
  const wire = createHttpTransport({ guard, ...(ca !== undefined && { ca }), ...(route !== undefined && { route }) })
  const mailers = createMailers({
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
      mailers.close()
      await wire.close()
    }
  }
}
