import { element, none, type Xml, xmlText } from '../office/xml.ts'
import { type CellLine, cellReference, type PlacedCell } from './cells.ts'
import { usualHeight } from './text-lines.ts'

/** Slightly less than the highest row of a sheet in points. */
const mostHeight = 400

/** Writes the rows of a sheet, one below the other. `merged` and `links` are written after them. */
export type Rows = {
  /** A row of cells in the order of their columns. */
  add: (line: CellLine) => Xml
  /** The number of rows. */
  count: () => number
  /** The total height in points. */
  height: () => number
  /** The merged cells, such as A1:C1. */
  merged: string[]
  /** The links of cells. */
  links: { name: string, url: string }[]
}

export function createRows (): Rows {
  const merged: string[] = []
  const links: Rows['links'] = []
  let [count, sum] = [0, 0]
  return {
    merged,
    links,
    count: () => count,
    height: () => sum,
    add ({ cells, height: wanted }) {
      const height = Math.min(mostHeight, wanted)
      count++
      sum += height
      const own = cells.map((placed) => {
        const name = cellReference(placed.column, count)
        const { span = 1, down = 1 } = placed
        if (span > 1 || down > 1) merged.push(`${name}:${cellReference(placed.column + span - 1, count + down - 1)}`)
        if (placed.link !== undefined) links.push({ name, url: placed.link })
        return cell(name, placed)
      })
      return element('row', height === usualHeight ? { r: count } : { r: count, ht: height, customHeight: 1 }, ...own)
    }
  }
}

function cell (r: string, { style: s, value }: PlacedCell): Xml {
  if (value === undefined) return element('c', { r, s })
  if ('text' in value) return element('c', { r, s, t: 'inlineStr' }, value.text)
  return element('c', { r, s }, value.formula === undefined ? none : element('f', {}, xmlText(value.formula)),
    element('v', {}, xmlText(value.number)))
}
