import { sideOf } from '../compile/direction.ts'
import { formatCell } from '../compile/format.ts'
import type { Align } from '../model/blocks.ts'
import type { KeyValuesBlock, ResolvedTotal, TableBlock, TableSection, TextRun } from '../model/document.ts'
import { type HtmlContext, typeface } from './context.ts'
import { hair } from './dark.ts'
import { type Css, type Element, htmlElement, type Node, type Tag } from './element.ts'
import { inline } from './inline.ts'

/** Hairlines between rows. */
const hairline = `1px solid ${hair.light}`

/** A table of data. Its rows are created while they are written. Totals are under the last column. */
export function htmlTable (block: TableBlock, setting: HtmlContext): Element {
  return htmlElement('table', {
    width: '100%',
    cellpadding: 0,
    cellspacing: 0,
    border: 0,
    style: { width: '100%', 'border-collapse': 'collapse' }
  }, [
    htmlElement('thead', {}, [headerRow(block, setting)]),
    ...block.sections.map((section) => htmlElement('tbody', {}, sectionRows(section, block, setting))),
    htmlElement('tfoot', {}, block.totals.map((total) => totalRow(total, block, setting)))
  ])
}

/** A total needs a label and a value, so a table with one column becomes a table with two. */
function spanOf ({ columns }: TableBlock): Record<string, number> {
  return columns.length === 1 ? { colspan: 2 } : {}
}

function headerRow (block: TableBlock, setting: HtmlContext): Element {
  const { style } = setting
  const look = {
    ...typeface(setting, { size: style.size * 0.92, color: style.accent }),
    'font-weight': 'bold',
    'vertical-align': 'bottom',
    'border-bottom': `2px solid ${style.accent}`
  }
  const total = block.columns.reduce((sum, { width }) => sum + width, 0)
  return htmlElement('tr', {}, block.columns.map(({ header, width, align }, index) => {
    const share = `${Math.round(width / total * 100)}%`
    return cellOf('th', { scope: 'col', width: share, ...spanOf(block) }, inline(header, setting), {
      ...look,
      'text-align': sideOf(align, setting.direction),
      ...padding(index, setting)
    })
  }))
}

function* sectionRows (section: TableSection, block: TableBlock, setting: HtmlContext): Generator<Element> {
  const attributes = block.columns.map(({ align }, index) => {
    const [words, value] = [false, true].map((isValue) => ({
      ...spanOf(block),
      style: {
        ...typeface(setting),
        ...valueLook(isValue, align, setting),
        'vertical-align': 'top',
        'border-bottom': hairline,
        ...padding(index, setting)
      }
    }))
    return { words, value }
  })
  if (section.heading.length > 0) yield headingRow(section.heading, block, setting)
  for (const row of section.rows) {
    yield htmlElement('tr', {}, row.map((cell, index) =>
      htmlElement('td', attributes[index]?.[cell.type === 'text' ? 'words' : 'value'] ?? {},
        inline(formatCell(cell, setting.locale), setting))
    ))
  }
  for (const total of section.totals) yield totalRow(total, block, setting)
}

/** The heading of a group spans all columns. */
function headingRow (heading: readonly TextRun[], { columns }: TableBlock, setting: HtmlContext): Element {
  const look = {
    ...typeface(setting),
    'font-weight': 'bold',
    'text-align': sideOf('start', setting.direction),
    'border-bottom': hairline,
    padding: '12px 0 4px'
  }
  return htmlElement('tr', {}, [cellOf('th', { scope: 'rowgroup', colspan: Math.max(2, columns.length) }, inline(heading, setting), look)])
}

function totalRow ({ label, cell, strong }: ResolvedTotal, { columns }: TableBlock, setting: HtmlContext): Element {
  const { style } = setting
  const look = { ...typeface(setting, { size: style.size * (strong ? 1.15 : 1) }), 'font-weight': strong ? 'bold' : 'normal' }
  return htmlElement('tr', {}, [
    cellOf('td', { colspan: Math.max(1, columns.length - 1) }, inline(label, setting), {
      ...look,
      'text-align': sideOf('end', setting.direction),
      ...padding(0, setting)
    }),
    cellOf('td', {}, inline(formatCell(cell, setting.locale), setting), {
      ...look,
      ...valueLook(cell.type !== 'text', columns.at(-1)?.align ?? 'end', setting),
      ...padding(1, setting)
    })
  ])
}

/** Labels and their values side by side. */
export function htmlKeyValues ({ entries, labels, values }: KeyValuesBlock, setting: HtmlContext): Element {
  const share = `${Math.round(labels / (labels + values) * 100)}%`
  const muted = typeface(setting, { color: setting.style.muted })
  const type = typeface(setting)
  return htmlElement('table', { role: 'presentation', width: '100%', cellpadding: 0, cellspacing: 0, border: 0 },
    entries.map(({ label, cell }) =>
      htmlElement('tr', {}, [
        htmlElement('td', { width: share, valign: 'top', style: { ...muted, padding: '1px 12px 1px 0' } }, inline(label, setting)),
        htmlElement('td', { valign: 'top', style: { ...type, padding: '1px 0' } }, inline(formatCell(cell, setting.locale), setting))
      ])
    ))
}

function cellOf (
  tag: Extract<Tag, 'td' | 'th'>,
  attributes: Record<string, string | number>,
  children: readonly Node[],
  style: Css
): Element {
  return htmlElement(tag, { ...attributes, style }, children)
}

/** The distance between a column and the one before it. */
function padding (column: number, { direction }: HtmlContext): Css {
  const [left, right] = column === 0 ? [0, 0] : direction === 'ltr' ? [12, 0] : [0, 12]
  return { padding: `6px ${right}px 6px ${left}px` }
}

/** A number or a date never breaks. */
function valueLook (isValue: boolean, align: Align, { direction }: HtmlContext): Css {
  return { 'text-align': sideOf(align, direction), ...(isValue ? { 'white-space': 'nowrap' } : {}) }
}
