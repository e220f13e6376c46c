import type { JsonObject } from '@dispatch/common'
import type { KeyObject } from 'node:crypto'
import { declaredUrl } from './declared-url.ts'
import type { EventRequest } from './event-request.ts'
import type { KeySource, KeySources } from './keys.ts'
import type { PublicKey } from './language.ts'
import { knownKeysIn } from './public-keys.ts'
import type { SignatureFault } from './verdict.ts'

/** What a verifier works with: the settings of the configuration that the event's URL names, and the keys of vendors. */
export type VerifyWith = { settings: JsonObject, keys: KeySources }

/** The public keys that count for an event, and where they come from if they may change there; or why there are none. */
export type VendorKeys = { ok: true, keys: readonly KeyObject[], source?: KeySource } | { ok: false, verdict: SignatureFault }

export async function vendorKeys (key: PublicKey, event: EventRequest, { settings, keys }: VerifyWith, at: Date): Promise<VendorKeys> {
  if ('setting' in key) return keyIn(textIn(settings, key.setting), at)
  if ('fixed' in key) return typeof key.fixed === 'string' ? keyIn(key.fixed, at) : { ok: true, keys: keys.of(key.fixed).all(at) }
  if ('url' in key) {
    const source = keys.of(key.url)
    return { ok: true, keys: source.all(at), source }
  }
  const [address, ...others] = await event.textsAt(key.certificate) ?? []
  if (address === undefined || others.length > 0) return { ok: false, verdict: 'malformed_signature' }
  const url = declaredUrl(address, key.hosts, settings)
  if (url === undefined) return { ok: false, verdict: 'forbidden_host' }
  const source = keys.certificateAt(url.href)
  return { ok: true, keys: source.all(at), source }
}

function keyIn (text: string | undefined, at: Date): VendorKeys {
  const keys = text === undefined || text === '' ? undefined : knownKeysIn(text)?.(at)
  if (keys === undefined) return { ok: false, verdict: 'no_secret' }
  return keys.length === 0 ? { ok: false, verdict: 'outdated_certificate' } : { ok: true, keys }
}

export function textIn (settings: JsonObject, name: string): string | undefined {
  const value = settings[name]
  return typeof value === 'string' ? value : undefined
}
