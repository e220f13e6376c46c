/** After a hyphen, dash or slash between letters a line may break. */
const hyphens = /(?<=[\p{L}\p{N}][-–—/])(?=\p{L})/u

/** The letters and signs of Chinese and Japanese, which know no spaces: a line may break between any two of them. */
const wide = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3001-\\u303f\\uff01-\\uff60'
/** They all stand behind the letters of other languages; to ask for the script itself takes longer. */
const farBehind = /[\u2e80-\uffff]/

/** Signs that no line begins with, and that no line ends with (JLREQ, 3.1.7 and 3.1.8). */
const closing = '、。，．・：；？！）」』】〕〉》”’ーぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ々)\\]},.!?:;'
const opening = '（「『【〔〈《“‘(\\[{'

const betweenWide = new RegExp(`(?<=[${wide}])(?<![${opening}])(?![${closing}])|(?<=[\\p{L}\\p{N}])(?=[${wide}])(?![${closing}])`, 'u')

/** The parts of a word between which a line may break. */
export function partsOf (word: string): string[] {
  return word.split(farBehind.test(word) ? betweenWide : hyphens)
}

/** Where an address or a number is best broken that is too long for a line. */
const joints = /(?<=[/?&=#_.,;:%+@-])(?=[\p{L}\p{N}])/u

/** The parts of a word that must be broken, though it has no place for it. */
export function jointsOf (word: string): string[] {
  return word.split(joints)
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** What a reader takes for a character: a letter with its marks. */
export function charactersOf (text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment)
}
