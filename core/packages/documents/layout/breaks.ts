/** A line may break after a hyphen, a dash or a slash between letters. */
const hyphens = /(?<=[\p{L}\p{N}][-–—/])(?=\p{L})/u

/** The characters of Chinese and Japanese, which have no spaces: a line may break between any two of them. */
const wide = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3001-\\u303f\\uff01-\\uff60'
/** All of them come after the letters of other languages. A check of the script itself is slower. */
const farBehind = /[\u2e80-\uffff]/

/** Characters that must not begin a line, and those that must not end one (JLREQ, 3.1.7 and 3.1.8). */
const closing = '、。，．・：；？！）」』】〕〉》”’ーぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ々)\\]},.!?:;'
const opening = '（「『【〔〈《“‘(\\[{'

const betweenWide = new RegExp(`(?<=[${wide}])(?<![${opening}])(?![${closing}])|(?<=[\\p{L}\\p{N}])(?=[${wide}])(?![${closing}])`, 'u')

/** Letters of Thai, Lao and Khmer, whose words have no spaces between them. */
const unspaced = /[\u0e00-\u0eff\u1780-\u17ff]/
const words = new Intl.Segmenter('th', { granularity: 'word' })

/** The end of a part and the next one, where a line may break: before a word of these languages that repeats or shortens nothing. */
const mayBreak = new RegExp(`^[^${opening}](?=${unspaced.source})(?![\u0e2f\u0e46\u0eaf\u0ec6\u17d4-\u17da])`)

/** The parts of a word between which a line may break. */
export function partsOf (word: string): string[] {
  if (unspaced.test(word)) return wordsOf(word)
  return word.split(farBehind.test(word) ? betweenWide : hyphens)
}

function wordsOf (text: string): string[] {
  const parts: string[] = []
  for (const { segment } of words.segment(text)) {
    const last = parts.at(-1)
    if (last === undefined || mayBreak.test(last.slice(-1) + segment)) parts.push(segment)
    else parts[parts.length - 1] = last + segment
  }
  return parts
}

/** The best places to break a URL or a number that is too long for a line. */
const joints = /(?<=[/?&=#_.,;:%+@-])(?=[\p{L}\p{N}])/u

/** The parts of a word that must be broken although it has no place for a break. */
export function jointsOf (word: string): string[] {
  return word.split(joints)
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** A character in the sense of a reader: a letter with its marks. */
export function charactersOf (text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}
