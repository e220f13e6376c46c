import { compileOutsideSchema, type Envelope, isRecord, type Json, type JsonObject, type Keyring, pointer, type Problem, SealError,
  withoutNulls } from '@dispatch/common'
import { isSince, latestVersion, type Version } from '@dispatch/contract'
import type { ServiceName } from '@dispatch/services'
import { changedDestinations, secretNames, type SettingsSchema } from './settings-schema.ts'

/** Settings as they are stored: each secret is encrypted separately, the rest is in clear text. */
export type StoredSettings = { plain: JsonObject, secrets: StoredSecrets }
export type StoredSecrets = Readonly<Record<string, { sealed: Envelope, updatedAt: string }>>

/** Decrypted secrets by the name of their field. */
export type Secrets = Readonly<Record<string, string>>

/** The owner of encrypted secrets; they cannot be decrypted for another owner. `scope` is the company's or one user's configuration. */
export type Vault = { keyring: Pick<Keyring, 'seal' | 'open'>, company: number, provider: string, scope: string }

/** The place of settings in a request, its API version, by default the latest, and the service of which they are request settings. */
export type SettingsPlace = { base?: string, version?: Version, service?: ServiceName }

/** The problems of complete settings or request settings, with unknown fields and fields of a later API version. */
export function checkSettings (
  form: SettingsSchema,
  settings: JsonObject,
  { base = '', version = latestVersion, service }: SettingsPlace = {}
): Problem[] {
  // Ajv caches compiled schemas by object, so a settings schema is compiled once.
  const fit = compileOutsideSchema(form)(settings, base)
  return [
    ...fit.ok ? [] : fit.problems,
    ...laterFields(form, settings, { base, version }),
    ...service === undefined ? [] : fieldsOfOthers(form, settings, { base, service })
  ]
}

/** The fields that a provider knows for other services alone: it would ignore them. */
function fieldsOfOthers (form: SettingsSchema, settings: JsonObject, { base, service }: { base: string, service: ServiceName }): Problem[] {
  return Object.keys(settings).flatMap((name) => {
    const { 'x-services': known } = Object.hasOwn(form.properties, name) ? form.properties[name] ?? {} : {}
    return known?.includes(service) !== false ? [] : [{
      path: pointer(base, name),
      code: 'unknown_field',
      message: `Unknown field "${name}": the provider knows it for ${known.join(', ')}, and not for ${service}.`
    }]
  })
}

function laterFields (form: SettingsSchema, settings: JsonObject, { base, version }: { base: string, version: Version }): Problem[] {
  return Object.keys(settings).flatMap((name) => {
    const { 'x-since': since } = Object.hasOwn(form.properties, name) ? form.properties[name] ?? {} : {}
    return isSince(since, version)
      ? []
      : [{
        path: pointer(base, name),
        code: 'later_version',
        message: `The API has this field from version ${since ?? ''} on: request that version with X-API-Version.`
      }]
  })
}

/** Separates settings from their secrets. A secret that is not a text stays with the rest, so that the check finds it. */
export function splitSecrets (form: SettingsSchema, settings: JsonObject): { plain: JsonObject, secrets: Secrets } {
  const names = new Set(secretNames(form))
  const isSecret = (field: [string, Json]): field is [string, string] => names.has(field[0]) && typeof field[1] === 'string'
  const fields = Object.entries(settings)
  return {
    plain: Object.fromEntries(fields.filter((field) => !isSecret(field))),
    secrets: Object.fromEntries(fields.filter(isSecret))
  }
}

/** Stored settings without their secrets: a secret becomes `{ set: true, updatedAt }`. */
export function maskSettings (form: SettingsSchema, { plain, secrets }: StoredSettings): JsonObject {
  // A field that became secret in a newer version of the provider may still be stored in clear text.
  const exposed = secretNames(form).filter((name) => Object.hasOwn(plain, name))
  return {
    ...plain,
    ...Object.fromEntries(exposed.map((name) => [name, { set: true }])),
    ...Object.fromEntries(Object.entries(secrets).map(([name, { updatedAt }]) => [name, { set: true, updatedAt }]))
  }
}

/**
 * Merges a client's new settings with the stored ones. A secret that is left out is kept, and `null` deletes it; elsewhere null is
 * absence. When a destination changes, no secret is kept, because the secrets were meant for the old destination; `dropped` names those.
 */
