import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

/**
 * A callback as it was received, for which order. `signed`: its signature is good. `steps`: the states of its steps, by service; `at`: when
 * it was recorded.
 */
export type Callback = {
  id: string
  order: string
  type: string
  dispatchId: string
  sequence: number
  signed: boolean
  body: string
  at: number
  steps: Readonly<Record<string, string>>
}
export type Receiver = {
  url: string
  callbacks: Callback[]
  /** With which it checks signatures. */
  expect: (secret: string) => void
  stop: () => void
}

type Body = {
  type: string
  timestamp: string
  sequence: number
  data: { dispatchId: string, steps: { service: string, status: string }[] }
}

/** A client's receiver, which fails now and then: every third order it answers 500 at first, every fifth it cuts. */
export async function startReceiver (certificate: { key: string, cert: string }): Promise<Receiver> {
  const callbacks: Callback[] = []
  const met = new Set<string>()
  let verifier: Webhook | undefined
  const server = createServer(certificate, (request, response) => {
    const order = request.url?.slice(1) ?? ''
    const first = !met.has(order)
    met.add(order)
    if (first && Number(order) % 5 === 0) return void request.socket.destroy()
    if (first && Number(order) % 3 === 0) return void response.writeHead(500).end()
    text(request).then((body) => {
      const { type, timestamp, sequence, data: { dispatchId, steps } } = JSON.parse(body) as Body
      const headers = request.headers as Record<string, string>
      callbacks.push({
        id: headers['webhook-id'] ?? '',
        order,
        type,
        dispatchId,
        sequence,
        body,
        signed: isSigned(body, headers),
        at: Date.parse(timestamp),
        steps: Object.fromEntries(steps.map(({ service, status }) => [service, status]))
      })
      response.writeHead(200).end()
    }, () => response.destroy())
  })
  function isSigned (body: string, headers: Record<string, string>): boolean {
    try {
      return verifier?.verify(body, headers) !== undefined
    } catch {
      return false
    }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    callbacks,
    expect (secret) {
      verifier = new Webhook(secret)
    },
    stop () {
      server.close()
      server.closeAllConnections()
    }
  }
}
