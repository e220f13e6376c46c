import { addressFormOf, examplePostalCode, type Json, type Problem, readPostalCode } from '@dispatch/common'
import { countryCodes } from '@dispatch/einvoice'
import isISO31661Alpha2 from 'validator/lib/isISO31661Alpha2.js'
import type { Findings } from './service.ts'

/** A country and a postal code from the data. The schema reports values of other types. */
type Place = { country: Json | undefined, postalCode: Json | undefined }

/** Checks the address of a letter: its country is known to the post, and the postal code has the country's form. */
export function checkPlace (place: Place, path: string): Findings {
  const { country, postalCode } = place
  if (typeof country === 'string' && !isCountry(country)) return { problems: [unknownCountry(country, path, letters)] }
  if (typeof country !== 'string' || typeof postalCode !== 'string' || addressFormOf(country).code !== undefined) {
    return checkPostalCode(place, path)
  }
  return {
    warnings: [{
      path: `${path}/postalCode`,
      code: 'no_postal_codes',
      message: `${country} has no postal codes; what is given is printed as it is.`
    }]
  }
}

/** Two letters of the USPS each (Publication 28): the states, the District of Columbia, the territories, and the military. */
const usStates =
  `AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA
  WA WV WI WY DC AS FM GU MH MP PR PW VI AA AE AP`.split(/\s+/)

/** Checks the state of an address in the United States; other countries' are printed as they are. */
export function checkState ({ country, state }: { country: string, state: string | undefined }, path: string): Problem[] {
  if (state === undefined || country !== 'US' || usStates.includes(state)) return []
  return [{
    path: `${path}/state`,
    code: 'unknown_state',
    message: `${state} is no state of the US: write the two letters of the USPS, such as CA.`
  }]
}

/** Checks the country of somebody who is invoiced: as in an address, or Northern Ireland (XI) or Kosovo (1A), which invoices tell apart. */
export function checkInvoicedCountry (country: Json | undefined, path: string): Problem[] {
  return typeof country !== 'string' || countryCodes.has(country) ? [] : [unknownCountry(country, path, invoices)]
}

/** Common wrong country codes, with the right ones: Kosovo has none in ISO 3166-1, and posts and invoices name it each in its own way. */
const wrong = { UK: 'GB', EN: 'GB', EL: 'GR' }
const letters: Readonly<Record<string, string>> = { ...wrong, XI: 'GB' }
const invoices: Readonly<Record<string, string>> = { ...wrong, XK: '1A' }

function unknownCountry (given: string, path: string, mistaken: Readonly<Record<string, string>>): Problem {
  const upper = given.trim().toUpperCase()
  const meant = mistaken[upper] ?? (isCountry(upper) ? upper : undefined)
  return {
    path: `${path}/country`,
    code: 'unknown_country',
    message: `Not an ISO 3166-1 alpha-2 country code, such as FR.${meant === undefined ? '' : ` Did you mean ${meant}?`}`
  }
}

/** ISO 3166-1, and XK, with which posts and banks name Kosovo. */
function isCountry (text: string): boolean {
  return text === 'XK' || (text === text.toUpperCase() && isISO31661Alpha2.default(text))
}

/** Checks a postal code by its country's form. Countries without a known form are not checked. */
export function checkPostalCode ({ country, postalCode }: Place, path: string): Findings {
  if (typeof postalCode !== 'string' || typeof country !== 'string') return {}
  const [at, read] = [`${path}/postalCode`, readPostalCode(postalCode, country)]
  const example = examplePostalCode(country)
  const such = example === undefined ? '' : `, such as ${example}`
  if (read === undefined) return { problems: [{ path: at, code: 'format', message: `Not a postal code of ${country}${such}.` }] }
  if (read.isKnown || example === undefined) return {}
  return {
    warnings: [{
      path: at,
      code: 'unusual_postal_code',
      message: `${postalCode} is not written as postal codes of ${country} are${such}; it is sent as it is.`
    }]
  }
}