export function mergeSettings (
  form: SettingsSchema,
  stored: StoredSettings,
  incoming: JsonObject
): { plain: JsonObject, fresh: Secrets, kept: StoredSecrets, dropped: string[] } {
  const names = secretNames(form)
  // The name of a field that there is not may be misspelt, and be meant to delete a secret.
  const unknown = Object.entries(incoming).filter(([name]) => !Object.hasOwn(form.properties, name))
  const { plain, secrets: fresh } = splitSecrets(form, { ...withoutNulls(incoming), ...Object.fromEntries(unknown) })
  const sameDestination = changedDestinations(form, stored.plain, plain).length === 0
  const leftOut = Object.entries(stored.secrets).filter(([name]) => names.includes(name) && !Object.hasOwn(incoming, name))
  return {
    plain,
    fresh,
    kept: sameDestination ? Object.fromEntries(leftOut) : {},
    dropped: sameDestination ? [] : leftOut.map(([name]) => name)
  }
}

/** Encrypts secrets that were given at `now`. */
export function sealSecrets (secrets: Secrets, vault: Vault, now: Date): StoredSecrets {
  const updatedAt = now.toISOString()
  return mapValues(secrets, (secret, name) => ({ sealed: vault.keyring.seal(secret, contextOf(vault, name)), updatedAt }))
}

/** Decrypts secrets. Throws a SealError when one was changed, or was encrypted for another vault or field. */
export function openSecrets (secrets: StoredSecrets, vault: Vault): Secrets {
  return mapValues(secrets, ({ sealed }, name) => vault.keyring.open(sealed, contextOf(vault, name)).toString())
}

/** Stored settings with their decrypted secrets, for a call. */
export function openSettings ({ plain, secrets }: StoredSettings, vault: Vault): JsonObject {
  return { ...plain, ...openSecrets(secrets, vault) }
}

/** What stands around a text that was pasted: spaces, ends of lines, and marks that nobody sees. */
const around = /^[\s\u200B-\u200D\u2060]+|[\s\u200B-\u200D\u2060]+$/g

function trimmed (value: Json): Json {
  if (typeof value === 'string') return value.replaceAll(around, '')
  if (Array.isArray(value)) return value.map((item: Json) => trimmed(item))
  return isRecord(value) ? mapValues(value as JsonObject, trimmed) : value
}

/**
 * The stored settings after a client's change (see {@link mergeSettings}), without what stands around pasted texts, and with a warning for
 * each secret that was not kept; or the problems of the complete result.
 */
export function changeSettings (
  form: SettingsSchema,
  stored: StoredSettings,
  incoming: JsonObject,
  { vault, now, ...place }: { vault: Vault, now: Date } & SettingsPlace
): { ok: true, value: StoredSettings, warnings: Problem[] } | { ok: false, problems: Problem[] } {
  const pasted = mapValues(incoming, trimmed)
  const { plain, fresh, kept, dropped } = mergeSettings(form, stored, pasted)
  const warnings = dropped.map((name) => ({
    path: pointer(place.base ?? '', name),
    code: 'not_kept',
    message: 'The secret was deleted, because it was given for another destination: give it again for this one.'
  }))
  const { opened, lost } = openReadable(kept, vault)
  const unreadable = lost.map((name) => ({
    path: pointer(place.base ?? '', name),
    code: 'unreadable',
    message: 'The stored secret cannot be opened: give it again, or delete it.'
  }))
  const found = checkSettings(form, { ...plain, ...opened, ...fresh }, place)
  const problems = [...unreadable, ...found.filter((problem) => !unreadable.some(({ path }) => path === problem.path))]
  if (problems.length > 0) {
    return {
      ok: false,
      problems: problems.map((problem) => ({
        ...problem,
        message: warnings.find(({ path }) => path === problem.path)?.message ?? problem.message
      }))
    }
  }
  return { ok: true, value: { plain, secrets: { ...kept, ...sealSecrets(fresh, vault, now) } }, warnings }
}

/** The secrets that can be opened, and the names of those that cannot. Throws any other error than a `SealError`. */
export function openReadable (secrets: StoredSecrets, vault: Vault): { opened: Secrets, lost: string[] } {
  const [opened, lost]: [Record<string, string>, string[]] = [{}, []]
  for (const [name, secret] of Object.entries(secrets)) {
    try {
      Object.assign(opened, openSecrets({ [name]: secret }, vault))
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      lost.push(name)
    }
  }
  return { opened, lost }
}

function contextOf ({ company, provider, scope }: Vault, name: string): string {
  return `${company}|${provider}|${scope}|${name}`
}

function mapValues<In, Out> (record: Readonly<Record<string, In>>, change: (value: In, name: string) => Out): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]))
}
