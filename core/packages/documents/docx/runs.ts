import { safeLinkOf } from '../compile/links.ts'
import type { TextRun } from '../model/document.ts'
import { all, element, none, type Xml, xmlText } from '../office/xml.ts'
import type { DocxContext } from './context.ts'
import { halves, hex } from './measure.ts'

/** The difference from the style of the paragraph: `size` in points, `color` as `#rrggbb`. */
export type RunStyle = { size?: number, color?: string, bold?: boolean }

/** Runs of text: bold, italic, links, line breaks and the numbers of pages. */
export function runs (runs: readonly TextRun[], look: RunStyle, setting: DocxContext): Xml {
  return all(...runs.map((run) => {
    const href = run.link === undefined ? undefined : safeLinkOf(run.link)
    const content = 'text' in run
      ? piece(run.text, (isRtl) => propertiesOf(run, look, href, isRtl))
      : field(run.field, propertiesOf(run, look, href))
    return href === undefined ? content : element('w:hyperlink', { 'r:id': setting.relations.link(href) }, content)
  }))
}

/** In the order of the schema (ECMA-376-1, CT_RPr). */
function propertiesOf ({ bold, italic }: TextRun, look: RunStyle, href: string | undefined, isRtl = false): Xml {
  const isBold = bold === true || look.bold === true
  if (!isBold && italic !== true && href === undefined && look.size === undefined && look.color === undefined && !isRtl) return none
  return element('w:rPr', {}, href === undefined ? none : element('w:rStyle', { 'w:val': 'Hyperlink' }), isBold ? bolds : none,
    italic === true ? italics : none,
    look.color === undefined || href !== undefined ? none : element('w:color', { 'w:val': hex(look.color) }),
    look.size === undefined ? none : sizes(look.size), isRtl ? element('w:rtl') : none)
}

const bolds = all(element('w:b'), element('w:bCs'))
const italics = all(element('w:i'), element('w:iCs'))

/** A font size (points) for all scripts. */
export function sizes (size: number): Xml {
  return all(element('w:sz', { 'w:val': halves(size) }), element('w:szCs', { 'w:val': halves(size) }))
}

const breaking = element('w:br')
/** A run that ends the line. */
export const lineBreak = element('w:r', {}, breaking)

/** Words of right-to-left scripts with the spaces between them: Word needs them to be marked. */
const rightToLeft =
  /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+(?:\s+[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+)*)/u

function piece (content: string, propertiesFor: (isRtl: boolean) => Xml): Xml {
  if (!rightToLeft.test(content)) return element('w:r', {}, propertiesFor(false), lines(content))
  // `split` with a capture puts the captured texts at every second index.
  return all(
    ...content.split(rightToLeft).map((part, index) => part === '' ? none : element('w:r', {}, propertiesFor(index % 2 === 1), lines(part)))
  )
}

function lines (content: string): Xml {
  if (!content.includes('\n') && !content.includes('\r')) return words(content)
  return all(...content.split(/\r\n?|\n/).flatMap((line, index) => index === 0 ? [words(line)] : [breaking, words(line)]))
}

/** Spaces at the ends count only with this attribute. */
function words (line: string): Xml {
  return line === '' ? none : element('w:t', /^\s|\s$/.test(line) ? { 'xml:space': 'preserve' } : {}, xmlText(line))
}

/** The program that shows the page computes the number. Until then it is 1. */
function field (name: 'page' | 'pages', properties: Xml): Xml {
  return element('w:fldSimple', { 'w:instr': name === 'page' ? ' PAGE ' : ' NUMPAGES ' },
    element('w:r', {}, properties, element('w:t', {}, xmlText('1'))))
}
