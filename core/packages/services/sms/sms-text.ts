import { normalForm } from '@dispatch/common'
import type { SmsText } from './text-size.ts'

/** The default alphabet of GSM 03.38 (3GPP TS 23.038, 6.2.1), and its extension table, whose characters take two septets. */
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
)
const extension = new Set('\f^{}\\[~]|€')

/** Capacity of a single message, and of each segment of a longer one, which has a header (3GPP TS 23.040, 9.2.3.24.1). */
const capacities = {
  'GSM-7': { single: 160, joined: 153 },
  'UCS-2': { single: 70, joined: 67 }
} as const

/** The text that was measured last: rules, the answer and the provider's request ask for the same one, one after the other. */
let last: { text: string, measured: SmsText } | undefined

/** Measures a text. An escape sequence or a surrogate pair, which takes two units, is never split. */
export function measureText (text: string): SmsText {
  if (last?.text !== text) last = { text, measured: measured(text) }
  return last.measured
}

function measured (text: string): SmsText {
  const characters = Array.from(text)
  const first = characters.findIndex((character) => !isInAlphabet(character))
  const septets = characters.map((character) => extension.has(character) ? 2 : 1)
  if (first < 0) return counted('GSM-7', septets)
  return {
    ...counted('UCS-2', characters.map((character) => character.length)),
    unicode: { character: characters[first] ?? '', position: first + 1, segmentsWithout: counted('GSM-7', septets).segments }
  }
}

function isInAlphabet (character: string): boolean {
  return basic.has(character) || extension.has(character)
}

function counted (encoding: SmsText['encoding'], sizes: readonly number[]): SmsText {
  const units = sizes.reduce((sum, size) => sum + size, 0)
  const { single, joined } = capacities[encoding]
  return { encoding, units, segments: units <= single ? 1 : filled(sizes, joined) }
}

/** How many segments of a capacity the sizes fill, in their order. */
function filled (sizes: readonly number[], capacity: number): number {
  let segments = 1
  let used = 0
  for (const size of sizes) {
    if (used + size > capacity) {
      segments++
      used = 0
    }
    used += size
  }
  return segments
}

/** What typesetting puts in the place of signs of the alphabet, and Latin letters without a part that could be dropped. */
const near: ReadonlyMap<string, string> = new Map(Object.entries({
  '‘': '\'',
  '’': '\'',
  '‚': '\'',
  '‛': '\'',
  '′': '\'',
  '`': '\'',
  '´': '\'',
  'ʼ': '\'',
  '‹': '\'',
  '›': '\'',
  '“': '"',
  '”': '"',
  '„': '"',
  '‟': '"',
  '″': '"',
  '«': '"',
  '»': '"',
  '‐': '-',
  '‑': '-',
  '‒': '-',
  '–': '-',
  '—': '-',
  '―': '-',
  '−': '-',
  '•': '-',
  '·': '-',
  '…': '...',
  '\t': ' ',
  '\u2028': '\n',
  '\u2029': '\n',
  '©': '(c)',
  '®': '(r)',
  '™': '(tm)',
  '№': 'No',
  '×': 'x',
  '÷': '/',
  'œ': 'oe',
  'Œ': 'OE',
  'ł': 'l',
  'Ł': 'L',
  'đ': 'd',
  'Đ': 'D',
  'ð': 'd',
  'Ð': 'D',
  'þ': 'th',
  'Þ': 'Th',
  'ı': 'i',
  'ẞ': 'SS'
}))

/** Characters that nobody sees: soft hyphens, joiners, marks of direction and the order of bytes. */
const unseen = /^[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]$/u

/**
 * A text with the signs and letters of GSM-7 in the place of those that only look or sound like them: ’ is ', – is -, ê is e. What has
 * none, such as Greek or Chinese, stays; then the whole text is in UCS-2 all the same, and keeps what nobody sees: a joiner makes one
 * family of four people, and one letter of two.
 */
export function transliterated (text: string): string {
  const characters = Array.from(normalForm(text)).map((character) => isInAlphabet(character) ? character : nearOf(character))
  const seen = characters.filter((character) => !unseen.test(character))
  return (seen.every((character) => Array.from(character).every(isInAlphabet)) ? seen : characters).join('')
}

function nearOf (character: string): string {
  if (/\p{Zs}/u.test(character)) return ' '
  // Of letters also the forms of typesetting: ligatures, Roman numbers, letters in full width or above the line.
  const form = /\p{Script=Latin}/u.test(character) ? 'NFKD' : 'NFD'
  const plain = near.get(character) ?? normalForm(character, form).replaceAll(/\p{M}/gu, '')
  return Array.from(plain).every(isInAlphabet) ? plain : character
}
