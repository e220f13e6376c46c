import { readPostalCode } from '@dispatch/common'
import { wordsOf } from '../same-name.ts'
import type { Recipient } from './recipient-facts.ts'

/**
 * The recipient of a letter in one writing: name; company and street; postal code, city and state; country. Neither case, accents, signs
 * nor line breaks tell two apart; another spelling is somebody else. The name is a part of it: an address stays when people move. So is the
 * company: several of them have one address.
 */
export function keyOfRecipient ({ name, company = '', address, postalCode = '', city, state = '', country }: Recipient): string {
  return keyOf({ name, street: `${company} ${address}`, place: `${postalCode} ${city} ${state}`, country })
}

/** The same of a text of at least three parts in this order, with commas between them; undefined for another text. */
export function knownRecipient (text: string): string | undefined {
  const parts = text.split(/[,\n]/).map((part) => part.trim()).filter((part) => part !== '')
  const [name = '', country = '', place = ''] = [parts[0], parts.at(-1), parts.at(-2)]
  if (parts.length < 3 || !/^[A-Za-z]{2}$/.test(country)) return undefined
  return keyOf({ name, street: parts.slice(1, -2).join(' '), place, country })
}

type Parts = { name: string, street: string, place: string, country: string }

function keyOf ({ name, street, place, country }: Parts): string {
  return [wordsOf(name), wordsOf(street), placeOf(wordsOf(place), country.toUpperCase()), [country]].map((words) => words.join(' '))
    .filter((part) => part !== '').join(', ').toLowerCase()
}

/** The words that a postal code may have. */
const codeWords = [3, 2, 1] as const

/** A postal code as its country writes it, before the city. */
function placeOf (words: readonly string[], country: string): string[] {
  for (const count of codeWords) {
    const code = readPostalCode(words.slice(0, count).join(' '), country)
    if (code?.isKnown === true) return [...wordsOf(code.code), ...words.slice(count)]
  }
  return [...words]
}
