import { sideOf } from '../compile/direction.ts'
import { inFlow } from '../compile/flow.ts'
import { formatCell } from '../compile/format.ts'
import type { Cell, ColumnsBlock, KeyValuesBlock, ResolvedBlock, SignatureBlock, TextBlock, TextRun } from '../model/document.ts'
import { headingSize } from '../model/style.ts'
import { codeWords, labelled } from '../text/inline.ts'
import type { CellLine } from './cells.ts'
import { type ColumnRange, type SheetContext, sized, splitRange, widthOf } from './context.ts'
import { labelledFormat } from './number-format.ts'
import { richTextOf, textOfRichText } from './rich-text.ts'
import type { CellBorder } from './styles.ts'
import { digitsWide, textLines, usualHeight } from './text-lines.ts'
import { type Typed, typed } from './values.ts'

/** Blocks below each other in some columns of a sheet. A distance is an empty row. Tables have their own sheets. */
export function linesOfBlocks (blocks: readonly ResolvedBlock[], range: ColumnRange, setting: SheetContext): CellLine[] {
  const lines: CellLine[] = []
  for (const block of blocks) {
    const last = lines.at(-1)
    if (block.kind === 'heading' && last !== undefined && last.cells.length > 0) lines.push(room(setting.style.size))
    lines.push(...linesOfBlock(block, range, setting))
  }
  return lines
}

function linesOfBlock (block: ResolvedBlock, range: ColumnRange, setting: SheetContext): CellLine[] {
  const { style } = setting
  switch (block.kind) {
    case 'heading':
      return text(block, headingSize(block.level, style), { bold: true }, range, setting)
    case 'paragraph':
      return text(block, style.size, {}, range, setting)
    case 'columns':
      return columns(block, range, setting)
    case 'keyValues':
      return keyValues(block, range, setting)
    case 'image':
      return block.alt === '' ? [] : notes([`[${block.alt}]`], range, setting)
    case 'code':
      return notes(codeWords(block), range, setting)
    case 'group':
      return linesOfBlocks(block.blocks, range, setting)
    case 'address':
      return linesOfBlocks(inFlow(block, setting.style), range, setting)
    case 'button':
      return textLines(richTextOf([{ text: block.text, link: block.url }], setting.locale), { bold: true, color: style.accent }, range,
        setting)
    case 'signature':
      return signature(block, range, setting)
    case 'spacer':
      return block.height === 0 ? [] : [room(block.height)]
    case 'pageBreak':
      return [room(style.size)]
    case 'rule':
      return [ruled(range, 'bottom', { style: block.thickness < 1.5 ? 'thin' : 'medium', color: block.color }, setting)]
    case 'table':
      return []
  }
}

/** An empty line of a height (points). */
function room (height: number): CellLine {
  return { cells: [], height: Math.max(4, height) }
}

function text (
  { runs, align, color, size: own }: TextBlock,
  size: number,
  look: { bold?: true },
  range: ColumnRange,
  setting: SheetContext
): CellLine[] {
  const requested = sized(own ?? size, setting)
  return textLines(richTextOf(runs, setting.locale), {
    ...look,
    size: requested,
    color,
    ...(align === 'start' ? {} : { align: sideOf(align, setting.direction) })
  }, range, setting)
}

/** Columns are side by side if the sheet has enough columns, else below each other. */
function columns (block: ColumnsBlock, range: ColumnRange, setting: SheetContext): CellLine[] {
  const ranges = splitRange(range, block.columns.map(({ width }) => width), setting)
  if (ranges === undefined) return linesOfBlocks(block.columns.flatMap(({ blocks }) => blocks), range, setting)
  return beside(block.columns.map(({ blocks }, index) => linesOfBlocks(blocks, ranges[index] ?? range, setting)))
}

