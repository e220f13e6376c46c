import { pictureOf } from '../code/picture.ts'
import { sideOf, turned } from '../compile/direction.ts'
import { inFlow } from '../compile/flow.ts'
import { safeLinkOf } from '../compile/links.ts'
import { plainText } from '../compile/prose.ts'
import type { ButtonBlock, CodeBlock, ColumnsBlock, ImageBlock, ResolvedBlock, SignatureBlock, TextBlock } from '../model/document.ts'
import { headingSize } from '../model/style.ts'
import { type HtmlContext, pixels, typeface } from './context.ts'
import { type Element, htmlElement, type Node } from './element.ts'
import { inline } from './inline.ts'
import { htmlKeyValues, htmlTable } from './table.ts'

/** Tables for the layout only. */
export const layoutTableAttributes = { role: 'presentation', width: '100%', cellpadding: 0, cellspacing: 0, border: 0 } as const

/** Blocks below each other in a column of a width (pixels), each in a row of its own, because all mail programs support tables. */
export function htmlBlocks (blocks: readonly ResolvedBlock[], width: number, setting: HtmlContext): Node[] {
  if (blocks.length === 0) return []
  return [htmlElement('table', layoutTableAttributes, blocks.map((block, index) => {
    const above = index === 0 ? 0 : distance(block, blocks[index - 1], setting)
    return htmlElement('tr', {}, [htmlElement('td', { style: { padding: `${above}px 0 0` } }, blockOf(block, width, setting))])
  }))]
}

/** The space in pixels before a block. Space that the template asks for replaces it. */
function distance (block: ResolvedBlock, last: ResolvedBlock | undefined, { style }: HtmlContext): number {
  if (block.kind === 'spacer' || last?.kind === 'spacer') return 0
  return pixels(style.size * (block.kind === 'heading' ? 1.2 : 0.6))
}

function blockOf (block: ResolvedBlock, width: number, setting: HtmlContext): Node[] {
  switch (block.kind) {
    case 'heading':
      return [heading(block, setting)]
    case 'paragraph':
      return [paragraph(block, setting)]
    case 'columns':
      return [columns(block, width, setting)]
    case 'keyValues':
      return [htmlKeyValues(block, setting)]
    case 'table':
      return [htmlTable(block, setting)]
    case 'image':
      return [image(block, width, setting)]
    case 'code':
      return [code(block, width, setting)]
    case 'group':
      return htmlBlocks(block.blocks, width, setting)
    case 'address':
      return htmlBlocks(inFlow(block, setting.style), width, setting)
    case 'button':
      return [button(block, setting)]
    case 'signature':
      return [signature(block, width, setting)]
    case 'spacer':
      return [room(pixels(block.height))]
    case 'pageBreak':
      return [line(1, setting.style.muted)]
    case 'rule':
      return [line(Math.max(1, pixels(block.thickness)), block.color)]
  }
}

function paragraph (block: TextBlock, setting: HtmlContext): Element {
  const { attributes, side } = place(block, setting)
  return htmlElement('p', { ...attributes, style: { margin: 0, ...typeface(setting, block), 'text-align': side } },
    inline(block.runs, setting))
}

/** A text whose direction differs from that of the document gets an attribute. */
function place ({ runs, align }: TextBlock, setting: HtmlContext): { attributes: Record<string, string>, side: string } {
  const { direction, side } = turned(plainText(runs), align, setting.direction)
  return { attributes: direction === setting.direction ? {} : { dir: direction }, side }
}

function heading (block: TextBlock & { level: number }, setting: HtmlContext): Element {
  const size = block.size ?? headingSize(block.level, setting.style)
  const { attributes, side } = place(block, setting)
  const style = {
    margin: 0,
    ...typeface(setting, { size, color: block.color }),
    'line-height': pixels(size * 1.25),
    'font-weight': 'bold',
    'text-align': side
  }
  return htmlElement(block.level === 1 ? 'h1' : block.level === 2 ? 'h2' : 'h3', { ...attributes, style }, inline(block.runs, setting))
}

