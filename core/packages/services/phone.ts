import { createRecent } from '@dispatch/common'
import type * as Library from 'libphonenumber-js/max'
import { createRequire } from 'node:module'
import { type TString, Type } from 'typebox'
import type { Findings } from './service.ts'

/** What is loaded with the first number: its plans of all countries, in a hundred modules. Those with the kinds of numbers. */
const load = createRequire(import.meta.url)
const library = (): typeof Library => load('libphonenumber-js/max') as typeof Library

export const e164 = /^\+[1-9][0-9]{6,14}$/

/** An E.164 phone number. */
export function PhoneNumber (): TString {
  return Type.String({
    title: 'PhoneNumber',
    pattern: e164.source,
    description: 'an E.164 phone number, with + and country code, such as +33612345678',
    examples: ['+33612345678']
  })
}

/**
 * What was written before a change of a numbering plan, and what is dialled since. Mexico dropped the 1 before mobile numbers (IFT, 3
 * August 2019); Brazil put a 9 before them (Anatel, resolution 553/2010, all areas since 2016); Côte d'Ivoire put the operator's code
 * before them (ARTCI, 31 January 2021), Benin 01 before all numbers (ARCEP, 30 November 2024).
 */
const formerly: readonly (readonly [form: RegExp, now: string])[] = [
  [/^\+521(\d{10})$/, '+52$1'],
  [/^\+55([1-9]\d)([6-9]\d{7})$/, '+55$19$2'],
  [/^\+225([04-9][0-3]\d{6})$/, '+22501$1'],
  [/^\+225([04-9][4-6]\d{6})$/, '+22505$1'],
  [/^\+225([04-9][7-9]\d{6})$/, '+22507$1'],
  [/^\+229(\d{8})$/, '+22901$1']
]

type Parsed = { number: Library.PhoneNumber, isValid: boolean } | { number?: undefined }

/** A request looks at its numbers several times: when they are checked, for whom they are of, and for what is sent. */
const recent = createRecent<string, Parsed>(500)

/** Data may have a long text where a number is expected. */
const longestKept = 40

/**
 * A number that is dialled, with its country and kind; undefined where no country has numbers of that code and length. `from`: where a
 * number without the code of a country is dialled.
 */
function parse (text: string, from?: Library.CountryCode): Parsed {
  const key = `${from ?? ''} ${text}`
  const parsed = recent.get(key) ?? parseNew(text, from)
  if (key.length <= longestKept) recent.set(key, parsed)
  return parsed
}

function parseNew (text: string, from?: Library.CountryCode): Parsed {
  const number = library().parsePhoneNumberFromString(text, from)
  if (number?.isValid() === true) return { number, isValid: true }
  const [form, now] = formerly.find(([old]) => old.test(text)) ?? []
  const changed = form === undefined || now === undefined ? undefined : library().parsePhoneNumberFromString(text.replace(form, now))
  if (changed?.isValid() === true) return { number: changed, isValid: true }
  return number?.isPossible() === true ? { number, isValid: false } : {}
}

/** The number that is dialled, in E.164: without the zero that is dialled inside a country only, and by the plan of today. */
export function dialled (phoneNumber: string): string {
  return parse(phoneNumber).number?.number ?? phoneNumber
}

/** The country that a number belongs to (ISO 3166-1 alpha-2); undefined where it has none, or several share its code. */
export function countryOf (phoneNumber: string): string | undefined {
  return parse(phoneNumber).number?.country
}

/** Whether a number, in E.164 or as it is written in the country of the other one, is dialled as that one. */
export function areOneNumber (written: string, phoneNumber: string): boolean {
  const { number } = parse(phoneNumber)
  return (parse(written, number?.country).number?.number ?? written) === (number?.number ?? phoneNumber)
}

/**
 * Whether a number is possible, and whether it is known to be assigned. The number that is judged is the one that is sent
 * ({@link dialled}); a warning says where it is not the written one. `number` is there if it is possible.
 */
export function checkPhoneNumber (phoneNumber: string, path: string): Findings & { number?: Library.PhoneNumber } {
  const parsed = parse(phoneNumber)
  const { number } = parsed
  if (number === undefined) {
    return {
      problems: [{
        path,
        code: 'impossible_number',
        message: `${phoneNumber} is not a phone number: no country has numbers of that code and length.`
      }]
    }
  }
  return {
    number,
    warnings: [
      ...number.number === phoneNumber ? [] : [{
        path,
        code: 'normalized_number',
        message: `${phoneNumber} is dialled as ${number.number}, and is sent as that.`
      }],
      // Numbering plans change often: a number that our copy does not have may exist.
      ...parsed.isValid
        ? []
        : [{ path, code: 'unassigned_number', message: `${phoneNumber} is in no range that is known to be assigned.` }]
    ]
  }
}

/** Kinds of numbers that take no text messages in most countries. A number of an unknown kind may take some. */
const textless: Partial<Record<Library.PhoneNumberType, string>> = {
  FIXED_LINE: 'a landline',
  PREMIUM_RATE: 'a premium-rate number',
  TOLL_FREE: 'a toll-free number',
  SHARED_COST: 'a shared-cost number',
  VOICEMAIL: 'a voice mailbox',
  UAN: 'a company number'
}

/** Warns about a number that can hardly get a text message. In Argentina only the 9 tells a mobile from a landline. */
export function checkTakesTexts (number: Library.PhoneNumber, path: string): Findings {
  const kind = textless[number.getType() ?? 'MOBILE']
  if (kind === undefined) return {}
  const mobile = number.countryCallingCode === '54' ? parse(`+549${number.nationalNumber}`).number : undefined
  const meant = mobile?.getType() === 'MOBILE' ? ` If it is a mobile phone, write ${mobile.number}.` : ''
  return { warnings: [{ path, code: 'no_mobile_number', message: `${number.number} is ${kind}, where a text may not arrive.${meant}` }] }
}
