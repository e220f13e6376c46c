import { directionOf } from '../compile/direction.ts'
import type { ResolvedBlock, ResolvedDocument } from '../model/document.ts'
import { opening } from '../compile/flow.ts'
import { layoutTable, stack } from '../html/blocks.ts'
import { canvas, darkStyles, paper } from '../html/dark.ts'
import { element, serialize, type Element, type Node } from '../html/element.ts'
import { createPictures, type InlinePart } from '../html/pictures.ts'
import type { Setting } from '../html/context.ts'
import { joined } from './output.ts'
import { renderAlternative } from './text.ts'

export type { InlinePart } from '../html/pictures.ts'

/** An HTML document for a mail, its plain-text alternative, and the pictures that travel with it. */
export type Html = { html: string, text: string, inline: InlinePart[] }

/** Pixels: the width that mail programs show without scrolling, and the room inside. */
const widest = 640
const edge = 32

/**
 * Makes HTML that mail programs can show: layout in tables, every style inline, text and background coloured together, with
 * a style sheet for dark screens, nothing fetched from outside. Header, body and footer stand below each other. A
 * RenderError when it is too large.
 */
export function renderHtml (document: ResolvedDocument): Html {
  const pictures = createPictures()
  const { style, locale } = document
  const tree = page(document, { style, locale, direction: directionOf(locale), pictures })
  return { html: `<!doctype html>\n${joined(serialize(tree))}`, text: renderAlternative(document), inline: pictures.all() }
}

function page (document: ResolvedDocument, setting: Setting): Element {
  const { title, locale, preheader, body, footer, style } = document
  const above = opening(document)
  const blocks = [...spaced(above, 'after'), ...body, ...spaced(footer, 'before')]
  const content = element('td', { bgcolor: paper.light, style: { background: paper.light, 'border-top': `4px solid ${style.accent}`, padding: `${edge - 4}px ${edge}px ${edge}px` } }, stack(blocks, widest - 2 * edge, setting))
  const sheet = element('table', { ...layoutTable, width: widest, style: { width: '100%', 'max-width': widest } }, [element('tr', {}, [content])])
  const ground = element('table', { ...layoutTable, bgcolor: canvas.light, style: { background: canvas.light } }, [
    element('tr', {}, [element('td', { align: 'center', style: { padding: '24px 8px' } }, [sheet])])
  ])
  return element('html', { lang: locale, ...(setting.direction === 'rtl' ? { dir: 'rtl' } : {}) }, [
    element('head', {}, [
      element('meta', { charset: 'utf-8' }),
      element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      element('meta', { name: 'color-scheme', content: 'light dark' }),
      element('meta', { name: 'supported-color-schemes', content: 'light dark' }),
      element('title', {}, [title]),
      element('style', {}, [darkStyles(document)])
    ]),
    element('body', { bgcolor: canvas.light, style: { margin: 0, padding: 0, background: canvas.light } }, [...preview(preheader), ground])
  ])
}

/** Hidden text that a mailbox shows beside the subject. */
function preview (preheader: string): Node[] {
  if (preheader === '') return []
  const hidden = { display: 'none', 'max-height': 0, overflow: 'hidden', opacity: 0, 'font-size': 1, 'line-height': 1, color: canvas.light, 'mso-hide': 'all' }
  return [element('div', { style: hidden }, [preheader])]
}

/** The blocks of a header or footer, with room between them and the body (points). */
function spaced (blocks: readonly ResolvedBlock[], side: 'before' | 'after'): ResolvedBlock[] {
  if (blocks.length === 0) return []
  const room: ResolvedBlock = { kind: 'spacer', height: 18 }
  return side === 'before' ? [room, ...blocks] : [...blocks, room]
}
