import { memoizeByIdentity, normalForm } from '@dispatch/common'
import { memoizeLru } from '../compile/memoize.ts'
import type { Face, Faces } from './fonts.ts'
import { normalizeText } from './normalize-text.ts'

/** A piece of a word that one face can show. `width` is in thousandths of the font size. */
export type Segment = { text: string, face: Face, width: number }

/** A text contains characters that cannot be shown; `characters` lists each once. */
export class UnshowableText extends Error {
  readonly characters: readonly string[]

  constructor (characters: readonly string[]) {
    super(`No font has the characters ${characters.map(characterName).join(', ')}.`)
    this.name = 'UnshowableText'
    this.characters = characters
  }
}

/** The character itself, if it is visible, and its code point. */
export function characterName (character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) ? `"${character}" (${code})` : code
}

/**
 * Right-to-left scripts whose letters no face joins correctly, and the controls that reorder text. Both could show something else than what
 * was signed.
 */
const refused =
  /[\p{Script=Adlam}\p{Script=Mandaic}\p{Script=Mende_Kikakui}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Syriac}\p{Script=Thaana}\u202a-\u202e\u2066-\u2069]/u

/** Joiners and marks of direction, which are invisible. */
const shapeless = /^[\u061c\u200c-\u200f]$/

/** The characters of a text that no face can show, each once. */
export function unshowable (text: string, faces: Faces): string[] {
  const characters = new Set(normalizeText(text).replaceAll('\n', ''))
  return [...characters].filter((character) =>
    refused.test(character) || (glyphOf(character, faces) === undefined && !shapeless.test(character))
  )
}

const segmentsIn = memoizeByIdentity((faces: Faces) => memoizeLru(10_000, (word): readonly Segment[] => split(word, faces)))

/** The segments of a word, in the first face that has the characters. Throws an UnshowableText when no face has one. */
export function shape (word: string, faces: Faces): readonly Segment[] {
  return segmentsIn(faces)(word)
}

function split (word: string, faces: Faces): Segment[] {
  const missing = unshowable(word, faces)
  if (missing.length > 0) throw new UnshowableText(missing)
  const segments: { text: string, face: Face }[] = []
  for (const character of word) {
    const last = segments.at(-1)
    const glyph = last !== undefined && /[\p{M}\u200c\u200d]/u.test(character) && last.face.has(codeOf(character))
      ? { face: last.face, character }
      : glyphOf(character, faces)
    if (glyph === undefined) continue
    if (last?.face === glyph.face) last.text += glyph.character
    else segments.push({ text: glyph.character, face: glyph.face })
  }
  return segments.map(({ text, face }) => ({ text, face, width: face.advance(text) }))
}

/** Full-width and half-width forms of letters and signs, such as the yen sign of Japanese amounts. */
const widths = /^[\uff01-\uffee]$/

/** The first face that has a character. A full-width form that no face has is shown as its ordinary character. */
function glyphOf (character: string, faces: Faces): { face: Face, character: string } | undefined {
  const face = faceOf(character, faces)
  if (face !== undefined) return { face, character }
  const usual = normalForm(character, 'NFKC')
  return widths.test(character) && usual !== character ? glyphOf(usual, faces) : undefined
}

function faceOf (character: string, faces: Faces): Face | undefined {
  for (const face of faces) if (face.has(codeOf(character))) return face
  return undefined
}

function codeOf (character: string): number {
  return character.codePointAt(0) ?? 0
}
