import { safeLinkOf } from '../compile/links.ts'
import type { TextRun } from '../model/document.ts'
import { readable } from '../model/output.ts'

/** Text of a cell: line ends are `\n`. A piece may have a safe link. */
export type RichText = readonly RichTextRun[]
export type RichTextRun = { text: string, bold?: boolean, italic?: boolean, link?: string }

/** The most characters of a cell (ECMA-376-1, 18.18.11). */
export const maxCharacters = 32_767

/** Runs as the text of a cell. There are no pages, so page fields are 1. */
export function richTextOf (runs: readonly TextRun[], locale: string): RichText {
  return runs.map((run) => {
    // As nearly all texts of a table.
    if (run.bold === undefined && run.italic === undefined && run.link === undefined && 'text' in run) return { text: readable(run.text) }
    const link = run.link === undefined ? undefined : safeLinkOf(run.link)
    const { bold = false, italic = false } = run
    return {
      text: 'text' in run ? readable(run.text) : (1).toLocaleString(locale),
      ...(bold ? { bold } : {}),
      ...(italic ? { italic } : {}),
      ...(link === undefined ? {} : { link })
    }
  })
}

/** The lines of a text, none longer than a cell. */
export function richTextLines (words: RichText): RichText[] {
  if (!words.some(({ text }) => text.includes('\n'))) return portions(words)
  const lines: RichTextRun[][] = [[]]
  for (const { text, ...look } of words) {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) lines.push([])
      lines.at(-1)?.push({ text: line, ...look })
    }
  }
  return lines.flatMap(portions)
}

/** The text in portions for one cell each: nearly always one. */
export function portions (words: RichText): RichText[] {
  if (lengthOf(words) <= maxCharacters) return [words]
  return textOfRichText(words).match(portion)?.map((text) => [{ text }]) ?? []
}

/** The number of characters. */
export function lengthOf (words: RichText): number {
  let sum = 0
  for (const { text } of words) sum += text.length
  return sum
}

/** The end is never between the halves of a surrogate pair. */
const portion = new RegExp(`[^]{1,${maxCharacters - 1}}(?![\\udc00-\\udfff])`, 'g')

export function textOfRichText (words: RichText): string {
  return words.map(({ text }) => text).join('')
}

/** The single URL that a cell can link to, and the text. With several URLs, they are written after their words. */
export function cellLinkOf (words: RichText): { words: RichText, link?: string } {
  const [link, ...more] = new Set(words.flatMap(({ link }) => link ?? []))
  if (link === undefined) return { words }
  if (more.length === 0) return { words, link }
  return {
    words: words.map(({ link: own, ...piece }, index) =>
      own === undefined || own === words[index + 1]?.link ? piece : { ...piece, text: `${piece.text} <${own}>` }
    )
  }
}
