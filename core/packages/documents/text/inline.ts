import { formatCell } from '../compile/format.ts'
import { safeLinkOf } from '../compile/links.ts'
import type { ButtonBlock, Cell, CodeBlock, TextRun } from '../model/document.ts'
import { readable } from '../render/output.ts'

/** Runs as plain text: a link as `text <url>`, no sign for bold and italic. There are no pages: page fields are 1. */
export function plainRuns (runs: readonly TextRun[], locale: string): string {
  let text = ''
  let label = ''
  for (const [index, run] of runs.entries()) {
    const piece = readable('text' in run ? run.text : (1).toLocaleString(locale))
    text += piece
    label += piece
    // A link with a bold word in it is several runs; its address follows the last of them.
    if (run.link === runs[index + 1]?.link) continue
    text += addressOf(label, run.link)
    label = ''
  }
  return text
}

/** What a cell shows. The spaces inside a number or a date do not break. */
export function plainCell (cell: Cell, locale: string): string {
  const text = plainRuns(formatCell(cell, locale), locale)
  return cell.type === 'text' ? text : text.replaceAll(' ', '\u00a0')
}

/** A label and what belongs to it, on one line: `Total: 12`. */
export function labelled (label: string, value: string): string {
  const name = label === '' || label.endsWith(':') ? label : `${label}:`
  return `${name} ${value}`.trim()
}

/** What a code says in words: what it is, and the text under it where that is another one. */
export function codeWords ({ alt, label }: CodeBlock): string[] {
  return [alt === '' ? '' : `[${readable(alt)}]`, alt === label ? '' : readable(label)].filter((words) => words !== '')
}

/** The text of a button as a link. */
export function buttonRuns ({ text, url }: ButtonBlock): TextRun[] {
  return [{ text, link: url }]
}

/** The address of a link behind its text; nothing where the text is the address. */
function addressOf (label: string, link: string | undefined): string {
  const url = link === undefined ? undefined : safeLinkOf(link)
  if (url === undefined) return ''
  const [shown, address] = [label, url.replace(/^(mailto|tel):/i, '')].map((text) => text.replaceAll(/\s/g, ''))
  return shown === url || shown === address ? '' : ` <${url}>`
}

/** Plain spaces for those that do not break, once lines are broken: they would cost a text message its short alphabet. */
export function withPlainSpaces (text: string): string {
  return text.replaceAll(/[\u00a0\u2007\u202f]/g, ' ')
}
