import { isSignedBy, macOf, secretBytes } from './algorithms.ts'
import { isNear, isSame } from './compare.ts'
import type { EventRequest } from './event-request.ts'
import type { KeySource } from './keys.ts'
import { coversBody, isMac, type KeySignature, type Signature } from './language.ts'
import { textIn, vendorKeys, type VerifyWith } from './vendor-keys.ts'
import type { VerificationStatus } from './verdict.ts'

/**
 * What a verifier says of an event. `proof`: what is proved, where that is not the raw body. `source`: where a key may be found that is not
 * known yet.
 */
export type Judged = { verdict: VerificationStatus, proof?: Uint8Array, source?: KeySource }

/** The most signatures of one event that are tried. */
const maxSignatures = 100

/**
 * A signature of the pieces that the verifier names. One valid signature is enough, because a vendor that changes its key signs with both.
 */
export async function verifySignature (verify: Signature, event: EventRequest, by: VerifyWith, at: Date): Promise<Judged> {
  const { settings } = by
  const secret = isMac(verify) ? secretBytes(textIn(settings, verify.key.secret), verify.key) : undefined
  if (isMac(verify) && secret === undefined) return { verdict: 'no_secret' }
  const given = await event.textsAt(verify.at)
  if (given === undefined) return { verdict: 'no_signature' }
  const { prefix = '', encoding } = verify
  const signatures = given.filter((text) => text.startsWith(prefix)).map((text) => Buffer.from(text.slice(prefix.length), encoding))
  if (signatures.length === 0 || signatures.length > maxSignatures) return { verdict: 'malformed_signature' }
  const time = verify.time === undefined ? undefined : await timeOf(verify.time, event, at)
  if (time?.fault !== undefined) return { verdict: time.fault }
  const signed = await event.bytesOf(verify.signed, { time: time?.text, settings, own: verify.at })
  if (signed === undefined) return { verdict: 'malformed_signature' }
  const proof = coversBody(verify.signed) ? {} : { proof: signed }
  if (isMac(verify)) {
    const expected = macOf(verify.algorithm, secret ?? Buffer.alloc(0), signed)
    // All signatures are compared, so that the time does not show which one was valid.
    return signatures.map((one) => isSame(one, expected)).includes(true)
      ? { verdict: 'verified', ...proof }
      : { verdict: 'wrong_signature' }
  }
  return await byPublicKey(verify, { event, signed, signatures, proof }, by, at)
}

type Given = { event: EventRequest, signed: Uint8Array, signatures: readonly Uint8Array[], proof: Pick<Judged, 'proof'> }

async function byPublicKey (verify: KeySignature, { event, signed, signatures, proof }: Given, by: VerifyWith, at: Date): Promise<Judged> {
  const { algorithm } = verify
  const found = await vendorKeys(verify.key, event, by, at)
  if (!found.ok) return { verdict: found.verdict }
  if (signatures.some((one) => isSignedBy(algorithm, found.keys, signed, one))) return { verdict: 'verified', ...proof }
  return found.source === undefined ? { verdict: 'wrong_signature' } : { verdict: 'unknown_key', source: found.source }
}

async function timeOf (
  { at: place, ...near }: NonNullable<Signature['time']>,
  { textsAt }: EventRequest,
  at: Date
): Promise<{ text: string, fault?: undefined } | { fault: VerificationStatus }> {
  const [text, ...others] = await textsAt(place) ?? []
  const isPart = 'header' in place && place.part !== undefined
  if (others.length > 0 || (text === undefined && isPart)) return { fault: 'malformed_signature' }
  return text !== undefined && isNear(text, near, at) ? { text } : { fault: 'wrong_time' }
}
