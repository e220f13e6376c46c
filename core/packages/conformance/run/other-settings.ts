import type { JsonObject } from '@dispatch/common'
import { checkSettings, destinationNames, type SettingsSchema } from '@dispatch/host'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { shifted } from './canary.ts'

/**
 * The settings with every text that may be another one replaced by another one, also where it is no secret; a private key by another key of
 * its kind. Hosts stay, because the test vendor has their names.
 */
export function otherSettings (form: SettingsSchema, settings: JsonObject, seed: number): JsonObject {
  const kept = new Set(destinationNames(form))
  return Object.entries(settings).reduce<JsonObject>((changed, [field, value]) => {
    if (typeof value !== 'string' || kept.has(field)) return changed
    const other = { ...changed, [field]: value.includes('PRIVATE KEY-----') ? otherKey(value) : shifted(value, seed) }
    return checkSettings(form, other).length > checkSettings(form, changed).length ? changed : other
  }, settings)
}

/** Another private key of the same kind; a key that is neither RSA nor of an elliptic curve stays. */
export function otherKey (pem: string): string {
  const { asymmetricKeyType: kind, asymmetricKeyDetails: { modulusLength = 2048, namedCurve = 'P-256' } = {} } = createPrivateKey(pem)
  const encoding = { type: 'pkcs8', format: 'pem' } as const
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength }).privateKey.export(encoding)
  if (kind === 'ec') return generateKeyPairSync('ec', { namedCurve }).privateKey.export(encoding)
  return pem
}
