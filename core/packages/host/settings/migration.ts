import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { isDeepStrictEqual } from 'node:util'
import { destinationNames, type SettingsSchema } from './settings-schema.ts'
import { type Secrets, splitSecrets } from './settings.ts'

/** Settings that an older version was configured with: which of them are secret, and which say where requests go. */
export type OlderSettings = { version: string, settings: JsonObject, secretNames: readonly string[], destinations: readonly Json[] }

/** Makes settings for a provider of those for an older version. Undefined: it cannot. Rejects where what it makes is not permitted. */
export type SettingsMigration = (older: OlderSettings) => Promise<{ plain: JsonObject, secrets: Secrets } | undefined>

/**
 * What a provider's code made of older settings, `reveal` putting the secrets in place of what stands for them. Throws a TypeError where a
 * secret would be stored in clear text, or sent to a place that nobody has named.
 */
export function readMigrated (
  made: unknown,
  { form, destinations, reveal }: { form: SettingsSchema, destinations: readonly Json[], reveal: <Value>(value: Value) => Value }
): { plain: JsonObject, secrets: Secrets } | undefined {
  if (made === undefined) return undefined
  if (!isRecord(made)) throw new TypeError('It made something else than an object of settings.')
  const { plain, secrets } = splitSecrets(form, made as JsonObject)
  if (!isDeepStrictEqual(reveal(plain), plain)) throw new TypeError('It puts a secret into a setting that is not secret.')
  const isNew = (place: Json | undefined): boolean => place !== undefined && !destinations.includes(place)
  if (Object.keys(secrets).length > 0 && destinationNames(form).some((name) => isNew(plain[name]))) {
    throw new TypeError('It sends the secrets to another destination than they were given for.')
  }
  return { plain, secrets: reveal(secrets) }
}
