import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { checkSettings, type InstalledProvider, secretNames, type SettingsSchema } from '@dispatch/host'
import { type Credential, mapTexts } from '@dispatch/vendor-io'
import { isUtf8 } from 'node:buffer'
import { randomInt } from 'node:crypto'
import { reveals, shifted, shortestCanary } from '../run/canary.ts'
import { connectionToken } from '../run/connection.ts'
import { otherKey } from '../run/other-settings.ts'
import type { Connected } from './connect.ts'
import type { RecordedExchange } from './recorder.ts'

/** Secrets, each with the invented text that a fixture has in its place. */
export type Masks = readonly { was: string, is: string }[]

/** A mask for each secret of the settings that fits their schema. Throws an Error for a secret for which there is none. */
export function settingMasks (form: SettingsSchema, settings: JsonObject): Masks {
  return secretNames(form).flatMap((field) => {
    const was = settings[field]
    return typeof was === 'string' ? [{ was, is: maskFor(form, settings, field, was) }] : []
  })
}

/** Characters. A shorter text stands in too many others. */
const shortestPrivate = 6

/**
 * Masks for what belongs to a connected account: its tokens, the client at the vendor, and what the vendor says of it. The access token
 * becomes the one of every fixture. Throws an Error where no mask fits.
 */
export function connectionMasks (
  manifest: InstalledProvider['manifest'],
  settings: JsonObject,
  { token, secrets, facts }: Connected
): Masks {
  const clients = [manifest.connect ?? []].flat().flatMap(({ clientId }) => clientId ?? []).flatMap((field) => {
    const was = settings[field]
    return typeof was === 'string' && was.length >= shortestPrivate ? [{ was, is: maskFor(manifest.settings, settings, field, was) }] : []
  })
  return [
    { was: token, is: connectionToken },
    ...secrets.map((was) => ({ was, is: maskOf(was) })),
    ...clients,
    ...Object.values(facts).filter((was) => was.length >= shortestPrivate).map(factMask)
  ]
}

/** The mask has the same form, so that it still fits its pattern. */
function factMask (was: string): Masks[number] {
  for (let tried = 0; tried < tries; tried++) {
    const is = shifted(was, randomInt(2 ** 32), 0)
    if (!remains(is, was)) return { was, is }
  }
  throw new Error('No mask fits what the vendor says of the account: write the fixture by hand.')
}

const tries = 20

function maskFor (form: SettingsSchema, settings: JsonObject, field: string, was: string): string {
  for (let tried = 0; tried < tries; tried++) {
    const is = maskOf(was)
    if (!remains(is, was) && checkSettings(form, { ...settings, [field]: is }).length === 0) return is
  }
  throw new Error(`No mask fits the setting "${field}": record with a secret of another form, or write the fixture by hand.`)
}

/** What says which kind of key follows, such as `sk_test_`: it is no secret. */
const kindOfKey = /^[a-z]{1,8}[_-]((test|live|sandbox|prod)[_-])?/i

/** An invented text of the same form. The random seed keeps anybody from trying which secret gives it. */
export function maskOf (secret: string): string {
  if (secret.includes('PRIVATE KEY-----')) return otherKey(secret)
  const [kind = ''] = kindOfKey.exec(secret) ?? []
  return shifted(secret.padEnd(shortestCanary, 'x'), randomInt(2 ** 32), kind.length)
}

/** Whether something of a secret is left in a text. Of a key in PEM, its lines count. */
export function remains (text: string, secret: string): boolean {
  if (!secret.includes('PRIVATE KEY-----')) return reveals(text, secret)
  return secret.split('\n').some((line) => line.length >= shortestLine && !line.includes('-----') && text.includes(line))
}

/** Characters. The last line of a key may be short. */
const shortestLine = 16

/** The JSON with every secret masked, also where a URL writes it. */
export function masked<Value extends Json> (value: Value, masks: Masks): Value {
  const forms = masks.flatMap(({ was, is }) => [{ was, is }, { was: encodeURIComponent(was), is: encodeURIComponent(is) }])
  const longestFirst = forms.toSorted((a, b) => b.was.length - a.was.length)
  return mapTexts(value, (text) => longestFirst.reduce((changed, { was, is }) => changed.replaceAll(was, is), text))
}

/** The tokens in the vendor's answers: fields of such a name, and what the provider has signed in with later. */
export function tokenMasks (recorded: readonly RecordedExchange[], credentials: readonly Credential[]): Masks {
  const given = recorded.map(({ answer }) => answer.body.toString())
  const used = credentials.map(({ value }) => value).filter((value) =>
    value.length >= shortestToken && given.some((text) => text.includes(value))
  )
  const tokens = recorded.flatMap(({ answer: { json, body } }) => json === undefined ? textTokensIn(body) : tokensIn(json))
  return [...new Set([...used, ...tokens])].map((was) => ({ was, is: maskOf(was) }))
}

const tokenField = /key|secret|token|password/i
/** The same in XML, forms and other texts: in an element, in an attribute, or behind a name. */
const tokensInText = [
  /<(?:[\w.-]+:)?[\w.-]*(?:key|secret|token|password)[\w.-]*(?:\s[^<>]*)?>\s*([^<>]*[^<>\s])\s*</gi,
  /(?:key|secret|token|password)[\w.-]*["']?\s*[=:]\s*["']?([^\s"'&<>,;]+)/gi
]
/** Characters. A shorter value is no token. */
const shortestToken = 12

function textTokensIn (body: Buffer): string[] {
  if (!isUtf8(body)) return []
  const text = body.toString()
  return tokensInText.flatMap((form) => [...text.matchAll(form)].map(([, found = '']) => found)).filter(({ length }) =>
    length >= shortestToken
  )
}

function tokensIn (value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => tokensIn(item))
  if (!isRecord(value)) return []
  return Object.entries(value as JsonObject).flatMap(([name, inner]) =>
    typeof inner === 'string' ? tokenField.test(name) && inner.length >= shortestToken ? [inner] : [] : tokensIn(inner)
  )
}
