import { placeLine, refused, type ServiceContracts } from '@dispatch/core/provider'

type Recipient = ServiceContracts['postal']['dispatch']['postal']['recipient']
type Line = 1 | 2 | 3 | 4 | 5 | 6
export type Lines = Partial<Record<Line, string>>

/** The most characters of a line in the French address standard (NF Z 10-011). */
export const longestLine = 38

/** Which of the six lines the lines of `address` become, by their number: the fourth line is the street. Names are above. */
const lineNumbers: Readonly<Record<number, readonly Line[]>> = { 1: [4], 2: [3, 4], 3: [3, 4, 5], 4: [2, 3, 4, 5] }

/** The recipient's lines. Refuses an address that Maileva would not print completely. */
export function linesOf (recipient: Recipient): Lines {
  const { name, company, address } = recipient
  const written = address.split('\n').map((text) => text.trim()).filter((text) => text !== '')
  const free = lineNumbers[written.length]
  if (free === undefined || (company !== undefined && free.includes(2))) {
    throw refused('too_many_address_lines',
      `An address has six lines, and there is no room for ${written.length} between the names and the city.`, '/postal/recipient/address')
  }
  const lines: Lines = {
    ...(company === undefined ? { 1: name } : { 1: company, 2: name }),
    ...Object.fromEntries(free.map((line, index) => [line, written[index] ?? ''])),
    6: placeLine(recipient)
  }
  for (const [line, text] of Object.entries(lines)) {
    const { length } = Array.from(text)
    const message = `Line ${line} of the address, "${text}", has ${length} characters: at most ${longestLine} are printed.`
    if (length > longestLine) throw refused('address_line_too_long', message, '/postal/recipient')
  }
  return lines
}

/** The lines as fields: `address_line_1` to `address_line_6`. */
export function fieldsOf (lines: Lines, prefix = ''): Record<string, string> {
  return Object.fromEntries(Object.entries(lines).map(([line, text]) => [`${prefix}address_line_${line}`, text]))
}
