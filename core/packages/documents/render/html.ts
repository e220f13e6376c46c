import { directionOf } from '../compile/direction.ts'
import { opening } from '../compile/flow.ts'
import { htmlBlocks, layoutTableAttributes } from '../html/blocks.ts'
import type { HtmlContext } from '../html/context.ts'
import { canvas, darkStyles, paper } from '../html/dark.ts'
import { type Element, htmlElement, type Node, serialize } from '../html/element.ts'
import { createPictures, type InlinePart } from '../html/pictures.ts'
import type { ResolvedBlock, ResolvedDocument } from '../model/document.ts'
import { boundedText } from '../model/output.ts'
import { renderAlternative } from './text.ts'

export type { InlinePart } from '../html/pictures.ts'

/** An HTML document for a mail, its plain-text alternative, and the pictures that are sent with it. */
export type HtmlMessage = { html: string, text: string, inline: InlinePart[] }

/** Pixels: the width that mail programs show without scrolling, and the padding inside it. */
const widest = 640
const edge = 32

/**
 * Makes HTML that mail programs can show: layout in tables, every style inline, text and background coloured together, a style sheet for
 * dark mode, nothing loaded from outside. Header, body and footer are below each other. Throws a RenderError when it is too large.
 */
export function renderHtml (document: ResolvedDocument): HtmlMessage {
  const pictures = createPictures()
  const { style, locale } = document
  const html = boundedText()
  html.add('<!doctype html>\n')
  serialize(page(document, { style, locale, direction: directionOf(locale), pictures }), html.add)
  return { html: html.whole(), text: renderAlternative(document), inline: pictures.all() }
}

/** The HTML of an e-mail with its pictures as data URIs, because a browser cannot resolve `cid:` references. */
export function standalone ({ html, inline }: HtmlMessage): string {
  return inline.reduce(
    (text, { cid, contentType, bytes }) =>
      text.replaceAll(`cid:${cid}`, `data:${contentType};base64,${Buffer.from(bytes).toString('base64')}`),
    html
  )
}

function page (document: ResolvedDocument, setting: HtmlContext): Element {
  const { title, locale, preheader, body, footer, style } = document
  const above = opening(document)
  const blocks = [...spaced(above, 'after'), ...body, ...spaced(footer, 'before')]
  const content = htmlElement('td', {
    bgcolor: paper.light,
    style: { background: paper.light, 'border-top': `4px solid ${style.accent}`, padding: `${edge - 4}px ${edge}px ${edge}px` }
  }, htmlBlocks(blocks, widest - 2 * edge, setting))
  const sheet = htmlElement('table', { ...layoutTableAttributes, width: widest, style: { width: '100%', 'max-width': widest } }, [
    htmlElement('tr', {}, [content])
  ])
  const ground = htmlElement('table', { ...layoutTableAttributes, bgcolor: canvas.light, style: { background: canvas.light } }, [
    htmlElement('tr', {}, [htmlElement('td', { align: 'center', style: { padding: '24px 8px' } }, [sheet])])
  ])
  return htmlElement('html', { lang: locale, ...(setting.direction === 'rtl' ? { dir: 'rtl' } : {}) }, [
    htmlElement('head', {}, [
      htmlElement('meta', { charset: 'utf-8' }),
      htmlElement('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      htmlElement('meta', { name: 'color-scheme', content: 'light dark' }),
      htmlElement('meta', { name: 'supported-color-schemes', content: 'light dark' }),
      htmlElement('title', {}, [title]),
      htmlElement('style', {}, [darkStyles(document)])
    ]),
    htmlElement('body', { bgcolor: canvas.light, style: { margin: 0, padding: 0, background: canvas.light } }, [
      ...preview(preheader),
      ground
    ])
  ])
}

/** Hidden text that a mailbox shows beside the subject. */
function preview (preheader: string): Node[] {
  if (preheader === '') return []
  const hidden = {
    display: 'none',
    'max-height': 0,
    overflow: 'hidden',
    opacity: 0,
    'font-size': 1,
    'line-height': 1,
    color: canvas.light,
    'mso-hide': 'all'
  }
  return [htmlElement('div', { style: hidden }, [preheader])]
}

/** The blocks of a header or footer, with a distance (points) to the body. */
function spaced (blocks: readonly ResolvedBlock[], side: 'before' | 'after'): ResolvedBlock[] {
  if (blocks.length === 0) return []
  const room: ResolvedBlock = { kind: 'spacer', height: 18 }
  return side === 'before' ? [room, ...blocks] : [...blocks, room]
}
