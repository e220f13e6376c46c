import type { Run } from '../model/document.ts'
import { linkOf } from '../compile/links.ts'
import { element, type Css, type Node } from './element.ts'
import type { Setting } from './context.ts'

/** Runs of text as HTML: bold, italic, links and line breaks. A mail is one page: page fields are 1. */
export function inline (runs: readonly Run[], { style, locale }: Setting): Node[] {
  const look: Css = { color: style.accent, 'text-decoration': 'underline' }
  return runs.flatMap((run) => {
    const text = lines('text' in run ? run.text : (1).toLocaleString(locale))
    const slanted = run.italic === true ? [element('i', {}, text)] : text
    const weighted = run.bold === true ? [element('b', {}, slanted)] : slanted
    const href = run.link === undefined ? undefined : linkOf(run.link)
    return href === undefined ? weighted : [element('a', { href, style: look }, weighted)]
  })
}

function lines (text: string): Node[] {
  return text.split('\n').flatMap((line, index) => index === 0 ? [line] : [element('br', {}), line])
}
