import { refused, type ServiceContracts } from '@dispatch/core/provider'
import { longestLine } from './settings.ts'

type Recipient = ServiceContracts['postal']['dispatch']['postal']['recipient']

const at = '/postal/recipient'
const maxLines = 3

/** MySendingBox wants the name of the country, which is that of the post: in French. */
const countryNames = new Intl.DisplayNames(['fr'], { type: 'region' })

export const countryOf = (country: string): string => countryNames.of(country) ?? country

/** The fields of the recipient. Refuses an address that MySendingBox would not print completely. */
export function recipientOf ({ name, company, address, postalCode = '', city, country }: Recipient): Record<string, string> {
  const lines = address.split('\n').map((text) => text.trim()).filter((text) => text !== '')
  if (lines.length > maxLines) {
    throw refused('too_many_address_lines', `MySendingBox prints ${maxLines} lines of an address, and this has ${lines.length}.`,
      `${at}/address`)
  }
  const fields = {
    name,
    ...(company !== undefined && { company }),
    ...Object.fromEntries(lines.map((text, index) => [`address_line${index + 1}`, text])),
    address_postalcode: postalCode,
    address_city: city,
    address_country: countryOf(country)
  }
  for (const [field, text] of Object.entries(fields)) {
    const { length } = Array.from(text)
    if (length > longestLine) {
      throw refused('address_line_too_long', `"${text}" (${field}) has ${length} characters: at most ${longestLine} are printed.`, at)
    }
  }
  return fields
}