function columns ({ columns, gap, height }: ColumnsBlock, width: number, setting: HtmlContext): Element {
  const total = columns.reduce((sum, column) => sum + column.width, 0)
  const cells = columns.map((column, index) => {
    const share = column.width / total
    const left = index === 0 ? 0 : pixels(gap)
    const extent = { width: `${Math.round(share * 100)}%`, ...(height > 0 ? { height: pixels(height) } : {}) }
    return htmlElement('td', { ...extent, valign: 'top', style: { padding: `0 0 0 ${left}px` } },
      htmlBlocks(column.blocks, width * share - left, setting))
  })
  return htmlElement('table', layoutTableAttributes, [htmlElement('tr', {}, cells)])
}

/** A picture has the requested width, or that of its pixels; it is never wider than its column. */
function image (
  { image, alt, align, ...size }: Omit<ImageBlock, 'kind'>,
  columnWidth: number,
  { pictures, direction }: HtmlContext
): Element {
  const ratio = image.width / image.height
  const requested = size.width === undefined ? size.height === undefined ? image.width : pixels(size.height) * ratio : pixels(size.width)
  const width = Math.max(1, Math.round(Math.min(requested, columnWidth)))
  const style = { display: 'inline-block', width, 'max-width': '100%', height: 'auto', border: 0 }
  return htmlElement('div', { style: { 'text-align': sideOf(align, direction) } }, [
    htmlElement('img', { src: `cid:${pictures.add(image).cid}`, width, alt, style })
  ])
}

/** A code is a picture, with its text for people under it. */
function code (block: CodeBlock, columnWidth: number, setting: HtmlContext): Element {
  const { alt, align, width, label } = block
  const picture = image({ image: pictureOf(block), alt: alt === '' ? label : alt, align, width }, columnWidth, setting)
  if (label === '') return picture
  const small = typeface(setting, { size: setting.style.size * 0.8 })
  return htmlElement('div', { style: { 'text-align': sideOf(align, setting.direction) } }, [
    picture,
    htmlElement('p', { style: { margin: 0, ...small } }, inline([{ text: label }], setting))
  ])
}

function button ({ text, url }: ButtonBlock, setting: HtmlContext): Element {
  const { style } = setting
  const look = {
    ...typeface(setting, { color: '#ffffff' }),
    display: 'inline-block',
    padding: '10px 22px',
    'font-weight': 'bold',
    'text-decoration': 'none'
  }
  const href = safeLinkOf(url)
  const cell = { bgcolor: style.accent, style: { background: style.accent, 'border-radius': 4 } }
  return htmlElement('table', { role: 'presentation', cellpadding: 0, cellspacing: 0, border: 0 }, [htmlElement('tr', {}, [
    htmlElement('td', cell, [htmlElement('a', { ...(href === undefined ? {} : { href }), style: look }, inline([{ text }], setting))])
  ])])
}

/** A mail is not signed by hand: only the line and its label are shown. */
function signature ({ label, width, height }: SignatureBlock, columnWidth: number, setting: HtmlContext): Element {
  const { style } = setting
  const small = typeface(setting, { color: style.muted, size: style.size * 0.9 })
  return htmlElement('div', { style: { width: Math.round(Math.min(pixels(width), columnWidth)), 'max-width': '100%' } }, [
    room(pixels(height)),
    line(1, style.text),
    htmlElement('p', { style: { margin: '4px 0 0', ...small } }, inline(label, setting))
  ])
}

function room (height: number): Element {
  return htmlElement('div', { style: { height, 'line-height': `${height}px`, 'font-size': 1 } })
}

function line (thickness: number, color: string): Element {
  return htmlElement('div', { style: { 'border-top': `${thickness}px solid ${color}`, 'font-size': 0, 'line-height': 0 } })
}
