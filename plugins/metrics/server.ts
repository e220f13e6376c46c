import type { Log } from '@dispatch/common'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Gauge } from 'prom-client'
import type { Get } from '../container.ts'
import { addGauges, type GaugeNeeds } from './gauges.ts'
import { createMetrics } from './metrics.ts'

/** Milliseconds that a scraper may take for its request. */
const timeoutMs = 5_000

/**
 * Shows the metrics of this process at `/metrics`, for Prometheus. Whoever reaches the port reads them: there are no credentials, and
 * nothing about a company. Until `show` is given the app, which needs its database, the process has no database and little else to tell.
 */
export async function openMetrics (
  { host, port }: { host: string, port: number },
  log: Log
): Promise<{ url: string, show: (get: Get<GaugeNeeds>) => void, close: () => Promise<void> }> {
  const { registry, close } = createMetrics()
  const name = 'dispatch_database_up'
  new Gauge({ name, help: 'The process waits for its database.', registers: [registry] }).set(0)
  const server = createServer({ headersTimeout: timeoutMs, requestTimeout: timeoutMs }, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://metrics')
    if (request.method !== 'GET' || pathname !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then((text) => {
      response.writeHead(200, { 'content-type': registry.contentType }).end(text)
    }, (error: unknown) => {
      log.error({ err: error }, 'the metrics could not be read')
      response.writeHead(500).end()
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  const { address, family, port: opened } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${opened}/metrics`,
    show (get) {
      registry.removeSingleMetric(name)
      addGauges(registry, get)
    },
    async close () {
      close()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    }
  }
}
