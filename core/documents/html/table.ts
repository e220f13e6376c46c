import type { Align } from '../blocks.ts'
import type { Cell, KeyValuesBlock, ResolvedTotal, TableBlock } from '../document.ts'
import { formatCell } from '../format.ts'
import { element, type Css, type Element, type Node, type Tag } from './element.ts'
import { inline } from './inline.ts'
import { typeface, type Setting } from './setting.ts'

/** Hairlines between rows. */
const hairline = '1px solid #d5dbe1'

/** A table of the data; its rows are made while they are written. Totals stand under the last column. */
export function table (block: TableBlock, setting: Setting): Element {
  return element('table', { width: '100%', cellpadding: 0, cellspacing: 0, border: 0, style: { width: '100%', 'border-collapse': 'collapse' } }, [
    element('thead', {}, [headerRow(block, setting)]),
    element('tbody', {}, bodyRows(block, setting)),
    element('tfoot', {}, block.totals.map((total) => totalRow(total, block, setting)))
  ])
}

/** A total has a label and a value: a table of one column becomes two. */
function spanOf ({ columns }: TableBlock): Record<string, number> {
  return columns.length === 1 ? { colspan: 2 } : {}
}

function headerRow (block: TableBlock, setting: Setting): Element {
  const { style } = setting
  const look = { ...typeface(setting, { size: style.size * 0.92, color: style.accent }), 'font-weight': 'bold', 'vertical-align': 'bottom', 'border-bottom': `2px solid ${style.accent}` }
  const total = block.columns.reduce((sum, { width }) => sum + width, 0)
  return element('tr', {}, block.columns.map(({ header, width, align }, index) => {
    const share = `${Math.round(width / total * 100)}%`
    return cellOf('th', { scope: 'col', width: share, ...spanOf(block) }, inline(header, setting), { ...look, 'text-align': align, ...padding(index) })
  }))
}

function * bodyRows (block: TableBlock, setting: Setting): Generator<Element> {
  const type = typeface(setting)
  for (const row of block.rows) {
    yield element('tr', {}, row.map((cell, index) => {
      const look = { ...type, ...valueLook(cell, block.columns[index]?.align ?? 'left'), 'vertical-align': 'top', 'border-bottom': hairline, ...padding(index) }
      return cellOf('td', spanOf(block), inline(formatCell(cell, setting.locale), setting), look)
    }))
  }
}

function totalRow ({ label, cell, strong }: ResolvedTotal, { columns }: TableBlock, setting: Setting): Element {
  const { style } = setting
  const look = { ...typeface(setting, { size: style.size * (strong ? 1.15 : 1) }), 'font-weight': strong ? 'bold' : 'normal' }
  return element('tr', {}, [
    cellOf('td', { colspan: Math.max(1, columns.length - 1) }, inline(label, setting), { ...look, 'text-align': 'right', ...padding(0) }),
    cellOf('td', {}, inline(formatCell(cell, setting.locale), setting), { ...look, ...valueLook(cell, columns.at(-1)?.align ?? 'right'), ...padding(1) })
  ])
}

/** Labels and their values side by side. */
export function keyValues ({ entries, labels, values }: KeyValuesBlock, setting: Setting): Element {
  const share = `${Math.round(labels / (labels + values) * 100)}%`
  const muted = typeface(setting, { color: setting.style.muted })
  const type = typeface(setting)
  return element('table', { role: 'presentation', width: '100%', cellpadding: 0, cellspacing: 0, border: 0 }, entries.map(({ label, cell }) => element('tr', {}, [
    element('td', { width: share, valign: 'top', style: { ...muted, padding: '1px 12px 1px 0' } }, inline(label, setting)),
    element('td', { valign: 'top', style: { ...type, padding: '1px 0' } }, inline(formatCell(cell, setting.locale), setting))
  ])))
}

function cellOf (tag: Extract<Tag, 'td' | 'th'>, attributes: Record<string, string | number>, children: readonly Node[], style: Css): Element {
  return element(tag, { ...attributes, style }, children)
}

function padding (column: number): Css {
  return { padding: column === 0 ? '6px 0' : '6px 0 6px 12px' }
}

/** A number or a date never breaks. */
function valueLook (cell: Cell, align: Align): Css {
  return { 'text-align': align, ...(cell.type === 'text' ? {} : { 'white-space': 'nowrap' }) }
}
