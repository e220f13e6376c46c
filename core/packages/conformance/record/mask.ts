import type { Json, JsonObject } from '@dispatch/common'
import { checkSettings, mapTexts, secretNames, type SettingsSchema } from '@dispatch/core/host'
import { randomInt } from 'node:crypto'
import { reveals, shifted, shortestCanary } from '../run/canary.ts'
import { otherKey } from '../run/other-settings.ts'

/** Secrets, each with the invented text that a fixture has in its place. */
export type Masks = readonly { was: string, is: string }[]

/** A mask for each secret of the settings that fits their schema. Throws an Error for a secret for which there is none. */
export function settingMasks (form: SettingsSchema, settings: JsonObject): Masks {
  return secretNames(form).flatMap((field) => {
    const was = settings[field]
    return typeof was === 'string' ? [{ was, is: maskFor(form, settings, field, was) }] : []
  })
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
