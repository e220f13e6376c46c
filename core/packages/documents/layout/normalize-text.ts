import { normalForm, withoutDirectionControls } from '@dispatch/common'

/** Invisible characters without a meaning in print: soft hyphen, marks, word joiner, variation selectors, byte order mark. */
const invisible = /\u00ad|\u200b|\u2060|[\ufe00-\ufe0f]|\ufeff|[\u{e0100}-\u{e01ef}]/gu

/**
 * Joiners: only text in letters of Arabic, Hebrew and India, and emoji, need them. Marks of direction stay, because a date of digits and
 * strokes may need them too.
 */
const joiners = /[\u200c\u200d]/g
const joined = /[\u0590-\u061b\u061d-\u0dff\u1780-\u17ff\ufb1d-\ufdff\ufe70-\ufefe\p{Extended_Pictographic}]/u

/** The Thai vowel am after marks of its letter: its ring belongs below them. Fonts compose it without marks between. */
const amAfterMarks = /([\u0e31\u0e34-\u0e37\u0e47-\u0e4e]+)\u0e33/g

const printableAscii = /^[\n\x20-\x7e]*$/

/** Text in the form for layout: composed (NFC), without what is invisible or turns it around, tabs as spaces, every line end as `\n`. */
export function normalizeText (text: string): string {
  if (printableAscii.test(text)) return text
  const plain = withoutDirectionControls(normalForm(text))
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replaceAll('\t', ' ')
    .replace(invisible, '')
    .replace(amAfterMarks, '\u0e4d$1\u0e32')
  return joined.test(plain) ? plain : plain.replace(joiners, '')
}
