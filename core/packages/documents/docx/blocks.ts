import { pictureOf } from '../code/picture.ts'
import { sideOf } from '../compile/direction.ts'
import { inFlow } from '../compile/flow.ts'
import { plainText } from '../compile/prose.ts'
import { shares } from '../layout/widths.ts'
import type { ButtonBlock, CodeBlock, ColumnsBlock, ImageBlock, KeyValuesBlock, ResolvedBlock, ResolvedStyle, SignatureBlock,
  TextBlock } from '../model/document.ts'
import { headingSize } from '../model/style.ts'
import { all, none, type Xml } from '../office/xml.ts'
import type { DocxContext, StyleId } from './context.ts'
import { blockSpacing, flow, type FlowContainer, type FlowItem } from './flow.ts'
import { layoutTable } from './grid.ts'
import { type Paragraph, paragraph } from './paragraph.ts'
import { picture } from './picture.ts'
import { lineBreak, runs, type RunStyle } from './runs.ts'
import { docxTable, valueCell } from './table.ts'

/** Blocks below each other in a column of a width (points). */
export function docxBlocks (blocks: readonly ResolvedBlock[], width: number, place: FlowContainer, setting: DocxContext): Generator<Xml> {
  return flow(items(blocks, width, setting), place, setting)
}

function* items (blocks: readonly ResolvedBlock[], width: number, setting: DocxContext): Generator<FlowItem> {
  for (const block of blocks) {
    if (block.kind === 'group') yield* group(block.blocks, width, setting)
    else if (block.kind === 'address') yield* items(inFlow(block, setting.style), width, setting)
    else yield itemOf(block, width, setting)
  }
}

/** Each block stays on one page with the next one. */
function* group (blocks: readonly ResolvedBlock[], width: number, setting: DocxContext): Generator<FlowItem> {
  for (const item of items(blocks.slice(0, -1), width, { ...setting, keepNext: true })) {
    yield 'paragraph' in item
      ? { paragraph: { ...item.paragraph, keepNext: true } }
      : item
  }
  yield* items(blocks.slice(-1), width, setting)
}

function itemOf (block: Exclude<ResolvedBlock, { kind: 'group' | 'address' }>, width: number, setting: DocxContext): FlowItem {
  switch (block.kind) {
    case 'heading':
      return { paragraph: heading(block, setting) }
    case 'paragraph':
      return { paragraph: textParagraph(block, setting.paragraph, setting.style.size, setting) }
    case 'columns':
      return { table: columns(block, width, setting) }
    case 'keyValues':
      return { table: keyValues(block, width, setting) }
    case 'table':
      return { table: docxTable(block, width, setting) }
    case 'image':
      return { paragraph: image(block, width, setting) }
    case 'code':
      return { paragraph: code(block, width, setting) }
    case 'button':
      return { paragraph: button(block, setting) }
    case 'signature':
      return { paragraph: signature(block, width, setting) }
    case 'rule':
      return { paragraph: { style: setting.paragraph, content: none, height: 1, border: { side: 'bottom', ...block } } }
    case 'spacer':
      return { room: block.height }
    case 'pageBreak':
      return { pageBreak: true }
  }
}

const headings: readonly StyleId[] = ['Heading1', 'Heading2', 'Heading3']

function heading (block: TextBlock & { level: number }, setting: DocxContext): Paragraph {
  return textParagraph(block, headings[block.level - 1] ?? 'Heading3', headingSize(block.level, setting.style), setting)
}

/** `size` in points is that of the style. */
function textParagraph (block: TextBlock, style: StyleId, size: number, setting: DocxContext): Paragraph {
  return { style, content: runs(block.runs, lookOf(block, size, setting.style), setting), text: plainText(block.runs), align: block.align }
}

/** The properties that differ from the style. */
function lookOf ({ size, color }: TextBlock, styled: number, style: ResolvedStyle): RunStyle {
  return { ...(size === undefined || size === styled ? {} : { size }), ...(color === style.text ? {} : { color }) }
}

/** Paper has no buttons: the text in bold, as a link. */
function button ({ text, url }: ButtonBlock, setting: DocxContext): Paragraph {
  return { style: setting.paragraph, content: runs([{ text, link: url }], { bold: true }, setting) }
}

/** Space for a signature, and the label under a line. */
function signature ({ label, width, height }: SignatureBlock, columnWidth: number, setting: DocxContext): Paragraph {
  const { style } = setting
  return {
    style: 'Signature',
    content: runs(label, {}, setting),
    before: blockSpacing(setting) + height,
    border: { side: 'top', thickness: 0.6, color: style.text },
    indent: { end: Math.max(0, columnWidth - width) }
  }
}

function columns (block: ColumnsBlock, width: number, setting: DocxContext): Iterable<Xml> {
  const extents = shares(block.columns, width, block.gap, 'ltr')
  const cells = block.columns.map((column, index) => [...docxBlocks(column.blocks, extents[index]?.width ?? width, 'cell', setting)])
  return layoutTable(extents, block.gap, [{ cells, height: block.height }], setting)
}

function keyValues (block: KeyValuesBlock, width: number, setting: DocxContext): Iterable<Xml> {
  const gap = setting.style.size
  const extents = shares([{ width: block.labels }, { width: block.values }], width, gap, 'ltr')
  return layoutTable(extents, gap, block.entries.map(({ label, cell }) => ({
    cells: [[paragraph({ style: 'Label', content: runs(label, {}, setting) }, setting)], [valueCell(cell, { style: 'TableText' }, setting)]]
  })), setting)
}

/** A picture has the requested width, or the width of its pixels at 96 per inch; it is never wider than its column. */
function image (block: Omit<ImageBlock, 'kind'>, columnWidth: number, setting: DocxContext): Paragraph {
  const { image, align, alt } = block
  const ratio = image.width / image.height
  const requested = block.width ?? (block.height === undefined ? image.width * 72 / 96 : block.height * ratio)
  const width = Math.min(requested, columnWidth)
  return { style: setting.paragraph, content: picture(image, { width, height: width / ratio, alt }, setting), align }
}

/** A code is a picture. Its text for people is centred under it. */
function code (block: CodeBlock, columnWidth: number, setting: DocxContext): Paragraph {
  const { alt, align, width, label } = block
  const shown = image({ image: pictureOf(block), alt: alt === '' ? label : alt, align, width }, columnWidth, setting)
  if (label === '') return shown
  const content = all(shown.content, lineBreak, runs([{ text: label }], { size: setting.style.size * 0.8 }, setting))
  const room = Math.max(0, columnWidth - width)
  const side = sideOf(align, setting.direction)
  const indent = side === 'center' ? {} : side === sideOf('start', setting.direction) ? { end: room } : { start: room }
  return { ...shown, content, align: 'center', indent }
}
