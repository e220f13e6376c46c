import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type CertificatePair, readCertificatePair, secureOptions } from './tls.ts'

/** Milliseconds in which a request must have come. */
const timeoutMs = 5_000

/**
 * Answers at the address of the service while it waits for its database, or migrates it: it lives, and is not ready. So no probe takes a
 * process that waits for one that hangs. `port`: where it listens, which the service takes once this is closed.
 */
export async function answerWhileStarting ({ host, port, tls }: { host: string, port: number, tls?: CertificatePair | undefined }): Promise<
  { port: number, close: () => Promise<void> }
> {
  const limits = { headersTimeout: timeoutMs, requestTimeout: timeoutMs }
  const server: Server = tls === undefined
    ? createServer(limits, answer)
    : createSecureServer({ ...limits, ...secureOptions(await readCertificatePair(tls)) }, answer)
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close () {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    }
  }
}

const answer: RequestListener = ({ url = '' }, response) => {
  response.setHeader('cache-control', 'no-store').setHeader('connection', 'close')
  if (url.split('?', 1)[0] === '/livez') return void response.writeHead(204).end()
  const body = { error: 'service_unavailable', message: 'The service is starting; nothing was done.', requestId: randomUUID() }
  response.writeHead(503, { 'content-type': 'application/json; charset=utf-8', 'retry-after': '5' }).end(JSON.stringify(body))
}
