import type { Network } from '../host/network.ts'
import { createNetwork } from '../host/network.ts'
import type { Attack } from './attacks.ts'
import { isMeant } from './compare.ts'
import type { Exchange } from './fixture.ts'
import type { Received } from './requests.ts'
import { createVendor, type Script, type Vendor } from './vendor.ts'

/** A vendor that follows exchanges, and one whose certificates nobody trusts. */
export type Stage = {
  /** Plays an exchange for one call; ended with `close`. One at a time. */
  play: (play: Play) => Playing
  close: () => Promise<void>
}

/** `attack` spoils the request of the exchange with that index; `meet` holds each answer until it resolves. */
export type Play = { exchange: Exchange, attack?: { at: number, how: Attack }, meet?: (index: number) => Promise<void> }

/** What the vendor got, with the index of the request of the exchange that it was. `givenUp` fires when a silent vendor has the request. */
export type Playing = {
  network: Network
  requests: { request: Received, index: number | undefined }[]
  givenUp: AbortSignal
  close: () => Promise<void>
}

/** The time of every call of the kit. */
export const now = (): Date => new Date('2026-03-14T09:30:00.000Z')

/** Nobody listens there (tcpmux, RFC 1078), and nobody is called that (RFC 6761). */
export const nobody = { host: '127.0.0.1', port: 1 }
export const noName = 'no-such-host.invalid'

export async function createStage (): Promise<Stage> {
  const [vendor, stranger] = await Promise.all([createVendor(), createVendor()])
  return {
    play: (play) => begin(vendor, stranger, play),
    async close () { await Promise.all([vendor.close(), stranger.close()]) }
  }
}

function begin (vendor: Vendor, stranger: Vendor, { exchange, attack, meet = () => Promise.resolve() }: Play): Playing {
  const requests: Playing['requests'] = []
  const giveUp = new AbortController()
  const over = Promise.withResolvers<undefined>()
  const link = attack !== undefined && 'link' in attack.how ? attack.how.link : undefined
  let answered = 0

  vendor.answer(async (request): Promise<Script> => {
    const index = indexOf(exchange, request, requests)
    requests.push({ request, index })
    if (index === undefined) return { status: 404, json: { message: 'The fixture expects no such request.' } }
    if (index === attack?.at && 'script' in attack.how) return attack.how.script
    if (index === attack?.at && 'silent' in attack.how) {
      giveUp.abort()
      await over.promise
      return { cut: 'after-body' }
    }
    await meet(index)
    answered++
    const { status = 200, headers = {}, json, text } = exchange[index]?.answer ?? {}
    // Every request of a call whose connection is attacked makes its own.
    return { status, headers: { ...headers, ...(link !== undefined && { connection: 'close' }) }, ...(json !== undefined && { json }), ...(text !== undefined && { text }) }
  })

  const elsewhere = { refused: nobody, 'unknown name': { host: noName, port: 443 }, untrusted: { host: '127.0.0.1', port: stranger.port } }
  const network = createNetwork({
    ca: [vendor.ca],
    loopback: 'allowed',
    now,
    route: (hostname, port) => link !== undefined && answered === attack?.at ? elsewhere[link] : vendor.route(hostname, port),
    resolve: (hostname) => Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }))
  })
  return {
    network,
    requests,
    givenUp: giveUp.signal,
    async close () {
      over.resolve(undefined)
      await network.close()
    }
  }
}

/** Which request of the exchange one is: the first of those like it that has not come yet, else the last. */
function indexOf (exchange: Exchange, request: Received, before: Playing['requests']): number | undefined {
  const alike = exchange.flatMap(({ expect }, index) => isMeant(expect, request) ? [index] : [])
  return alike.find((index) => before.every((earlier) => earlier.index !== index)) ?? alike.at(-1)
}
