/** Invisible characters that a printed text does without: soft hyphen, marks, word joiner, variation selectors, byte order mark. */
const invisible = /\u00ad|\u200b|\u2060|[\ufe00-\ufe0f]|\ufeff/g

/** Joiners: only text in Arabic or Hebrew letters depends on them. Marks of direction stay: a date of digits and strokes has them too. */
const joiners = /[\u200c\u200d]/g
const rightToLeft = /[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]/

const printableAscii = /^[\n\x20-\x7e]*$/

/** Text as it is laid out: composed (NFC), without invisible characters, tabs as spaces, every line end as `\n`. */
export function normalizeText (text: string): string {
  if (printableAscii.test(text)) return text
  const plain = text.normalize('NFC').replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n').replaceAll('\t', ' ').replace(invisible, '')
  return rightToLeft.test(plain) ? plain : plain.replace(joiners, '')
}
