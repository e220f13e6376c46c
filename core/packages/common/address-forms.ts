import all from './address-forms.json' with { type: 'json' }

/**
 * How a country writes an address. `order`: the city (C), the state (S), the postal code (Z) and the sorting code (X), in their order.
 * `sign`: what may stand before a postal code in letters from abroad. `code`: without it, the country has no postal codes; `form`: a
 * pattern, in capital letters.
 */
type AddressForm = {
  order: string
  sign?: string
  code?: { form?: string, examples?: readonly string[], required?: boolean }
}

/**
 * By country. Source: the address data of Google (libaddressinput), with which Chromium fills in forms; `scripts/address-forms.ts` makes
 * them.
 */
const forms: Readonly<Record<string, AddressForm>> = all

/** The form of a country; a country that is not known has a city and nothing else. */
export function addressFormOf (country: string): AddressForm {
  return Object.hasOwn(forms, country) ? forms[country] ?? unknown : unknown
}

const unknown: AddressForm = { order: 'C' }

/** The countries where an address has a postal code. */
export const postalCodeCountries: readonly string[] = Object.keys(forms).filter((country) => forms[country]?.code?.required === true)
