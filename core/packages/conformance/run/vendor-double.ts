import { createAccessTokenCache, createNetwork, type Network } from '@dispatch/vendor-io'
import type { Exchange, ExpectedSignIn, MailAnswer } from '../fixtures/fixture.ts'
import { type Authority, createAuthority } from '../vendor/certificates.ts'
import type { InjectedMailFault } from '../vendor/mail-fault.ts'
import { createMailServer, type MailServer, type MailSignIn, type ReceivedMail } from '../vendor/mail-server.ts'
import type { ReceivedRequest } from '../vendor/requests.ts'
import { createVendor, type Vendor, type VendorReply } from '../vendor/vendor.ts'
import { now } from './clock.ts'
import { indexIn } from './exchange.ts'
import type { InjectedFault } from './fault-injection.ts'
import { nobody, noName } from './nobody.ts'

/** A test vendor that follows exchanges, and another one with an untrusted certificate. */
export type VendorDouble = {
  /** Runs an exchange for one call, until `close`. Only one exchange runs at a time. */
  play: (play: ExchangeScript) => Promise<ExchangeSession>
  close: () => Promise<void>
}

/**
 * `attack` disturbs the request of the exchange with that index, `mailAttack` the session with the mail server. `meet` delays each answer
 * until it resolves.
 */
export type ExchangeScript = {
  exchange: Exchange
  mail?: { expect: ExpectedSignIn, answer?: MailAnswer }
  attack?: { at: number, how: InjectedFault }
  mailAttack?: InjectedMailFault
  meet?: (index: number) => Promise<void>
}

/** A request that the vendor got, with its index in the exchange. `givenUp` fires when a silent vendor has the request. */
export type ExchangeSession = {
  network: Network
  requests: { request: ReceivedRequest, index: number | undefined }[]
  mails: readonly ReceivedMail[]
  /** Who has signed in at the mail server last. */
  signIn: () => MailSignIn
  givenUp: AbortSignal
  close: () => Promise<void>
}

/** Plays vendors for calls of providers, each call with its script. */
export async function createVendorDouble (): Promise<VendorDouble> {
  const [vendor, stranger, post] = await Promise.all([createVendor(), createVendor(), createAuthority()])
  const ca = [vendor.ca, post.ca]
  const connections = createSharedConnections(() => createNetwork({ ca: [vendor.ca], loopback: 'allowed', now, route: vendor.route }))
  return {
    async play (play) {
      const giveUp = new AbortController()
      const mailServer = play.mail === undefined ? undefined : await openMail(post, play.mail, play.mailAttack, () => giveUp.abort())
      return begin({ vendor, stranger, ca, connections, mailServer, giveUp }, play)
    },
    async close () {
      await connections.close()
      await Promise.all([vendor.close(), stranger.close()])
    }
  }
}

/** The connections to the vendor that calls without a fault share, one after the other. */
type SharedConnections = {
  transport: Network['transport']
  /** At the end of a call: where one of its requests goes on, its connections are cut. */
  release: () => Promise<void>
  close: () => Promise<void>
}

/** A handshake takes longer than most calls. */
function createSharedConnections (open: () => Network): SharedConnections {
  let shared: { network: Network, underWay: Set<object> } | undefined
  async function close (): Promise<void> {
    const left = shared
    shared = undefined
    await left?.network.close()
  }
  return {
    transport: {
      async send (request) {
        const { network, underWay } = shared ??= { network: open(), underWay: new Set() }
        underWay.add(request)
        const end = (): boolean => underWay.delete(request)
        const reply = await network.transport.send(request).catch((error: unknown) => {
          end()
          throw error
        })
        reply.body.once('close', end)
        return reply
      },
      close
    },
    release: () => shared === undefined || shared.underWay.size === 0 ? Promise.resolve() : close(),
    close
  }
}

/** The mail server of an exchange. Its certificate is for the host that the fixture names, or for another one in an attack. */
async function openMail (
  post: Authority,
  { expect: { host, port, user }, answer = {} }: NonNullable<ExchangeScript['mail']>,
  attack: InjectedMailFault | undefined,
  heard: () => void
): Promise<MailServer> {
  const untrusted = attack !== undefined && 'link' in attack && attack.link === 'untrusted'
  const certificate = await post.issue(untrusted ? noName : host)
  return await createMailServer({
    certificate,
    tls: port === implicitTls,
    signsIn: user !== undefined,
    answer,
    script: attack !== undefined && 'script' in attack ? attack.script : undefined,
    heard
  })
}

const implicitTls = 465
const https = 443

type Actors = {
  vendor: Vendor
  stranger: Vendor
  ca: readonly string[]
  connections: SharedConnections
  mailServer: MailServer | undefined
  giveUp: AbortController
}

function begin (
  { vendor, stranger, ca, connections, mailServer, giveUp }: Actors,
  { exchange, attack, mailAttack, meet = () => Promise.resolve() }: ExchangeScript
): ExchangeSession {
  const requests: ExchangeSession['requests'] = []
  const over = Promise.withResolvers<undefined>()
  const link = attack !== undefined && 'link' in attack.how ? attack.how.link : undefined
  // A request that is refused may come again, with another token: then it is the same one, and no later one that is alike.
  const isHeld = ({ index }: { index: number | undefined }): boolean =>
    attack !== undefined && index === attack.at && 'script' in attack.how
  let answered = 0

  vendor.answer(async (request): Promise<VendorReply> => {
    const index = indexIn(exchange, request, requests.filter((earlier) => !isHeld(earlier)))
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
    const { status = 200, headers = {}, json, xml, text } = exchange[index]?.answer ?? {}
    // Each request of an attacked call has its own connection.
    return {
      status,
      headers: { ...headers, ...(link !== undefined && { connection: 'close' }) },
      ...(json !== undefined && { json }),
      ...(xml !== undefined && { xml }),
      ...(text !== undefined && { text })
    }
  })

  const elsewhere = { refused: nobody, 'unknown name': { host: noName, port: 443 }, untrusted: { host: '127.0.0.1', port: stranger.port } }
  const mailLink = mailAttack !== undefined && 'link' in mailAttack && mailAttack.link !== 'untrusted' ? mailAttack.link : undefined
  const network = createNetwork({
    ca,
    loopback: 'allowed',
    now,
    route (hostname, port) {
      if (link !== undefined && answered === attack?.at) return elsewhere[link]
      if (mailServer === undefined || port === https) return vendor.route(hostname, port)
      return mailLink === undefined ? { host: '127.0.0.1', port: mailServer.port } : elsewhere[mailLink]
    },
    resolve: (hostname) => Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }))
  })
  const wire = attack === undefined ? connections.transport : undefined
  return {
    network: wire === undefined ? network : { ...network, transport: wire, accessTokens: createAccessTokenCache({ wire, now }) },
    requests,
    mails: mailServer?.mails ?? [],
    signIn: () => mailServer?.signIn() ?? {},
    givenUp: giveUp.signal,
    async close () {
      over.resolve(undefined)
      await network.close()
      await connections.release()
      await mailServer?.close()
    }
  }
}
