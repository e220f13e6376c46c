import type { Emphasis, PageField, TextRun } from '../model/document.ts'
import { safeLinkOf } from './links.ts'

/**
 * Inline markup: `**bold**`, `*italic*`, `[text](https://…)`, a line break, and `\` before one of these characters for the character
 * itself. An empty line is left out, so that an optional field leaves no gap.
 */
const special = /[\\*[\]()\n]/g

/** Text from the data, escaped so that the markup shows exactly this text. */
export function escapeMarkup (text: string): string {
  return text.replace(special, '\\$&')
}

/** The marker for a page number in markup. The data cannot write it, because their backslashes are escaped. */
export function pageMark (field: PageField): string {
  return `\\{${field}}`
}

/** Whether a template's own text contains markup or a line break. */
export function hasMarkup (text: string): boolean {
  return text.search(special) !== -1
}

const token =
  /\\\{(?<field>pages?)\}|\\(?<escaped>[\s\S])|(?<mark>\*\*?)|\[(?<label>(?:\\[\s\S]|[^\]\\])+)\]\((?<url>(?:\\[\s\S]|[^)\\\s])+)\)/g

/** Reads markup. A mark without its partner is an ordinary character, and so is a link that is not a web, mail or telephone link. */
export function parseMarkup (source: string): TextRun[] {
  return parse(withoutEmptyLines(source), {})
}

function withoutEmptyLines (source: string): string {
  return source.split(/(?<!(?<!\\)(?:\\\\)*\\)\n/).map((line) => line.trimEnd()).filter((line) => line !== '').join('\n')
}

function parse (source: string, base: Emphasis): TextRun[] {
  const runs: TextRun[] = []
  let style = base
  let end = 0
  for (const match of source.matchAll(token)) {
    add(runs, source.slice(end, match.index), style)
    end = match.index + match[0].length
    const { field, escaped, mark, label, url } = match.groups ?? {}
    const link = safeLinkOf(plain(url ?? ''))
    if (field === 'page' || field === 'pages') runs.push({ field, ...style })
    else if (escaped !== undefined) add(runs, escaped, style)
    else if (mark !== undefined && isMark(source, match.index, mark, style)) style = toggled(style, mark)
    else if (label !== undefined && link !== undefined) runs.push(...parse(label, { ...style, link }))
    else add(runs, match[0], style)
  }
  add(runs, source.slice(end), style)
  return runs
}

/** An opening mark is directly before a character and has a closing one. A closing mark ends the last opened one. */
function isMark (source: string, at: number, mark: string, style: Emphasis): boolean {
  const open = mark === '**' ? style.bold : style.italic
  const after = source.slice(at + mark.length)
  return open === true || (/^\S/.test(after) && after.includes(mark))
}

function toggled ({ bold, italic, ...rest }: Emphasis, mark: string): Emphasis {
  const now = mark === '**' ? { bold: bold !== true, italic: italic === true } : { bold: bold === true, italic: italic !== true }
  return { ...rest, ...(now.bold ? { bold: true } : {}), ...(now.italic ? { italic: true } : {}) }
}

function plain (escaped: string): string {
  return escaped.replace(/\\([\s\S])/g, '$1')
}

function add (runs: TextRun[], text: string, style: Emphasis): void {
  if (text === '') return
  const last = runs.at(-1)
  if (last !== undefined && 'text' in last && last.bold === style.bold && last.italic === style.italic && last.link === style.link) {
    last.text += text
  } else runs.push({ text, ...style })
}
