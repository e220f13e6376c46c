import { createAccessTokenCache, createNetwork, type Network, type XmlFields, xmlText } from '@dispatch/vendor-io'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Exchange } from '../fixtures/fixture.ts'
import { decode, type ReceivedRequest } from '../vendor/requests.ts'
import { now } from './clock.ts'
import { indexIn } from './exchange.ts'
import { nobody } from './nobody.ts'
import type { ExchangeSession, VendorDouble } from './vendor-double.ts'

type Transport = Network['transport']
type Request = Parameters<Transport['send']>[0]
type Reply = Awaited<ReturnType<Transport['send']>>

/**
 * A test vendor that answers inside this process. It needs no certificates and no server, so that an installation has it too; it has no
 * faults and no mail server.
 */
export const scriptedVendor = answering(indexIn)

/** The same, but a request that the exchange does not have is answered as the next one of its method: a URL may have a value in it. */
export const patientVendor = answering((exchange, request, before) => {
  const isFree = (index: number): boolean => before.every((earlier) => earlier.index !== index)
  const next = exchange.findIndex(({ expect: { method } }, index) => method === request.method && isFree(index))
  return indexIn(exchange, request, before) ?? (next < 0 ? undefined : next)
})

function answering (choose: typeof indexIn): Pick<VendorDouble, 'play'> {
  return { play: ({ exchange }) => Promise.resolve(begin(exchange, choose)) }
}

function begin (exchange: Exchange, choose: typeof indexIn): ExchangeSession {
  const requests: ExchangeSession['requests'] = []
  async function send (sent: Request): Promise<Reply> {
    const request = await receivedOf(sent)
    const index = choose(exchange, request, requests)
    requests.push({ request, index })
    const { status = 200, headers = {}, json, xml, text } = index === undefined ? { status: 404 } : exchange[index]?.answer ?? {}
    const type = xml === undefined ? 'application/json' : 'application/xml'
    const written = text ?? (xml === undefined ? json === undefined ? '' : JSON.stringify(json) : xmlText(xml as XmlFields))
    return replyOf(status, { 'content-type': type, ...headers }, written)
  }
  // A mail server is not played: a message to one is refused before it leaves this machine.
  const network = createNetwork({
    now,
    loopback: 'allowed',
    route: () => nobody,
    resolve: () => Promise.reject(new Error('There is no network here.'))
  })
  const wire = { ...network.transport, send }
  return {
    network: { ...network, transport: wire, accessTokens: createAccessTokenCache({ wire, now }) },
    requests,
    mails: [],
    signIn: () => ({}),
    givenUp: new AbortController().signal,
    close: network.close
  }
}

async function receivedOf ({ method, url, headers, body }: Request): Promise<ReceivedRequest> {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.isBuffer(body) ? body : await buffer(body)
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    method,
    host: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    search: [...url.searchParams],
    headers: named,
    body: bytes,
    ...decode(named['content-type'] ?? '', bytes)
  }
}

function replyOf (status: number, headers: Record<string, string>, text: string): Reply {
  const body = Object.assign(Readable.from([Buffer.from(text)], { objectMode: false }), { dump: () => Promise.resolve() })
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return { status, headers: Object.fromEntries(named) as Record<string, string>, body: body as unknown as Reply['body'] }
}
