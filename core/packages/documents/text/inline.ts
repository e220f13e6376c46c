import { formatCell } from '../compile/format.ts'
import { safeLinkOf } from '../compile/links.ts'
import type { ButtonBlock, Cell, CodeBlock, TextRun } from '../model/document.ts'
import { readable } from '../model/output.ts'

/** Runs as plain text: a link as `text <url>`, bold and italic without marks. There are no pages, so page fields are 1. */
export function plainRuns (runs: readonly TextRun[], locale: string): string {
  let text = ''
  let label = ''
  for (const [index, run] of runs.entries()) {
    const piece = readable('text' in run ? run.text : (1).toLocaleString(locale))
    text += piece
    label += piece
    // A link with a bold word in it consists of several runs. Its URL follows the last one.
    if (run.link === runs[index + 1]?.link) continue
    text += addressOf(label, run.link)
    label = ''
  }
  return text
}

/** The content of a cell. Spaces inside a number or a date do not break. */
export function plainCell (cell: Cell, locale: string): string {
  const text = plainRuns(formatCell(cell, locale), locale)
  return cell.type === 'text' ? text : text.replaceAll(' ', '\u00a0')
}

/** A label and its value on one line: `Total: 12`. */
export function labelled (label: string, value: string): string {
  const name = label === '' || label.endsWith(':') ? label : `${label}:`
  return `${name} ${value}`.trim()
}

/** A code in words: its description, and the text under it if that is different. */
export function codeWords ({ alt, label }: CodeBlock): string[] {
  return [alt === '' ? '' : `[${readable(alt)}]`, alt === label ? '' : readable(label)].filter((words) => words !== '')
}

/** The text of a button as a link. */
export function buttonRuns ({ text, url }: ButtonBlock): TextRun[] {
  return [{ text, link: url }]
}

/** The URL of a link after its text; nothing if the text is the URL. */
function addressOf (label: string, link: string | undefined): string {
  const url = link === undefined ? undefined : safeLinkOf(link)
  if (url === undefined) return ''
  const [shown, address] = [label, url.replace(/^(mailto|tel):/i, '')].map((text) => text.replaceAll(/\s/g, ''))
  return shown === url || shown === address ? '' : ` <${url}>`
}

/**
 * Replaces non-breaking spaces by ordinary ones after lines are broken. In a text message they would force the longer character encoding.
 */
export function withPlainSpaces (text: string): string {
  return text.replaceAll(/[\u00a0\u2007\u202f]/g, ' ')
}
