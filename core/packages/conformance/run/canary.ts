import type { Json, JsonObject } from '@dispatch/common'
import { checkSettings, secretNames, type SettingsSchema } from '@dispatch/host'
import { mapTexts } from '@dispatch/vendor-io'
import { hash } from 'node:crypto'

/** The secrets of a fixture by their field, and their replacements in a run. */
export type Canaries = readonly { field: string, was: string, is: string }[]

/** Characters. A shorter secret could occur in any text by chance. */
export const shortestCanary = 8

/**
 * Other secrets of the same form: digits stay digits, hexadecimal stays hexadecimal, a prefix such as `sk_test_` stays. A value stays
 * unchanged if its replacement would not fit the settings schema, or if it is a PEM key, which must stay valid. `seed` makes different
 * secrets for different tenants.
 */
export function canariesOf (form: SettingsSchema, settings: JsonObject, seed: number): Canaries {
  return secretNames(form).flatMap((field) => {
    const was = settings[field]
    if (typeof was !== 'string' || was.startsWith('-----BEGIN')) return []
    const is = shifted(was, seed)
    return checkSettings(form, { ...settings, [field]: is }).length > checkSettings(form, settings).length ? [] : [{ field, was, is }]
  })
}

/** The JSON with every secret of the fixture replaced. */
export function withCanaries<Value extends Json> (value: Value, canaries: Canaries): Value {
  const longestFirst = canaries.toSorted((a, b) => b.was.length - a.was.length)
  return longestFirst.length === 0
    ? value
    : mapTexts(value, (text) => longestFirst.reduce((changed, { was, is }) => changed.replaceAll(was, is), text))
}

/** Changes each letter and digit of a text after the `kept` first ones (half of it) to another one of its kind, each by another step. */
export function shifted (text: string, seed: number, kept = Math.floor(text.length / 2)): string {
  const steps = hash('sha256', `${seed} ${text}`, 'buffer')
  return text.slice(0, kept) + text.slice(kept).replaceAll(/[0-9a-zA-Z]/g, (character, index: number) => {
    const kind = kinds.find((characters) => characters.includes(character)) ?? character
    return kind[(kind.indexOf(character) + (steps[index % steps.length] ?? 0)) % kind.length] ?? character
  })
}

const kinds = ['0123456789', 'abcdef', 'ghijklmnopqrstuvwxyz', 'ABCDEF', 'GHIJKLMNOPQRSTUVWXYZ']

/** Whether a text contains a secret: in clear text, encoded, backwards, or a piece of its unique half. */
export function reveals (text: string, secret: string): boolean {
  return formsOf(secret).some((form) => text.includes(form))
}

function formsOf (secret: string): string[] {
  const half = secret.slice(Math.floor(secret.length / 2))
  const bytes = Buffer.from(secret)
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    // Without the last characters, which depend on the text that follows.
    bytes.toString('base64').replace(/.{1,4}$/, ''),
    bytes.toString('base64url').replace(/.{1,4}$/, ''),
    Array.from(secret).reverse().join(''),
    ...Array.from({ length: Math.max(0, half.length - piece + 1) }, (_, from) => half.slice(from, from + piece))
  ]
}

/** The least characters of a secret that no text contains by chance. */
const piece = 8
