import bidiFactory from 'bidi-js'
import { type Direction, directionIn } from '../compile/direction.ts'
import type { TextRun } from '../model/document.ts'
import { charactersOf } from './breaks.ts'
import { normalizeText } from './normalize-text.ts'

/** A piece of a run with one direction: an odd level is right-to-left (Unicode Annex 9). `base` is the direction of its paragraph. */
export type Span = { run: TextRun, text: string, level: number, base: Direction }

/** Blocks of Hebrew and Arabic, and the marks of direction. */
const turning = /[\u0590-\u08ff\u200e\u200f\ufb1d-\ufdff\ufe70-\ufefe]/
const marks = /[\u061c\u200e\u200f]/g

/** The letters of right-to-left scripts. */
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

// Its types describe its ES module. Node loads the other module, which is the function itself.
const bidi = (bidiFactory as unknown as typeof bidiFactory.default)()

/**
 * The runs of a text as spans. A paragraph (between line breaks) has the direction of its first letter; without a letter, that of the
 * document.
 */
export function spansOf (runs: readonly TextRun[], direction: Direction): Span[] {
  const texts = runs.map((run) => normalizeText('text' in run ? run.text : ''))
  if (direction === 'ltr' && !texts.some((text) => turning.test(text))) {
    return runs.map((run, index) => ({ run, text: texts[index] ?? '', level: 0, base: 'ltr' }))
  }
  const { levels, bases } = levelsOf(texts.join(''), direction)
  let at = 0
  return runs.flatMap((run, index) => {
    const start = at
    at += texts[index]?.length ?? 0
    return cut(levels, start, at).map(([from, to]) => {
      const level = levels[from] ?? 0
      const text = (texts[index] ?? '').slice(from - start, to - start).replaceAll(marks, '')
      return { run, text: level % 2 === 0 ? text : mirrored(text), level, base: bases[from] ?? direction }
    })
  })
}

function levelsOf (text: string, direction: Direction): { levels: number[], bases: Direction[] } {
  const levels: number[] = []
  const bases: Direction[] = []
  for (const paragraph of text.split(/(?<=\n)/)) {
    const base = directionIn(paragraph) ?? direction
    for (const level of bidi.getEmbeddingLevels(paragraph, base).levels) {
      levels.push(level)
      bases.push(base)
    }
  }
  return { levels, bases }
}

/** The ranges of equal level between two positions. */
function cut (levels: readonly number[], start: number, end: number): [from: number, to: number][] {
  const pieces: [number, number][] = []
  for (let at = start; at < end; at++) {
    const last = pieces.at(-1)
    if (last !== undefined && levels[at] === levels[at - 1]) last[1] = at + 1
    else pieces.push([at, at + 1])
  }
  return pieces
}

/** Brackets are mirrored where text is right-to-left. */
function mirrored (text: string): string {
  return Array.from(text, (character) => bidi.getMirroredCharacter(character) ?? character).join('')
}

/**
 * A word of an odd level in the order that a font expects: fonts reverse words with letters themselves, and do not reverse words without
 * letters.
 */
export function asFontTakes (word: string): string {
  return rightToLeft.test(word) ? word : charactersOf(word).reverse().join('')
}

/** Items in visual order from left to right: from the highest level down, each range at that level or above is reversed (Annex 9, L2). */
export function visualOrder<T extends { level: number }> (items: readonly T[]): readonly T[] {
  if (items.every(({ level }) => level === 0)) return items
  const highest = items.reduce((max, { level }) => Math.max(max, level), 0)
  let ordered = [...items]
  for (let level = highest; level > 0; level--) {
    ordered = groups(ordered, level).flatMap((group) => (group[0]?.level ?? 0) >= level ? group.reverse() : group)
  }
  return ordered
}

function groups<T extends { level: number }> (items: readonly T[], level: number): T[][] {
  const found: T[][] = []
  for (const item of items) {
    const last = found.at(-1)
    if (last?.[0] !== undefined && (last[0].level >= level) === (item.level >= level)) last.push(item)
    else found.push([item])
  }
  return found
}
