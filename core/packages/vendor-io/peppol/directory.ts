import { errorMessageOf, withDeadline } from '@dispatch/common'
import type { X509Certificate } from 'node:crypto'
import type { NaptrRecord } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { HttpTransport } from '../http/transport.ts'
import { codeOf, RequestFailure } from '../outcome/request-outcome.ts'
import { invoicesIn, NotReadable, statusIn } from './metadata.ts'
import { participantOf, participantScheme, zoneName } from './name.ts'
import { NotSigned, signedText } from './signature.ts'

/** A participant of Peppol, and whether an access point receives invoices for it now, later, or not. */
export type Participant = { scheme: string, id: string, status: 'active' | 'upcoming' | 'inactive' }

/** What Peppol's directory says of an id; `away`: it says nothing, and the message why. */
export type Published = { known: Participant } | { known: undefined } | { away: string }

/** Finds out who receives invoices by Peppol: in DNS where they publish that, and there what, signed. */
export type Peppol = { ask: (address: { scheme: string, id: string }) => Promise<Published> }

/**
 * `zone`: of the locator (SML), such as participant.sml.prod.tech.peppol.org; `authorities`: those whose certificates sign metadata;
 * `nameServers`: instead of the system's.
 */
export type PeppolOptions = {
  transport: Pick<HttpTransport, 'send'>
  zone: string
  authorities: readonly X509Certificate[]
  nameServers?: readonly string[]
  now: () => Date
}

/** Milliseconds: for the whole, for one question to a name server, and how often that is asked. */
const [limit, nameWithin, tries] = [10_000, 2_000, 2]
/** Bytes of an answer. Metadata have a few thousand. */
const largest = 256 * 1024

/** Why it cannot be said: the message is told. */
class Away extends Error {}

/**
 * The directory of Peppol, read by DNS and HTTPS. `zone`: where names are looked up; `authorities`: who may have signed the answers. A
 * look-up throws where nobody answers.
 */
export function openPeppol ({ transport, zone, authorities, nameServers, now }: PeppolOptions): Peppol {
  const resolver = new Resolver({ timeout: nameWithin, tries })
  if (nameServers !== undefined) resolver.setServers(nameServers)

  async function find (address: { scheme: string, id: string }, signal: AbortSignal): Promise<Published> {
    const participant = participantOf(address)
    const publisher = await publisherOf(resolver, zoneName(participant, zone))
    if (publisher === undefined) return { known: undefined }
    const base = `${publisher}/${encodeURIComponent(`${participantScheme}::${participant}`)}`
    const group = await get(base, signal)
    if (group === undefined) return { known: undefined }
    const [invoice] = invoicesIn(group)
    if (invoice === undefined) return { known: { ...address, status: 'inactive' } }
    const metadata = await get(`${base}/services/${encodeURIComponent(invoice)}`, signal)
    if (metadata === undefined) return { known: { ...address, status: 'inactive' } }
    const at = now()
    return { known: { ...address, status: statusIn(signedText(metadata, { authorities, at }), participant, at) } }
  }

  /** The text of an answer; undefined for 404. */
  async function get (address: string, signal: AbortSignal): Promise<string | undefined> {
    const url = new URL(address)
    const { status, body } = await transport.send({
      method: 'GET',
      url,
      headers: { accept: 'application/xml, text/xml' },
      signal,
      answerWithin: limit
    })
    const pieces: Buffer[] = []
    let size = 0
    for await (const piece of body as AsyncIterable<Buffer>) {
      size += piece.length
      if (size > largest) throw new Away(`"${url.host}" answers more than ${largest / 1024} KiB.`)
      pieces.push(piece)
    }
    if (status === 404) return undefined
    if (status !== 200) throw new Away(`"${url.host}" answered ${status}.`)
    return Buffer.concat(pieces).toString('utf8')
  }

  return {
    async ask (address) {
      try {
        return await withDeadline(limit, (signal) => find(address, signal),
          new Away(`Peppol did not answer within ${limit / 1000} seconds.`))
      } catch (error) {
        // What others have written is in none of them.
        const isReported = [Away, NotReadable, NotSigned, RequestFailure].some((known) => error instanceof known)
        return { away: isReported ? errorMessageOf(error) : 'Peppol could not be asked.' }
      }
    }
  }
}

/** Where a participant publishes; undefined where the zone does not have it. */
async function publisherOf (resolver: Pick<Resolver, 'resolveNaptr'>, name: string): Promise<string | undefined> {
  const records = await resolver.resolveNaptr(name).catch((error: unknown) => {
    const code = codeOf(error)
    if (code === 'ENOTFOUND' || code === 'ENODATA') return []
    throw new Away(`The name servers of Peppol did not answer (${code}).`)
  })
  const [record] = records.filter(({ flags, service }) => flags.toUpperCase() === 'U' && service.toLowerCase() === 'meta:smp')
    .toSorted((one, other) => one.order - other.order || one.preference - other.preference)
  return record && addressIn(record)
}

/** The address in a rule such as `!.*!https://smp.example.com!` (RFC 4848). */
function addressIn ({ regexp }: Pick<NaptrRecord, 'regexp'>): string {
  const [, , address = ''] = regexp.split(regexp.slice(0, 1))
  const url = URL.parse(address)
  if (url?.protocol !== 'https:' || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new Away('The participant publishes at no https address.')
  }
  return url.href.replace(/\/$/, '')
}
