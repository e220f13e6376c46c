/** A text message as the network counts it: `characters` are septets in GSM-7 and UTF-16 units in UCS-2. */
export type SmsSegments = { encoding: 'GSM-7' | 'UCS-2', characters: number, segments: number }

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

/** Counts the segments of a text. An escape sequence or a surrogate pair, which takes two units, is never split. */
export function countSmsSegments (text: string): SmsSegments {
  const characters = Array.from(text)
  const encoding = characters.every((character) => basic.has(character) || extension.has(character)) ? 'GSM-7' : 'UCS-2'
  const sizes = characters.map((character) => encoding === 'UCS-2' ? character.length : extension.has(character) ? 2 : 1)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const { single, joined } = capacities[encoding]
  return { encoding, characters: total, segments: total <= single ? 1 : filled(sizes, joined) }
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
