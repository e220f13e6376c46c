import { memoizeByIdentity, normalForm } from '@dispatch/common'
import { memoizeLru } from '../model/memoize.ts'
import { charactersOf } from './breaks.ts'
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
 * Controls, which some fonts have as empty glyphs, and right-to-left scripts whose letters no face joins correctly: both could show
 * something else than what was signed.
 */
const refused =
  /[\p{Cc}\p{Script=Adlam}\p{Script=Mandaic}\p{Script=Mende_Kikakui}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Syriac}\p{Script=Thaana}]/u

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
  const { first } = faces
  if (Array.from(word).every((character) => first.has(codeOf(character)) && !refused.test(character))) {
    return [{ text: word, face: first, width: first.advance(word) }]
  }
  const missing = unshowable(word, faces)
  if (missing.length > 0) throw new UnshowableText(missing)
  const segments: Omit<Segment, 'width'>[] = []
  for (const { text, face } of charactersOf(word).flatMap((character) => partsOf(character, faces))) {
    const last = segments.at(-1)
    if (last?.face === face) segments[segments.length - 1] = { text: last.text + text, face }
    else segments.push({ text, face })
  }
  return segments.map(({ text, face }) => ({ text, face, width: face.advance(text) }))
}

/** A letter with its marks, or an emoji of several: in the first face that has all of it, else each part in the first face that has it. */
function partsOf (character: string, faces: Faces): Omit<Segment, 'width'>[] {
  const all = Array.from(character)
  const face = faces.having(all.length === 1 ? all : all.filter((part) => !shapeless.test(part)))
  if (face !== undefined) return [{ text: all.filter((part) => !shapeless.test(part) || face.has(codeOf(part))).join(''), face }]
  const parts: Omit<Segment, 'width'>[] = []
  for (const part of all) {
    const last = parts.at(-1)
    const isMark = last !== undefined && /[\p{M}\u200c\u200d]/u.test(part) && last.face.has(codeOf(part))
    const glyph = isMark ? { face: last.face, text: part } : glyphOf(part, faces)
    if (glyph !== undefined) parts.push(glyph)
  }
  return parts
}

/** Full-width and half-width forms of letters and signs, such as the yen sign of Japanese amounts. */
const widths = /^[\uff01-\uffee]$/

/** The first face that has a character. A full-width form that no face has is shown as its ordinary character. */
function glyphOf (character: string, faces: Faces): Omit<Segment, 'width'> | undefined {
  const face = faces.having([character])
  if (face !== undefined) return { face, text: character }
  const usual = normalForm(character, 'NFKC')
  return widths.test(character) && usual !== character ? glyphOf(usual, faces) : undefined
}

function codeOf (character: string): number {
  return character.codePointAt(0) ?? 0
}
