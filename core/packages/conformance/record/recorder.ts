import type { Json } from '@dispatch/common'
import { createNetwork, type Network } from '@dispatch/vendor-io'
import { isUtf8 } from 'node:buffer'
import { buffer } from 'node:stream/consumers'
import type { ExchangeSession, VendorDouble } from '../run/vendor-double.ts'
import type { ReceivedRequest } from '../vendor/requests.ts'
import { createVendor, type VendorReply } from '../vendor/vendor.ts'

/** A request to the vendor and its answer. */
export type RecordedExchange = { request: ReceivedRequest, answer: RecordedAnswer }
export type RecordedAnswer = { status: number, headers: Record<string, string>, body: Buffer, json?: Json }

/** A stage whose vendor is the real one: what a provider sends is passed on, and kept with its answer. `failures`: what had no answer. */
export type Recorder = VendorDouble & { recorded: readonly RecordedExchange[], failures: readonly string[] }

/** Makes a recorder of calls to a vendor. `outside` reaches the vendor: its guard and its TLS decide. */
export async function createRecorder (outside: Network): Promise<Recorder> {
  const vendor = await createVendor()
  const recorded: RecordedExchange[] = []
  const failures: string[] = []
  const ports = new Map<string, number>()
  vendor.answer(async (request): Promise<VendorReply> => {
    try {
      const answer = await passOn(outside, request, ports.get(request.host) ?? https)
      recorded.push({ request, answer })
      return answer
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
      return { cut: 'after-body' }
    }
  })
  return {
    recorded,
    failures,
    play: () => {
      const network = createNetwork({
        ca: [vendor.ca],
        loopback: 'allowed',
        route (hostname, port) {
          ports.set(hostname, port)
          return vendor.route(hostname, port)
        }
      })
      const session: ExchangeSession = {
        network,
        requests: [],
        mails: [],
        signIn: () => ({}),
        givenUp: new AbortController().signal,
        close: network.close
      }
      return Promise.resolve(session)
    },
    close: vendor.close
  }
}

const https = 443
/** The time limit in milliseconds for an answer of the vendor. */
const answerWithin = 60_000
/** Headers of one connection, which are made anew for the next. */
const passing = new Set(['accept-encoding', 'connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding'])

async function passOn (
  { transport }: Network,
  { method, host, path, search, headers, body }: ReceivedRequest,
  port: number
): Promise<RecordedAnswer> {
  const url = new URL(`https://${host}:${port}${path}`)
  for (const [name, value] of search) url.searchParams.append(name, value)
  const reply = await transport.send({
    method: method as Parameters<Network['transport']['send']>[0]['method'],
    url,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !passing.has(name))),
    ...(body.byteLength > 0 && { body }),
    signal: AbortSignal.timeout(answerWithin),
    answerWithin
  })
  const content = await buffer(reply.body)
  const answered = Object.entries(reply.headers).filter(([name]) => !passing.has(name)).map(([name, value]) =>
    [name, String(value)] as const
  )
  const type = reply.headers['content-type']
  return { status: reply.status, headers: Object.fromEntries(answered), body: content, ...jsonOf(String(type), content) }
}

function jsonOf (type: string, content: Buffer): { json?: Json } {
  if (!/^application\/([\w.-]+\+)?json\b/.test(type) || !isUtf8(content)) return {}
  try {
    return { json: JSON.parse(content.toString()) as Json }
  } catch {
    return {}
  }
}
