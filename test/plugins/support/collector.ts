import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** A span as a collector has it, with its attributes as texts. */
export type CollectedSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: Record<string, string>
  status: { code?: number }
  startTimeUnixNano: string
  endTimeUnixNano: string
}

export type Collector = {
  /** Where traces are sent. */
  url: string
  /** All that has come, in the order in which it ended. */
  spans: CollectedSpan[]
  resources: Record<string, string>[]
  /** The bodies as they came. */
  bodies: string[]
}

type Value = { stringValue?: string, intValue?: number | string }
type Pairs = { key: string, value: Value }[]
type Sent = {
  resourceSpans: {
    resource: { attributes: Pairs }
    scopeSpans: { spans: (Omit<CollectedSpan, 'attributes'> & { attributes: Pairs })[] }[]
  }[]
}

/** A server that takes traces by OTLP/HTTP in JSON; gone when the test ends. */
export async function startCollector (t: Test): Promise<Collector> {
  const collected: Omit<Collector, 'url'> = { spans: [], resources: [], bodies: [] }
  const server = createServer((request, response) => {
    void (async () => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece as Buffer)
      const body = Buffer.concat(pieces).toString()
      collected.bodies.push(body)
      take(collected, JSON.parse(body) as Sent)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`, ...collected }
}

function take ({ spans, resources }: Pick<Collector, 'spans' | 'resources'>, { resourceSpans }: Sent): void {
  for (const { resource, scopeSpans } of resourceSpans) {
    resources.push(textsOf(resource.attributes))
    spans.push(...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, attributes: textsOf(span.attributes) }))))
  }
}

function textsOf (pairs: Pairs): Record<string, string> {
  return Object.fromEntries(pairs.map(({ key, value: { stringValue, intValue } }) => [key, String(stringValue ?? intValue)]))
}
