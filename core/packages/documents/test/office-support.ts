import { strFromU8, unzipSync } from 'fflate'

/** The parts of a DOCX or XLSX that are text, by path. */
export function partsOf (bytes: Uint8Array): Record<string, string> {
  return Object.fromEntries(
    Object.entries(unzipSync(bytes)).filter(([path]) => !path.includes('/media/')).map(([path, part]) => [path, strFromU8(part)])
  )
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

/** XML as the text that it means. */
export function unescaped (xml: string): string {
  return xml.replaceAll(/&(amp|lt|gt|quot);/g, (_whole, name: string) => entities[name] ?? '')
}

/** What stands in the elements of a name, one text for each. */
export function textsIn (xml: string, name: string): string[] {
  return Array.from(xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^]*?)</${name}>`, 'g')),
    ([, inner = '']) => unescaped(inner.replaceAll(/<w:br\/>/g, '\n').replaceAll(/<[^>]*>/g, '')))
}

/** A cell of a sheet: the number that it shows, and its formula; or its text. */
export type SheetCell = { name: string, style: number, number?: string, formula?: string, text?: string }

/** The cells of a sheet by their names. */
export function cellsIn (sheet: string): Record<string, SheetCell> {
  const cells = Array.from(sheet.matchAll(/<c r="([A-Z]+\d+)" s="(\d+)"(?: t="inlineStr")?(?:\/>|>([^]*?)<\/c>)/g),
    ([, name = '', style = '', inner = '']): SheetCell => {
      const [number] = textsIn(inner, 'v')
      const [formula] = textsIn(inner, 'f')
      const text = inner.startsWith('<is>') ? textsIn(inner, 't').join('') : undefined
      return {
        name,
        style: Number(style),
        ...(number === undefined ? {} : { number }),
        ...(formula === undefined ? {} : { formula }),
        ...(text === undefined ? {} : { text })
      }
    })
  return Object.fromEntries(cells.map((cell) => [cell.name, cell]))
}
