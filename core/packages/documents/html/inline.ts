import { safeLinkOf } from '../compile/links.ts'
import type { TextRun } from '../model/document.ts'
import type { HtmlContext } from './context.ts'
import { type Css, htmlElement, type Node } from './element.ts'

/** Runs of text as HTML: bold, italic, links and line breaks. A mail is one page: page fields are 1. */
export function inline (runs: readonly TextRun[], { style, locale }: HtmlContext): Node[] {
  return runs.flatMap((run) => {
    const text = lines('text' in run ? run.text : (1).toLocaleString(locale))
    const slanted = run.italic === true ? [htmlElement('i', {}, text)] : text
    const weighted = run.bold === true ? [htmlElement('b', {}, slanted)] : slanted
    const href = run.link === undefined ? undefined : safeLinkOf(run.link)
    if (href === undefined) return weighted
    const look: Css = { color: style.accent, 'text-decoration': 'underline' }
    return [htmlElement('a', { href, style: look }, weighted)]
  })
}

function lines (text: string): Node[] {
  if (!text.includes('\n')) return [text]
  return text.split('\n').flatMap((line, index) => index === 0 ? [line] : [htmlElement('br', {}), line])
}
