import { DispatchError, isWithin, readNetwork } from '@dispatch/core'
import type { IncomingMessage } from 'node:http'
import { isLoopback, type TransportConfig } from '../config/config-transport.ts'

/** How a request came: `probe` is a trusted proxy's own, such as a look at the service's health. */
export type ConnectionKind = 'encrypted' | 'plain' | 'local' | 'probe'

export type ClassifyConnection = (request: IncomingMessage) => ConnectionKind

type Policy = Pick<TransportConfig, 'host' | 'trustedProxies'> & { environment: 'development' | 'production' }

/**
 * Tells how requests come. Only proxies of the list are believed what they say of the way before them, and every protocol that
 * they name must be HTTPS. Plain HTTP is `local` in development on a loopback address.
 */
export function createConnectionClassifier ({ environment, host, trustedProxies }: Policy): ClassifyConnection {
  const isProxy = proxyTest(trustedProxies)
  const direct = environment === 'development' && isLoopback(host) ? 'local' : 'plain'
  return ({ socket, headers }) => {
    const proxied = isProxy(socket.remoteAddress ?? '')
    const forwarded = proxied ? headers['x-forwarded-proto'] : undefined
    if (forwarded !== undefined) {
      return String(forwarded).split(',').every((protocol) => protocol.trim().toLowerCase() === 'https')
        ? 'encrypted'
        : 'plain'
    }
    if ('encrypted' in socket && socket.encrypted === true) return 'encrypted'
    return direct === 'plain' && proxied ? 'probe' : direct
  }
}

/** Whether an address is that of a proxy whose word counts. */
export function proxyTest (trustedProxies: readonly string[]): (address: string) => boolean {
  const networks = trustedProxies.flatMap((proxy) => readNetwork(proxy) ?? [])
  return (address) => isWithin(networks, address)
}

/** What a request over plain HTTP is answered. */
export function httpsRequired (): DispatchError {
  return new DispatchError('https_required',
    'Plain HTTP is not served: send the request over HTTPS. Credentials that were sent in the clear should be changed.')
}
