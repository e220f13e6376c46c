import type { ButtonBlock, ColumnsBlock, ImageBlock, KeyValuesBlock, ResolvedBlock, TextBlock } from '../document.ts'
import { headingSize } from '../style.ts'
import { atLeast, beside, gap, kept, pageBreak, shifted, type Box } from './box.ts'
import { cellBox } from './cell.ts'
import { numbered, typography, type Setting } from './setting.ts'
import { signature } from './signature.ts'
import { stack } from './stack.ts'
import { table } from './table.ts'
import { text } from './text.ts'
import { shares } from './widths.ts'

/** Blocks below each other in a column of a width (points); those that come out empty take no distance either. */
export function layOut (blocks: readonly ResolvedBlock[], width: number, setting: Setting): Box {
  const boxes: Box[] = []
  for (const block of blocks) {
    const box = layOutBlock(block, width, setting)
    if (box.height === 0) continue
    const last = boxes.at(-1)
    if (last !== undefined && !last.gap && !box.gap) boxes.push(between(last, block, setting))
    boxes.push(box)
  }
  return stack(boxes)
}

/** The distance before a block; behind a heading it holds the two together. */
function between (last: Box, block: ResolvedBlock, { style }: Setting): Box {
  const distance = gap(style.size * (block.kind === 'heading' ? 1.2 : 0.6))
  return last.keep ? kept(distance) : distance
}

function layOutBlock (block: ResolvedBlock, width: number, setting: Setting): Box {
  switch (block.kind) {
    case 'heading': return heading(block, width, setting)
    case 'paragraph': return text(numbered(block.runs, setting), typography(setting, block), width, block.align)
    case 'columns': return columns(block, width, setting)
    case 'keyValues': return keyValues(block, width, setting)
    case 'table': return table(block, width, setting)
    case 'image': return image(block, width, setting)
    case 'button': return button(block, width, setting)
    case 'signature': return signature(block, width, setting)
    case 'spacer': return gap(block.height)
    case 'pageBreak': return pageBreak
    case 'rule': return {
      height: block.thickness,
      paint: (surface, x, y) => { surface.rule(x, y + block.thickness / 2, width, block.thickness, block.color) }
    }
  }
}

function heading (block: TextBlock & { level: number }, width: number, setting: Setting): Box {
  const size = block.size ?? headingSize(block.level, setting.style)
  return kept(text(numbered(block.runs, setting), { ...typography(setting, { ...block, size }), bold: true }, width, block.align))
}

function columns (block: ColumnsBlock, width: number, setting: Setting): Box {
  const places = shares(block.columns, width, block.gap)
  const boxes = block.columns.map((column, index) => {
    const { x, width } = places[index] ?? { x: 0, width: 0 }
    return shifted(layOut(column.blocks, width, setting), x)
  })
  return atLeast(block.height, beside(boxes))
}

/** Paper has no buttons: the text in bold, as a link. */
function button ({ text: words, url }: ButtonBlock, width: number, setting: Setting): Box {
  return text([{ text: words, link: url }], { ...typography(setting, {}), bold: true }, width, 'left')
}

function keyValues (block: KeyValuesBlock, width: number, setting: Setting): Box {
  const [label, value] = shares([{ width: block.labels }, { width: block.values }], width, setting.style.size)
  const muted = typography(setting, { color: setting.style.muted })
  return stack(block.entries.map((entry) => beside([
    text(numbered(entry.label, setting), muted, label?.width ?? 0, 'left'),
    shifted(cellBox(entry.cell, typography(setting, {}), value?.width ?? 0, 'left', setting), value?.x ?? 0)
  ])))
}

/** A picture is as wide as asked for, or as its pixels at 96 to the inch; never wider than the column or higher than half a page. */
function image (block: ImageBlock, columnWidth: number, setting: Setting): Box {
  const { image, align } = block
  const ratio = image.width / image.height
  const asked = block.width ?? (block.height === undefined ? image.width * 72 / 96 : block.height * ratio)
  const width = Math.min(asked, columnWidth, setting.pageHeight / 2 * ratio)
  const height = width / ratio
  const indent = align === 'left' ? 0 : (columnWidth - width) / (align === 'right' ? 1 : 2)
  return { height, paint: (surface, x, y) => { surface.image(image, x + indent, y, width, height) } }
}
