import fc from 'fast-check'
import t from 'tap'
import type { ResolvedDocument } from '../model/document.ts'
import { readable } from '../model/output.ts'
import { renderDocx } from '../render/docx.ts'
import { renderHtml } from '../render/html.ts'
import { renderXlsx } from '../render/xlsx.ts'
import { partsOf, textsIn, unescaped } from './office-support.ts'
import { now } from './support.ts'
import { anyDocument, textsOf, wordsIn } from './trees.ts'

/** What readers see of a text. */
const seen = (text: string): string => readable(text).replaceAll(/\p{Cs}|[\ufffe\uffff]/gu, '\ufffd')

/** The words of a document, as far as they are not the numbers of pages. */
function wordsOf (document: ResolvedDocument): string[] {
  return [...document.header, ...document.body, ...document.footer].flatMap((block) => textsOf([block])).flatMap((text) =>
    wordsIn(seen(text))
  )
}

void t.test('every word of a document is in its DOCX', (t) => {
  fc.assert(fc.property(anyDocument, (document) => {
    const parts = partsOf(renderDocx(document, now))
    const text = ['header', 'document', 'footer'].flatMap((name) => textsIn(parts[`word/${name}.xml`] ?? '', 'w:p')).join('\n')
    return wordsOf(document).every((word) => text.includes(word))
  }))
  t.end()
})

void t.test('every word of a document is in a cell of its XLSX, or in the format of one; a number is there as a number', (t) => {
  fc.assert(fc.property(anyDocument, (document) => {
    const parts = partsOf(renderXlsx(document, now))
    const sheets = Object.entries(parts).filter(([path]) => path.startsWith('xl/worksheets/sheet')).map(([, sheet]) => sheet)
    const formats = Array.from((parts['xl/styles.xml'] ?? '').matchAll(/formatCode="([^"]*)"/g), ([, format = '']) => unescaped(format))
    const text = [...sheets.flatMap((sheet) => textsIn(sheet, 'is')), ...formats].join('\n')
    return textWords(document).every((word) => text.includes(word))
  }))
  t.end()
})

void t.test('every word of a document is in its HTML', (t) => {
  fc.assert(fc.property(anyDocument, (document) => {
    const text = unescaped(renderHtml(document).html.replaceAll(/<style>[^<]*<\/style>|<[^>]*>/g, '')).replaceAll('&#39;', '\'')
    return wordsOf(document).every((word) => text.includes(word))
  }))
  t.end()
})

/** The words but those of cells that are numbers in a sheet. */
function textWords ({ header, body, footer, ...rest }: ResolvedDocument): string[] {
  const numbers = (blocks: ResolvedDocument['body']): ResolvedDocument['body'] =>
    JSON.parse(JSON.stringify(blocks), (_key, value: unknown) => isNumeric(value) ? { type: 'empty' } : value) as ResolvedDocument['body']
  return wordsOf({ ...rest, header: numbers(header), body: numbers(body), footer: numbers(footer) })
}

function isNumeric (value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value &&
    ['money', 'number', 'percent', 'date'].includes(String(value.type))
}

for (const [name, make] of [['DOCX', renderDocx], ['XLSX', renderXlsx]] as const) {
  void t.test(`the same document and time give the same ${name}, and every entry the same time`, (t) => {
    fc.assert(fc.property(anyDocument, (document) => Buffer.compare(make(document, now), make(document, now)) === 0), { numRuns: 20 })
    t.end()
  })

  void t.test(`a ${name} is well-formed, whatever its texts are`, (t) => {
    fc.assert(
      fc.property(anyDocument, (document) => {
        for (const [path, part] of Object.entries(partsOf(make(document, now)))) mustBeWellFormed(path, part)
      })
    )
    t.end()
  })
}

function mustBeWellFormed (path: string, part: string): void {
  if (!isWellFormed(part)) throw new Error(`${path} is not well-formed: ${part.slice(0, 2000)}`)
}

/** Whether every element ends where it should, and nothing stands there that XML does not have. */
function isWellFormed (xml: string): boolean {
  const open: string[] = []
  // oxlint-disable-next-line no-control-regex -- Control characters are what is looked for.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}|&(?!(?:amp|lt|gt|quot);)/u.test(xml)) return false
  const rest = xml.replace(/^<\?xml[^>]*\?>/, '').replaceAll(/<(\/?)([\w:]+)((?: [\w:]+="[^"<]*")*)(\/?)>/g,
    (_tag, end: string, name: string, _attributes: string, empty: string) => {
      if (end === '/') return open.pop() === name ? '' : '<'
      if (empty === '') open.push(name)
      return ''
    })
  return open.length === 0 && !rest.includes('<')
}
