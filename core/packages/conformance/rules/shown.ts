import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { at, type ProvidedName, providedNames } from '@dispatch/core/host'
import type { Prepared } from '../fixtures/prepare.ts'
import { type Case, judged } from '../report.ts'
import type { ProviderUnderTest } from './subject.ts'

/** An accepted dispatch, and whether the vendor was told a text in it. */
type Sent = { request: JsonObject, tells: (text: string) => boolean }

/** What a provider may declare, and how a dispatch shows that it can do it. */
type Claim = { what: string, isShownBy: (sent: Sent) => boolean, todo: string }

/**
 * A capability is shown by an accepted dispatch that needs it. What a dispatch shows must be declared, too: without the declaration, a
 * validation refuses or warns of what the provider does.
 */
export function shownCases ({ installed: { manifest } }: ProviderUnderTest, sends: readonly Prepared[]): Case[] {
  const hasVendor = manifest.hosts.length > 0
  return providedNames.flatMap((service) => {
    const capabilities = manifest.services[service]?.capabilities
    if (capabilities === undefined) return []
    const accepted = sends.flatMap((send) => sentBy(send, service, hasVendor))
    // Without any, one fails already.
    if (accepted.length === 0) return []
    const declared = claimsOf(service, capabilities).map(({ what, isShownBy, todo }) =>
      judged('shown', `${what} of "${service}"`, accepted.some(isShownBy) ? [] : [`No accepted dispatch shows it: ${todo}.`])
    )
    const silent = undeclared(service, capabilities).map(({ what, isShownBy, todo }) =>
      judged('shown', `no ${what} of "${service}"`, accepted.some(isShownBy) ? [`A dispatch shows it: ${todo}.`] : [])
    )
    return [...declared, ...silent]
  })
}

function sentBy ({ call, result }: Prepared, service: ProvidedName, hasVendor: boolean): Sent[] {
  if (call.verb !== 'dispatch' || call.service !== service || result['outcome'] !== 'accepted') return []
  const told = JSON.stringify(call.exchange.map(({ expect }) => expect))
  return [{ request: call.request, tells: (text) => !hasVendor || told.includes(text) }]
}

/** The lists of words that providers declare, and the field of a request that holds one of them. */
const lists: Partial<Record<ProvidedName, { declared: string, place: string }>> = {
  invoicing: { declared: 'documentTypes', place: '/invoicing/documentType' },
  esign: { declared: 'signatureTypes', place: '/esign/signatureType' },
  postal: { declared: 'mailTypes', place: '/postal/mailType' }
}

function claimsOf (service: ProvidedName, capabilities: JsonObject): Claim[] {
  const { declared = '', place = '' } = lists[service] ?? {}
  const words = capabilities[declared]
  return [
    ...(Array.isArray(words) ? words : []).map((word): Claim => ({
      what: `${declared}: ${String(word)}`,
      isShownBy: ({ request }) => at(request, place) === word,
      todo: `write a fixtures/send.….json with it at ${place}`
    })),
    ...ofSigners(service).filter(({ what }) => isDeclared(capabilities, what))
  ]
}

function undeclared (service: ProvidedName, capabilities: JsonObject): Claim[] {
  return ofSigners(service).filter(({ what }) => !isDeclared(capabilities, what)).map((claim) => ({
    ...claim,
    todo: `declare "${claim.what}", or take it out`
  }))
}

function ofSigners (service: ProvidedName): readonly Claim[] {
  return service === 'esign' ? [sharing, phoning] : []
}

function isDeclared (capabilities: JsonObject, what: string): boolean {
  return (capabilities[what] ?? false) !== false
}

const signersOf = ({ request }: Sent): JsonObject[] => {
  const signers = at(request, '/esign/signers')
  return Array.isArray(signers) ? signers.filter((signer: Json): signer is JsonObject => isRecord(signer)) : []
}

const sharing: Claim = {
  what: 'sameAddress',
  isShownBy: (sent) => new Set(signersOf(sent).map(({ email }) => email)).size < signersOf(sent).length,
  todo: 'write a fixtures/send.….json with two signers of one address'
}

/** The end of a number: vendors want it in parts, or without its country. */
const lastDigits = 6

const phoning: Claim = {
  what: 'usesPhoneNumber',
  isShownBy: (sent) =>
    signersOf(sent).some(({ phoneNumber }) => typeof phoneNumber === 'string' && sent.tells(phoneNumber.slice(-lastDigits))),
  todo: 'write a fixtures/send.….json in which the vendor gets the number of a signer'
}
