import { type Format, formatFacts } from '../formats/file-formats.ts'

/** What not every font family may have: anything but letters of Europe, of Hebrew, Arabic, Thai and Devanagari, and usual signs. */
const unusual =
  /[^ -~\n\u00a0-\u024f\u0386-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce\u0400-\u045f\u05d0-\u05ea\u0621-\u063a\u0641-\u064a\u0904-\u0939\u0e01-\u0e32\u1e00-\u1eff\u2010-\u2027\u2030-\u203a\u20a0-\u20bf\u2116\u2122\u2190-\u2193\u2212]/

/** How much surely stands on {@link simplePages}, and in a mail: its characters, with so many more for each value and each new line. */
const small = { characters: 12_000, perValue: 20, perLine: 80 }

/** The most pages that simple data need. */
export const simplePages = 5

/** The most bytes of a document or a mail of simple data: fonts are embedded with the characters that are used. */
export const simpleSize = 1_000_000

/** A text that stays on one line of an address in the window of an envelope, in its smallest font. */
const oneLine = /^.{0,40}$/

/**
 * Whether making a document or a mail of data surely does not fail, once they fit the schema of a template that is tried with all such
 * data: nothing is too large, no picture has to be read, and on the pages of a PDF no character is missing and nothing is too long.
 */
export function areSimple (data: object, format: Format): boolean {
  const budget = { characters: small.characters }
  const isSimple = formatFacts[format].pages === 'fixed'
    ? (value: unknown) => isSmall(value, budget, (text) => !unusual.test(text))
    : (value: unknown) => isSmall(value, budget, () => true)
  // Parties and addresses are objects at the top of the data; longer texts stand beside them, or in lists.
  return everyValue(data, (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? everyValue(value, (text) => (typeof text !== 'string' || oneLine.test(text)) && isSimple(text))
      : isSimple(value))
}

/** Whether each text is so short that it surely fits wherever a template that nobody has tried with long ones shows it. */
export function areShort (data: unknown): boolean {
  if (typeof data === 'string') return oneLine.test(data)
  return typeof data !== 'object' || data === null || everyValue(data, areShort)
}

/** Takes what a value needs from the budget. */
function isSmall (value: unknown, budget: { characters: number }, holds: (text: string) => boolean): boolean {
  budget.characters -= small.perValue
  if (typeof value === 'string') {
    budget.characters -= value.length
    if (value.includes('\n')) budget.characters -= small.perLine * (value.split('\n').length - 1)
    if (!holds(value) || value.startsWith('data:')) return false
  }
  if (budget.characters < 0) return false
  return typeof value !== 'object' || value === null || everyValue(value, (part) => isSmall(part, budget, holds))
}

function everyValue (record: object, holds: (value: unknown) => boolean): boolean {
  for (const value of Object.values(record)) if (!holds(value)) return false
  return true
}
