import { isWithin, readNetwork } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { IncomingMessage } from 'node:http'
import { isLoopback, type TransportConfig } from '../config/config-transport.ts'

/** How a request arrived. `probe`: a trusted proxy's own request over plain HTTP, such as a health check. */
export type ConnectionKind = 'encrypted' | 'plain' | 'local' | 'probe'

export type ClassifyConnection = (request: IncomingMessage) => ConnectionKind

type Policy = Pick<TransportConfig, 'host' | 'trustedProxies'> & { environment: 'development' | 'production' }

/**
 * Creates the function that tells how a request arrived. `X-Forwarded-Proto` counts only from a trusted proxy, and all its protocols must
 * be HTTPS. In development, plain HTTP on a loopback address is `local`.
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

/** Creates the test whether an address is that of a trusted proxy. */
export function proxyTest (trustedProxies: readonly string[]): (address: string) => boolean {
  const networks = trustedProxies.flatMap((proxy) => readNetwork(proxy) ?? [])
  return (address) => isWithin(networks, address)
}

/** The error that answers a request over plain HTTP. */
export function httpsRequired (): DispatchError {
  return new DispatchError('https_required',
    'Plain HTTP is not served: send the request over HTTPS. Credentials that were sent in the clear should be changed.')
}
