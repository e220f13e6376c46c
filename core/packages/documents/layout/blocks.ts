import { sideOf } from '../compile/direction.ts'
import { inFlow } from '../compile/flow.ts'
import type { ButtonBlock, ColumnsBlock, ImageBlock, KeyValuesBlock, PageBox, ResolvedBlock, TextBlock } from '../model/document.ts'
import { headingSize } from '../model/style.ts'
import { address } from './address.ts'
import { atLeast, beside, type Box, gap, kept, pageBreak, shifted, whole } from './box.ts'
import { cellBox } from './cell.ts'
import { code } from './code.ts'
import { type LayoutContext, numbered, typography } from './context.ts'
import { signature } from './signature.ts'
import { stackBoxes } from './stack.ts'
import { tableBox } from './table.ts'
import { indentOf, textBox } from './text.ts'
import { shares } from './widths.ts'

/** Blocks below each other in a column of a width (points). Empty blocks take no distance either. */
export function layOut (blocks: readonly ResolvedBlock[], width: number, setting: LayoutContext): Box {
  return below(blocks, setting, (block) => layOutBlock(block, width, setting))
}

/**
 * The blocks of the body. Addresses have a fixed place on the page. `tops` is where the body begins on the first page and on later ones.
 */
export function layOutBody (
  blocks: readonly ResolvedBlock[],
  page: PageBox,
  tops: { first: number, later: number },
  setting: LayoutContext
): Box {
  const width = page.width - page.left - page.right
  return below(blocks, setting, (block, above) => {
    if (block.kind !== 'address') return layOutBlock(block, width, setting)
    const start = above.lastIndexOf(pageBreak)
    const y = above.slice(start + 1).reduce((sum, box) => sum + box.height, start === -1 ? tops.first : tops.later)
    return address(block, y, page, (width) => layOut(block.beside, width, setting), setting)
  })
}

function below (blocks: readonly ResolvedBlock[], setting: LayoutContext, make: (block: ResolvedBlock, above: readonly Box[]) => Box): Box {
  const boxes: Box[] = []
  for (const block of blocks) {
    const box = make(block, boxes)
    if (box.height === 0) continue
    const last = boxes.at(-1)
    if (last !== undefined && !last.gap && !box.gap && block.kind !== 'address') boxes.push(between(last, block, setting))
    boxes.push(box)
  }
  return stackBoxes(boxes)
}

/** The distance before a block; after a heading it keeps the two together. */
function between (last: Box, block: ResolvedBlock, { style }: LayoutContext): Box {
  const distance = gap(style.size * (block.kind === 'heading' ? 1.2 : 0.6))
  return last.keep ? kept(distance) : distance
}

function layOutBlock (block: ResolvedBlock, width: number, setting: LayoutContext): Box {
  switch (block.kind) {
    case 'heading':
      return heading(block, width, setting)
    case 'paragraph':
      return textBox(numbered(block.runs, setting), typography(setting, block), width, block.align)
    case 'columns':
      return columns(block, width, setting)
    case 'keyValues':
      return keyValues(block, width, setting)
    case 'table':
      return tableBox(block, width, setting)
    case 'image':
      return image(block, width, setting)
    case 'code':
      return code(block, width, setting)
    case 'group':
      return whole(layOut(block.blocks, width, setting))
    // Only the body knows the place of an address on its page.
    case 'address':
      return layOut(inFlow(block, setting.style), width, setting)
    case 'button':
      return button(block, width, setting)
    case 'signature':
      return signature(block, width, setting)
    case 'spacer':
      return gap(block.height)
    case 'pageBreak':
      return pageBreak
    case 'rule':
      return {
        height: block.thickness,
        paint: (surface, x, y) => {
          surface.rule(x, y + block.thickness / 2, width, block.thickness, block.color)
        }
      }
  }
}

function heading (block: TextBlock & { level: number }, width: number, setting: LayoutContext): Box {
  const size = block.size ?? headingSize(block.level, setting.style)
  return kept(textBox(numbered(block.runs, setting), { ...typography(setting, { ...block, size }), bold: true }, width, block.align))
}

function columns (block: ColumnsBlock, width: number, setting: LayoutContext): Box {
  const extents = shares(block.columns, width, block.gap, setting.direction)
  const boxes = block.columns.map((column, index) => {
    const { x, width } = extents[index] ?? { x: 0, width: 0 }
    return shifted(layOut(column.blocks, width, setting), x)
  })
  return atLeast(block.height, beside(boxes))
}

/** Paper has no buttons: the text in bold, as a link. */
function button ({ text: words, url }: ButtonBlock, width: number, setting: LayoutContext): Box {
  return textBox([{ text: words, link: url }], { ...typography(setting, {}), bold: true }, width, 'start')
}

function keyValues (block: KeyValuesBlock, width: number, setting: LayoutContext): Box {
  const [label, value] = shares([{ width: block.labels }, { width: block.values }], width, setting.style.size, setting.direction)
  const muted = typography(setting, { color: setting.style.muted })
  return stackBoxes(block.entries.map((entry) =>
    beside([
      shifted(textBox(numbered(entry.label, setting), muted, label?.width ?? 0, sideOf('start', setting.direction)), label?.x ?? 0),
      shifted(cellBox(entry.cell, typography(setting, {}), value?.width ?? 0, 'start', setting), value?.x ?? 0)
    ])
  ))
}

/**
 * A picture has the requested width, or the width of its pixels at 96 per inch. It is never wider than the column or higher than half a
 * page.
 */
function image (block: ImageBlock, columnWidth: number, setting: LayoutContext): Box {
  const { image, align } = block
  const ratio = image.width / image.height
  const requested = block.width ?? (block.height === undefined ? image.width * 72 / 96 : block.height * ratio)
  const width = Math.min(requested, columnWidth, setting.pageHeight / 2 * ratio)
  const height = width / ratio
  const indent = indentOf(width, columnWidth, align, setting.direction)
  return {
    height,
    paint: (surface, x, y) => {
      surface.image(image, x + indent, y, width, height)
    }
  }
}
