import type { FontFamily, ResolvedDocument, ResolvedStyle } from '../model/document.ts'
import { memoizeLru } from '../model/memoize.ts'
import { headingSize } from '../model/style.ts'
import { all, element, none, type Xml, xmlPart } from '../office/xml.ts'
import { border, hairline } from './border.ts'
import type { StyleId } from './context.ts'
import { hex, twips } from './measure.ts'
import { namespaces } from './namespaces.ts'
import { sizes } from './runs.ts'
import { columnGap } from './table.ts'

/** Fonts that exist on all systems of readers, or have a metric twin there. */
const fonts: Record<FontFamily, string> = { sans: 'Arial', serif: 'Times New Roman', mono: 'Courier New' }

/** The height of a single line in Word, as a multiple of the font size. */
const singleLine = 1.15
/** The space in points above and below the text of a row. */
const rowPadding = 3.5

/** A paragraph style: `base` is the style that it extends, `name` is Word's own name for it. */
type ParagraphStyle = { name: string, base?: StyleId, next?: StyleId, paragraph?: readonly Xml[], run?: readonly Xml[] }

/** The part with the settings of the document: as in Word 2013 and later. */
export const settings = xmlPart(
  element('w:settings', { 'xmlns:w': namespaces['xmlns:w'] },
    element('w:compat', {},
      element('w:compatSetting', { 'w:name': 'compatibilityMode', 'w:uri': 'http://schemas.microsoft.com/office/word', 'w:val': 15 })))
)

/** The part with the styles of the document. */
export function styles ({ style, locale }: Pick<ResolvedDocument, 'style' | 'locale'>): string {
  return remembered(JSON.stringify({ style, locale })).part
}

/** All documents of a template have the same styles. */
const remembered = memoizeLru(100, (key) => ({ part: make(JSON.parse(key) as Pick<ResolvedDocument, 'style' | 'locale'>) }))

function make ({ style, locale }: Pick<ResolvedDocument, 'style' | 'locale'>): string {
  return xmlPart(
    element('w:styles', { 'xmlns:w': namespaces['xmlns:w'] },
      element('w:docDefaults', {},
        element('w:rPrDefault', {},
          element('w:rPr', {}, fontsOf(style), sizes(style.size),
            element('w:lang', { 'w:val': locale, 'w:eastAsia': locale, 'w:bidi': locale }))), element('w:pPrDefault')),
      ...Object.entries(paragraphStyles(style)).map(([id, own]) => paragraphStyle(id, own)),
      element('w:style', { 'w:type': 'character', 'w:default': 1, 'w:styleId': 'DefaultParagraphFont' }, named('Default Paragraph Font')),
      element('w:style', { 'w:type': 'character', 'w:styleId': 'Hyperlink' }, named('Hyperlink'),
        element('w:rPr', {}, colorOf(style.accent), element('w:u', { 'w:val': 'single' }))),
      element('w:style', { 'w:type': 'table', 'w:default': 1, 'w:styleId': 'TableNormal' }, named('Normal Table'),
        element('w:tblPr', {}, element('w:tblInd', { 'w:w': 0, 'w:type': 'dxa' }), margins(0, 0))),
      element('w:style', { 'w:type': 'table', 'w:customStyle': 1, 'w:styleId': 'DataTable' }, named('Data Table'),
        element('w:basedOn', { 'w:val': 'TableNormal' }),
        element('w:tblPr', {}, element('w:tblBorders', {}, border('bottom', hairline), border('insideH', hairline)),
          margins(rowPadding, columnGap))))
  )
}

function paragraphStyles (style: ResolvedStyle): Record<StyleId, ParagraphStyle> {
  const small = [colorOf(style.muted), sizes(style.size * 0.9)]
  return {
    Normal: { name: 'Normal', paragraph: [spacing(style.size * 0.6, style.lineHeight)], run: [colorOf(style.text)] },
    Heading1: heading(1, style),
    Heading2: heading(2, style),
    Heading3: heading(3, style),
    Header: { name: 'header', base: 'Normal' },
    Footer: { name: 'footer', base: 'Normal' },
    TableText: { name: 'Table Text', base: 'Normal', paragraph: [spacing(0)] },
    TableHeading: {
      name: 'Table Heading',
      base: 'TableText',
      paragraph: [keepNext],
      run: [bold, colorOf(style.accent), sizes(style.size * 0.92)]
    },
    Label: { name: 'Label', base: 'TableText', run: [colorOf(style.muted)] },
    Signature: { name: 'Signature', base: 'Normal', run: small }
  }
}

const bold = all(element('w:b'), element('w:bCs'))
const keepNext = element('w:keepNext')

function heading (level: 1 | 2 | 3, style: ResolvedStyle): ParagraphStyle {
  return {
    name: `heading ${level}`,
    base: 'Normal',
    next: 'Normal',
    paragraph: [keepNext, element('w:keepLines'), spacing(style.size * 1.2), element('w:outlineLvl', { 'w:val': level - 1 })],
    run: [bold, sizes(headingSize(level, style))]
  }
}

/** The space before a paragraph in points, and the line height as a multiple of the font size. */
function spacing (before: number, lineHeight?: number): Xml {
  // 240 is a single line.
  const line = lineHeight === undefined ? {} : { 'w:after': 0, 'w:line': Math.round(240 * lineHeight / singleLine), 'w:lineRule': 'auto' }
  return element('w:spacing', { 'w:before': twips(before), ...line })
}

function paragraphStyle (id: string, { name, base, next, paragraph = [], run = [] }: ParagraphStyle): Xml {
  return element('w:style', {
    'w:type': 'paragraph',
    'w:styleId': id,
    ...(base === undefined ? { 'w:default': 1 } : {}),
    ...(builtIn.test(name) ? {} : { 'w:customStyle': 1 })
  }, named(name), base === undefined ? none : element('w:basedOn', { 'w:val': base }),
    next === undefined ? none : element('w:next', { 'w:val': next }),
    base === undefined || next !== undefined ? element('w:qFormat') : none,
    paragraph.length === 0 ? none : element('w:pPr', {}, ...paragraph), run.length === 0 ? none : element('w:rPr', {}, ...run))
}

/** The styles that are built into Word. */
const builtIn = /^(?:Normal|heading \d|header|footer|Signature)$/

function named (name: string): Xml {
  return element('w:name', { 'w:val': name })
}

/** The font of a document. */
export function fontName ({ font }: ResolvedStyle): string {
  return fonts[font]
}

function fontsOf (style: ResolvedStyle): Xml {
  const name = fontName(style)
  return element('w:rFonts', { 'w:ascii': name, 'w:hAnsi': name, 'w:eastAsia': name, 'w:cs': name })
}

function colorOf (color: string): Xml {
  return element('w:color', { 'w:val': hex(color) })
}

/** The space inside every cell in points: above, below, and on its left. */
function margins (padding: number, left: number): Xml {
  const margin = (side: string, points: number): Xml => element(`w:${side}`, { 'w:w': twips(points), 'w:type': 'dxa' })
  return element('w:tblCellMar', {}, margin('top', padding), margin('left', left), margin('bottom', padding), margin('right', 0))
}
