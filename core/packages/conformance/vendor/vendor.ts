import type { Json, JsonObject } from '@dispatch/common'
import { createNetwork, type Network, type NetworkOptions, type Route, type XmlFields, xmlText } from '@dispatch/vendor-io'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createAuthority } from './certificates.ts'
import { receive, type ReceivedRequest } from './requests.ts'

/**
 * What a vendor does with a request. `delay` is in milliseconds. A cut closes the connection: before the body of the request is read, after
 * it is read, or in the middle of the answer.
 */
export type VendorReply =
  | { status?: number, headers?: Record<string, string>, json?: Json, xml?: JsonObject, text?: string, body?: Buffer, delay?: number }
  | { cut: 'before-body' | 'after-body' | 'in-reply' }

/** One script, several in order (the last one repeats), or a function of the request. */
export type VendorBehaviour =
  | VendorReply
  | readonly [VendorReply, ...VendorReply[]]
  | ((request: ReceivedRequest) => VendorReply | Promise<VendorReply>)

/** An HTTPS server that plays any vendor, with a certificate for every requested name. */
export type Vendor = {
  ca: string
  port: number
  /** Resolves every host name to this server. */
  route: Route
  /** The received requests in order, without those that were cut off before their body. */
  requests: ReceivedRequest[]
  /** The answer to requests without an `on`; 404 by default. */
  answer: (answer: VendorBehaviour) => void
  /** Answers `POST /v1/messages`: method and path, without query. */
  on: (what: string, answer: VendorBehaviour) => void
  close: () => Promise<void>
}

/** A vendor on this machine, which answers by HTTPS under every name as it is told to, and else 404. `close` ends it. */
export async function createVendor (): Promise<Vendor> {
  const authority = await createAuthority()
  const scripts = new Map<string, () => Turn>()
  const requests: ReceivedRequest[] = []
  const sockets = new Set<Socket>()
  let otherwise = turns({ status: 404, json: { message: 'Nothing is here.' } })

  const server = createServer({ SNICallback: authority.serveAnyName, ...await authority.issue('127.0.0.1') }, (message, response) => {
    handle(message, response).catch(() => message.socket.destroy())
  })
  // If the server closed an idle connection just when it is used, the vendor would fail in a way that no fixture asks for.
  server.keepAliveTimeout = 60_000

  server.on('connection', (socket) => sockets.add(socket.once('close', () => sockets.delete(socket))))

  async function handle (message: IncomingMessage, response: ServerResponse): Promise<void> {
    const turn = (scripts.get(`${message.method ?? ''} ${(message.url ?? '').replace(/\?.*$/, '')}`) ?? otherwise)()
    if ('cut' in turn && turn.cut === 'before-body') {
      message.socket.destroy()
      return
    }
    const request = await receive(message)
    requests.push(request)
    await play(typeof turn === 'function' ? await turn(request) : turn, response)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ca: authority.ca,
    port,
    requests,
    route: () => ({ host: '127.0.0.1', port }),
    answer (answer) {
      otherwise = turns(answer)
    },
    on (what, answer) {
      scripts.set(what, turns(answer))
    },
    async close () {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    }
  }
}

/** A network in which every host name leads to this vendor. */
export function vendorNetwork (vendor: Vendor, options: NetworkOptions = {}): Network {
  return createNetwork({ ca: [vendor.ca], route: vendor.route, loopback: 'allowed', ...options })
}

type Turn = VendorReply | ((request: ReceivedRequest) => VendorReply | Promise<VendorReply>)

/** The next step, each time it is called. */
function turns (answer: VendorBehaviour): () => Turn {
  if (!isList(answer)) return () => answer
  let index = 0
  return () => answer[Math.min(index++, answer.length - 1)] ?? answer[0]
}

function isList (answer: VendorBehaviour): answer is readonly [VendorReply, ...VendorReply[]] {
  return Array.isArray(answer)
}

async function play (script: VendorReply, response: ServerResponse): Promise<void> {
  if ('cut' in script) {
    if (script.cut === 'in-reply') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
      await new Promise((resolve) => response.write('{"id": "1', resolve))
    }
    response.socket?.destroy()
    return
  }
  const { status = 200, headers = {}, json, xml, text, body, delay = 0 } = script
  if (delay > 0) await pause(delay, undefined, { ref: false })
  const content = body ?? text ?? (xml === undefined ? undefined : xmlText(xml as XmlFields)) ??
    (json === undefined ? '' : JSON.stringify(json))
  const type = xml === undefined ? 'application/json' : 'application/xml'
  response.writeHead(status, { ...(json !== undefined || xml !== undefined) && { 'content-type': type }, ...headers }).end(content)
}
