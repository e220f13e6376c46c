import { normalForm } from '@dispatch/common'

/** Invisible characters without a meaning in print: soft hyphen, marks, word joiner, variation selectors, byte order mark. */
const invisible = /\u00ad|\u200b|\u2060|[\ufe00-\ufe0f]|\ufeff/g

/**
 * Joiners: only text in Arabic or Hebrew letters needs them. Marks of direction stay, because a date of digits and strokes may need them
 * too.
 */
const joiners = /[\u200c\u200d]/g
const rightToLeft = /[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]/

const printableAscii = /^[\n\x20-\x7e]*$/

/** Text in the form for layout: composed (NFC), without invisible characters, tabs as spaces, every line end as `\n`. */
export function normalizeText (text: string): string {
  if (printableAscii.test(text)) return text
  const plain = normalForm(text).replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n').replaceAll('\t', ' ').replace(invisible, '')
  return rightToLeft.test(plain) ? plain : plain.replace(joiners, '')
}
