/** Invisible characters that a printed text does without: soft hyphen, marks, word joiner, variation selectors, byte order mark. */
const invisible = /\u00ad|\u200b|\u2060|[\ufe00-\ufe0f]|\ufeff/g

/** Joiners and marks of direction: only text in Arabic or Hebrew letters depends on them. */
const joiners = /[\u061c\u200c-\u200f]/g
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]/

const printableAscii = /^[\n\x20-\x7e]*$/

/** Text as it is laid out: composed (NFC), without invisible characters, tabs as spaces, every line end as `\n`. */
export function tidy (text: string): string {
  if (printableAscii.test(text)) return text
  const plain = text.normalize('NFC').replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n').replaceAll('\t', ' ').replace(invisible, '')
  return rightToLeft.test(plain.replace(joiners, '')) ? plain : plain.replace(joiners, '')
}
