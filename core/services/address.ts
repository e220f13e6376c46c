import type { Json, Problem } from '@dispatch/common'
import { countryCodes } from '@dispatch/einvoice'
import isISO31661Alpha2 from 'validator/lib/isISO31661Alpha2.js'
import isPostalCode, { locales as postalCodeLocales } from 'validator/lib/isPostalCode.js'

/** Countries without postal codes (Universal Postal Union, "Addressing solutions", as of 2025). A code given there is printed as it is. */
export const withoutPostalCodes: readonly string[] = ['AE', 'AG', 'AO', 'AW', 'BF', 'BI', 'BJ', 'BO', 'BQ', 'BS', 'BV', 'BW', 'BZ', 'CD',
  'CF', 'CG', 'CI', 'CK', 'CM', 'CW', 'DJ', 'DM', 'ER', 'FJ', 'GA', 'GD', 'GM', 'GQ', 'GY', 'HK', 'JM', 'KI', 'KM', 'KN', 'KP', 'ML', 'MO',
  'MR', 'MW', 'NR', 'NU', 'QA', 'RW', 'SB', 'SC', 'SL', 'SR', 'SS', 'ST', 'SX', 'SY', 'TD', 'TF', 'TG', 'TK', 'TL', 'TO', 'TV', 'UG', 'VU',
  'YE', 'ZW']

/** A country and a postal code from the data. The schema reports values of other types. */
type Place = { country: Json | undefined, postalCode: Json | undefined }

/** Checks the address of a letter: the country is an ISO 3166-1 alpha-2 code, and the postal code has the country's format. */
export function checkPlace (place: Place, path: string): Problem[] {
  const { country } = place
  const isWrong = typeof country === 'string' && !isCountry(country)
  return isWrong ? [unknownCountry(country, path)] : checkPostalCode(place, path)
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
  return typeof country !== 'string' || countryCodes.has(country) ? [] : [unknownCountry(country, path)]
}

/** Common wrong country codes, with the right ones. */
const mistaken: Readonly<Record<string, string>> = { UK: 'GB', EN: 'GB', EL: 'GR' }

function unknownCountry (given: string, path: string): Problem {
  const upper = given.trim().toUpperCase()
  const meant = mistaken[upper] ?? (isCountry(upper) ? upper : undefined)
  return {
    path: `${path}/country`,
    code: 'unknown_country',
    message: `Not an ISO 3166-1 alpha-2 country code, such as FR.${meant === undefined ? '' : ` Did you mean ${meant}?`}`
  }
}

function isCountry (text: string): boolean {
  return text === text.toUpperCase() && isISO31661Alpha2.default(text)
}

/**
 * Checks a postal code by its country's form, as it stands in addresses there: CH-8000, 75008 CEDEX 08, BFPO 57. Countries without a known
 * form are not checked.
 */
export function checkPostalCode ({ country, postalCode }: Place, path: string): Problem[] {
  const form = postalCodeLocales.find((known) => known === country)
  if (typeof postalCode !== 'string' || form === undefined ||
    writings(postalCode, form).some((code) => isPostalCode.default(code, form)))
  {
    return []
  }
  return [{ path: `${path}/postalCode`, code: 'format', message: `Not a postal code of ${form}.` }]
}

/** Country prefixes of postal codes that differ from the ISO 3166-1 code. */
const signs: Readonly<Record<string, string>> = {
  AT: 'A',
  BE: 'B',
  DE: 'D',
  ES: 'E',
  FI: 'FIN',
  FR: 'F',
  HU: 'H',
  IT: 'I',
  LU: 'L',
  NO: 'N',
  PT: 'P',
  SE: 'S',
  SI: 'SLO'
}

/**
 * A postal code as it is given, and in the form that it stands for: without or with the sign of its country, the French CEDEX, and the
 * British forces' post as its postcode.
 */
function writings (given: string, country: string): string[] {
  const [code = ''] = given.trim().split(country === 'FR' ? /\s+CEDEX(?:\s+\d{1,2})?$/i : /$/)
  const bare = [`${country}-`, `${signs[country] ?? country}-`].reduce(
    (rest, sign) => rest.startsWith(sign) ? rest.slice(sign.length) : rest,
    code
  )
  return [code, bare, `${country}-${code}`, ...country === 'GB' && /^BFPO \d{1,4}$/i.test(code) ? ['BF1 3AA'] : []]
}
