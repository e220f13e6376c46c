import { at, isRecord, type Json, type JsonObject } from '@dispatch/common'
import { type ProvidedName, providedNames, services } from '@dispatch/services'
import { type Case, judged } from '../report.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'

/** An accepted dispatch. `tells`: whether its requests to the vendor contain a text. */
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
  const reported = JSON.stringify(call.exchange.map(({ expect }) => expect))
  return [{ request: call.request, tells: (text) => !hasVendor || reported.includes(text) }]
}

function claimsOf (service: ProvidedName, capabilities: JsonObject): Claim[] {
  const lists = Object.entries(services[service].choices ?? {})
  return [
    ...lists.flatMap(([declared, field]) => {
      const [words, place] = [capabilities[declared], `/${service}/${field}`]
      return (Array.isArray(words) ? words : []).map((word): Claim => ({
        what: `${declared}: ${String(word)}`,
        isShownBy: ({ request }) => at(request, place) === word,
        todo: `write a fixtures/send.….json with it at ${place}`
      }))
    }),
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
  return services[service].signers === undefined ? [] : [sharing(service), phoning(service)]
}

function isDeclared (capabilities: JsonObject, what: string): boolean {
  return (capabilities[what] ?? false) !== false
}

function signersOf ({ request }: Sent, service: ProvidedName): JsonObject[] {
  const signers = at(request, `/${service}/signers`)
  return Array.isArray(signers) ? signers.filter((signer: Json): signer is JsonObject => isRecord(signer)) : []
}

const sharing = (service: ProvidedName): Claim => ({
  what: 'sameAddress',
  isShownBy: (sent) => new Set(signersOf(sent, service).map(({ email }) => email)).size < signersOf(sent, service).length,
  todo: 'write a fixtures/send.….json with two signers of one address'
})

/** The end of a number: vendors want it in parts, or without its country. */
const lastDigits = 6

const phoning = (service: ProvidedName): Claim => ({
  what: 'usesPhoneNumber',
  isShownBy: (sent) =>
    signersOf(sent, service).some(({ phoneNumber }) => typeof phoneNumber === 'string' && sent.tells(phoneNumber.slice(-lastDigits))),
  todo: 'write a fixtures/send.….json in which the vendor gets the number of a signer'
})
