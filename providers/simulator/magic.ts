import { type Json, refused, unavailable } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const words = ['reject', 'unavailable', 'uncertain', 'slow'] as const
export type Word = typeof words[number]

/** Numbers that no network has (the +1 500 range), with their effects. */
const numbers: Readonly<Record<string, Word>> = {
  '+15005550001': 'reject',
  '+15005550002': 'unavailable',
  '+15005550003': 'uncertain',
  '+15005550004': 'slow'
}

/** The magic word of a phone number. */
export function magicNumber (phoneNumber: string): Word | undefined {
  return Object.hasOwn(numbers, phoneNumber) ? numbers[phoneNumber] : undefined
}

/** How often a step is unavailable before it is accepted. */
const unavailableTimes = 2
const slowSeconds = 5

/** The first magic word among the fields that may contain one. In an e-mail address it is before the @. */
export function magicWord (...values: readonly (Json | undefined)[]): Word | undefined {
  const texts = values.map((place) => typeof place === 'string' ? place.replace(/@.*$/s, '').toLowerCase() : '')
  return texts.map((text) => words.find((word) => word === text)).find((word) => word !== undefined)
}

/** The effect of a magic word before the request is accepted; `uncertain` is accepted first. */
export async function perform (word: Word | undefined, call: Call): Promise<void> {
  if (word === 'reject') throw refused('declined', 'The simulator declines what says "reject".')
  if (word === 'unavailable') await beUnavailable(call)
  if (word === 'slow') await call.wait(call.settings.slowSeconds ?? slowSeconds)
}

async function beUnavailable ({ reference, state }: Call): Promise<void> {
  const key = `unavailable:${reference}`
  const times = Number(await state.get(key) ?? 0)
  if (times === unavailableTimes) return
  await state.put(key, times + 1)
  throw unavailable(`The simulator is unavailable: ${times + 1} of ${unavailableTimes} times.`)
}
