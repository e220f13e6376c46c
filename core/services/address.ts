import validator from 'validator'
import type { Problem } from '../contract/errors.ts'
import type { Json } from '../contract/json.ts'

/** Whose post needs no code (Universal Postal Union, "Addressing solutions", as of 2025). A code given there is printed as it is. */
export const withoutPostalCodes: readonly string[] = [
  'AE', 'AG', 'AO', 'AW', 'BF', 'BI', 'BJ', 'BO', 'BQ', 'BS', 'BV', 'BW', 'BZ', 'CD', 'CF', 'CG', 'CI', 'CK', 'CM', 'CW', 'DJ', 'DM', 'ER', 'FJ', 'GA', 'GD', 'GM', 'GQ', 'GY', 'HK', 'JM', 'KI',
  'KM', 'KN', 'KP', 'ML', 'MO', 'MR', 'MW', 'NR', 'NU', 'QA', 'RW', 'SB', 'SC', 'SL', 'SR', 'SS', 'ST', 'SX', 'SY', 'TD', 'TF', 'TG', 'TK', 'TL', 'TO', 'TV', 'UG', 'VU', 'YE', 'ZW'
]

/** Checks an ISO 3166-1 alpha-2 code, and the postal code by the country's form. Values of other types are left to the schema. */
export function checkPlace ({ country, postalCode }: { country: Json | undefined, postalCode: Json | undefined }, path: string): Problem[] {
  if (typeof country !== 'string') return []
  if (!isCountry(country)) return [{ path: `${path}/country`, code: 'unknown_country', message: 'Not an ISO 3166-1 alpha-2 country code, such as FR.' }]
  // Countries without a known form are not checked.
  const form = validator.isPostalCodeLocales.find((known) => known === country)
  if (typeof postalCode !== 'string' || form === undefined || validator.isPostalCode(postalCode, form)) return []
  return [{ path: `${path}/postalCode`, code: 'format', message: `Not a postal code of ${country}.` }]
}

function isCountry (text: string): boolean {
  return text === text.toUpperCase() && validator.isISO31661Alpha2(text)
}
