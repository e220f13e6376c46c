/**
 * An HTTPS vendor on loopback, with the certificate in the files given as arguments. It takes 5 ms for a message and records the time of
 * each.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { whenStopped } from './stop.ts'

/** When a message was received and answered, in milliseconds of the machine's clock. `order` is that of its metadata. */
export type Receipt = { order: string, came: number, answered: number }
/** Forgets its messages, and then accepts `atOnce` at a time, while the others wait. Or returns its messages. */
export type ToVendor = { atOnce: number } | 'tell'

/** Milliseconds. */
export const vendorLatency = 5

const clock = (): number => performance.timeOrigin + performance.now()

/** The work of the process, when the file is run and not only imported for its types. */
export async function serve (key: string, cert: string): Promise<void> {
  let receipts: Receipt[] = []
  let free = Infinity
  const waiting: (() => void)[] = []

  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    request.resume()
    void answer(new URL(request.url ?? '', 'https://vendor').searchParams.get('order') ?? '').then((id) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, status: 'queued' }))
    )
  })

  async function answer (order: string): Promise<string> {
    const receipt = { order, came: clock(), answered: 0 }
    receipts.push(receipt)
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    await pause(vendorLatency)
    receipt.answered = clock()
    const next = waiting.shift()
    if (next === undefined) free++
    else next()
    return `message-${receipts.length}`
  }

  process.on('message', (message: ToVendor) => {
    if (message === 'tell') {
      process.send?.(receipts)
    } else {
      receipts = []
      free = message.atOnce
    }
  })
  whenStopped(() => {
    server.closeAllConnections()
    return server[Symbol.asyncDispose]()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.send?.({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

if (import.meta.main) await serve(process.argv[2] ?? '', process.argv[3] ?? '')
