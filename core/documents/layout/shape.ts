import { remember } from '../memory.ts'
import type { Face } from './fonts.ts'

/** A piece of a word that one face can show; `width` in thousandths of the size of the type. */
export type Segment = { text: string, face: Face, width: number }

/** A text has characters that cannot be shown; `characters` names each once. */
export class UnshowableText extends Error {
  readonly characters: readonly string[]

  constructor (characters: readonly string[]) {
    super(`No font has the characters ${characters.map(nameOf).join(', ')}.`)
    this.name = 'UnshowableText'
    this.characters = characters
  }
}

/** The character itself, where it is visible, and its code point. */
export function nameOf (character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) ? `"${character}" (${code})` : code
}

/** Scripts written from right to left, and the controls that reorder text: they need a pass that layout does not have. */
const rightToLeft = /[\p{Script=Adlam}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Mandaic}\p{Script=Mende_Kikakui}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Syriac}\p{Script=Thaana}\u061c\u202a-\u202e\u2066-\u2069]/u

/** Invisible characters that a printed text does without: soft hyphen, joiners, marks of direction, variation selectors, byte order mark. */
const invisible = /\u00ad|[\u200b-\u200f]|\u2060|[\ufe00-\ufe0f]|\ufeff/g

const printableAscii = /^[\n\x20-\x7e]*$/

/** Text as it is laid out: composed (NFC), without invisible characters, tabs as spaces, every line end as `\n`. */
export function tidy (text: string): string {
  if (printableAscii.test(text)) return text
  return text.normalize('NFC').replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n').replaceAll('\t', ' ').replace(invisible, '')
}

/** The characters of a text that none of the faces can show, each once. */
export function unshowable (text: string, faces: readonly Face[]): string[] {
  const characters = new Set(tidy(text).replaceAll('\n', ''))
  return [...characters].filter((character) => rightToLeft.test(character) || faceOf(character, faces) === undefined)
}

const memories = new Map<string, (word: string) => readonly Segment[]>()

/** The segments of a word: in its own face where that has the character, in a fallback elsewhere. UnshowableText when none has it. */
export function shape (word: string, faces: readonly Face[]): readonly Segment[] {
  const name = faces[0]?.name ?? ''
  const segments = memories.get(name) ?? remember(10_000, (text) => split(text, faces))
  memories.set(name, segments)
  return segments(word)
}

function split (word: string, faces: readonly Face[]): Segment[] {
  const missing = unshowable(word, faces)
  if (missing.length > 0) throw new UnshowableText(missing)
  const segments: { text: string, face: Face }[] = []
  for (const character of word) {
    const last = segments.at(-1)
    const face = last !== undefined && /\p{M}/u.test(character) && covers(last.face, character) ? last.face : faceOf(character, faces)
    if (face === undefined) continue
    if (last?.face === face) last.text += character
    else segments.push({ text: character, face })
  }
  return segments.map(({ text, face }) => ({ text, face, width: face.advance(text) }))
}

function faceOf (character: string, faces: readonly Face[]): Face | undefined {
  return faces.find((face) => covers(face, character))
}

function covers (face: Face, character: string): boolean {
  return face.has(character.codePointAt(0) ?? 0)
}
