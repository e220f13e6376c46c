import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A callback as it was received, for which order. */
export type Callback = { order: string, type: string, dispatchId: string }
export type Receiver = { url: string, callbacks: Callback[], stop: () => void }

/** A client's receiver, which fails now and then: every third order it answers 500 at first, every fifth it cuts. */
export async function startReceiver (certificate: { key: string, cert: string }): Promise<Receiver> {
  const callbacks: Callback[] = []
  const met = new Set<string>()
  const server = createServer(certificate, (request, response) => {
    const order = request.url?.slice(1) ?? ''
    const first = !met.has(order)
    met.add(order)
    if (first && Number(order) % 5 === 0) return void request.socket.destroy()
    if (first && Number(order) % 3 === 0) return void response.writeHead(500).end()
    json(request).then((body) => {
      const { type, data: { dispatchId } } = body as { type: string, data: { dispatchId: string } }
      callbacks.push({ order, type, dispatchId })
      response.writeHead(200).end()
    }, () => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    callbacks,
    stop () {
      server.close()
      server.closeAllConnections()
    }
  }
}
