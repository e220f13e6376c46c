import { addressFormOf } from './address-forms.ts'
import { readPostalCode, splitSorting } from './postal-code.ts'

/** The part of an address below the street. `country`: ISO 3166-1 alpha-2. */
export type Place = { city?: string | undefined, state?: string | undefined, postalCode?: string | undefined, country?: string | undefined }

/**
 * The last line of an address, in the order of its country: `75002 Paris`, `London SW1A 1AA`, `Sydney NSW 2000`. The postal code is spelled
 * as it is there. Where the country is not known, the postal code stands before the city.
 */
export function placeLine ({ city = '', state = '', postalCode = '', country = '' }: Place): string {
  const { code: spelled = postalCode } = readPostalCode(postalCode, country) ?? {}
  const [code, sorting = ''] = splitSorting(spelled, country)
  const parts: Readonly<Record<string, string>> = { C: city, S: state, Z: code, X: sorting }
  return Array.from(orderOf(country), (part) => parts[part]?.trim()).filter((text) => text !== undefined && text !== '').join(' ')
}

/** The order of the parts in a country. What its addresses usually lack is still written where somebody gives it. */
function orderOf (country: string): string {
  const { order, code } = addressFormOf(country)
  const withCity = order.includes('C') ? order : `C${order}`
  const withState = withCity.includes('S') ? withCity : withCity.replace('C', 'CS')
  const withCode = withState.includes('Z') ? withState : code === undefined && order !== 'C' ? `${withState}Z` : `Z${withState}`
  return withCode.includes('X') ? withCode : withCode.replace('CS', 'CSX')
}