/** Lines side by side. A line of several rows takes several rows of the sheet, so that no row becomes as high as all of them together. */
function beside (columns: readonly (readonly CellLine[])[]): CellLine[] {
  const spread = columns.map((lines) => lines.flatMap(inRows))
  const count = Math.max(0, ...spread.map((lines) => lines.length))
  return Array.from({ length: count }, (_, index) => {
    const lines = spread.flatMap((column) => column[index] ?? [])
    return { cells: lines.flatMap(({ cells }) => cells), height: Math.max(...lines.map(({ height }) => height)) }
  })
}

/** A line as rows of the sheet: its cells span all of them. */
function inRows ({ cells, height, rows = 1 }: CellLine): CellLine[] {
  if (rows === 1) return [{ cells, height }]
  return Array.from({ length: rows },
    (_, index) => ({ cells: index === 0 ? cells.map((placed) => ({ ...placed, down: rows })) : [], height: height / rows }))
}

function keyValues ({ entries, labels, values }: KeyValuesBlock, range: ColumnRange, setting: SheetContext): CellLine[] {
  const [left, right] = splitRange(range, [labels, values], setting) ?? []
  return entries.flatMap(({ label, cell }) => {
    if (left === undefined || right === undefined) return together(label, cell, range, setting)
    return beside([
      textLines(richTextOf(label, setting.locale), { color: setting.style.muted }, left, setting),
      valueLines(cell, right, setting)
    ])
  })
}

/**
 * With a single column, a text follows its label in the same cell. The label of a number is in the number's format, or above the number if
 * both together are too wide.
 */
function together (label: readonly TextRun[], cell: Cell, range: ColumnRange, setting: SheetContext): CellLine[] {
  const { locale } = setting
  const number = typed(cell, locale)
  const name = textOfRichText(richTextOf(label, locale))
  const before = labelled(name, '')
  const words = richTextOf([...label, { text: before.slice(name.length) + ' ' }, ...formatCell(cell, locale)], locale)
  if (number === undefined) return textLines(words, {}, range, setting)
  const format = labelledFormat(`${before} `, number.format)
  if (format !== undefined && digitsWide(textOfRichText(words)) < widthOf(range, setting)) {
    return [numberLine({ ...number, format }, range, setting)]
  }
  return [...textLines(richTextOf(label, locale), { color: setting.style.muted }, range, setting), numberLine(number, range, setting)]
}

function valueLines (cell: Cell, range: ColumnRange, setting: SheetContext): CellLine[] {
  const number = typed(cell, setting.locale)
  return number === undefined
    ? textLines(richTextOf(formatCell(cell, setting.locale), setting.locale), {}, range, setting)
    : [numberLine(number, range, setting)]
}

/** Unlike text, a number does not flow over into the next cells, so its cell spans them all. */
function numberLine (number: Typed, range: ColumnRange, setting: SheetContext): CellLine {
  return {
    cells: [{
      column: range.from,
      span: range.to - range.from,
      style: setting.styles.of({ align: sideOf('start', setting.direction), format: number.format }),
      value: { number: number.number }
    }],
    height: usualHeight
  }
}

/** The content of pictures in words. */
function notes (texts: readonly string[], range: ColumnRange, setting: SheetContext): CellLine[] {
  return texts.flatMap((text) =>
    textLines(richTextOf([{ text, italic: true }], setting.locale), { color: setting.style.muted }, range, setting)
  )
}

/** Space for a signature, and the label under a line. */
function signature ({ label, height }: SignatureBlock, range: ColumnRange, setting: SheetContext): CellLine[] {
  const line = ruled(range, 'bottom', { style: 'thin', color: setting.style.text }, setting)
  return [
    { ...room(height), cells: line.cells },
    ...textLines(richTextOf(label, setting.locale), { color: setting.style.muted }, range, setting)
  ]
}

/** Empty cells with a border on one side. */
function ruled ({ from, to }: ColumnRange, side: 'top' | 'bottom', stroke: CellBorder, { styles }: SheetContext): CellLine {
  const style = styles.of({ [side]: stroke })
  return { cells: Array.from({ length: to - from }, (_, index) => ({ column: from + index, style })), height: 5 }
}
