import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Server } from 'node:https'
import type { Get } from '../container.ts'
import { proxyTest } from '../hooks/https.ts'
import { boundConnections } from './connection-limits.ts'
import { type CertificatePair, readCertificatePair, secureOptions, watchCertificatePair } from './tls.ts'

type Options = Omit<FastifyServerOptions, 'http' | 'https' | 'requestTimeout'>

/** Opens the HTTP server, with TLS if the service has a certificate, and with the transport limits. Throws a CertificateError. */
export async function openServer (
  get: Get<'transportLimits' | 'config' | 'log' | 'now'>,
  options: Options
): Promise<FastifyInstance> {
  const limits = get('transportLimits')
  const { tls, trustedProxies } = get('config')
  const http = { headersTimeout: limits.head, connectionsCheckingInterval: limits.checkInterval, requireHostHeader: false }
  const bounded = { ...options, requestTimeout: limits.request }
  const server = tls === undefined ? fastify({ ...bounded, http }) : await openSecure(tls)
  boundConnections(server.server, limits, proxyTest(trustedProxies))
  return server

  /** Options, plugins and routes work the same on both kinds of server, although their types differ. */
  async function openSecure (files: CertificatePair): Promise<FastifyInstance> {
    const pair = await readCertificatePair(files)
    const secure: FastifyInstance<Server> = fastify({
      ...bounded as unknown as FastifyServerOptions<Server>,
      https: { ...http, ...secureOptions(pair), handshakeTimeout: limits.handshake }
    })
    const use = (renewed: CertificatePair): void => {
      secure.server.setSecureContext(secureOptions(renewed))
    }
    const renewal = watchCertificatePair({ files, current: pair, use, log: get('log'), now: get('now'), every: limits.renewal })
    secure.addHook('onClose', (_server, done) => {
      renewal.stop()
      done()
    })
    return secure
  }
}
