import type { Server } from 'node:https'
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { boundConnections } from './connection-limits.ts'
import type { House } from '../container.ts'
import { proxyTest } from '../hooks/https.ts'
import { readPair, secureOptions, watchPair, type Pair } from './tls.ts'

type Options = Omit<FastifyServerOptions, 'http' | 'https' | 'requestTimeout'>

/** A server that speaks TLS where the service has a certificate, and bounds what its clients may take. Throws a CertificateError. */
export async function openServer ({ get }: Pick<House, 'get'>, options: Options): Promise<FastifyInstance> {
  const limits = get('transportLimits')
  const { tls, trustedProxies } = get('config')
  const http = { headersTimeout: limits.head, connectionsCheckingInterval: limits.look, requireHostHeader: false }
  const bounded = { ...options, requestTimeout: limits.request }
  const server = tls === undefined ? fastify({ ...bounded, http }) : await openSecure(tls)
  boundConnections(server.server, limits, proxyTest(trustedProxies))
  return server

  /** To its options, plugins and routes one server is like the other, whatever their types say. */
  async function openSecure (files: Pair): Promise<FastifyInstance> {
    const pair = await readPair(files)
    const secure: FastifyInstance<Server> = fastify({ ...bounded as unknown as FastifyServerOptions<Server>, https: { ...http, ...secureOptions(pair), handshakeTimeout: limits.handshake } })
    const use = (renewed: Pair): void => { secure.server.setSecureContext(secureOptions(renewed)) }
    const renewal = watchPair({ files, current: pair, use, log: get('log'), now: get('now'), every: limits.renewal })
    secure.addHook('onClose', (_server, done) => {
      renewal.stop()
      done()
    })
    return secure
  }
}
