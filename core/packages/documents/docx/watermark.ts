import type { ResolvedDocument } from '../model/document.ts'
import { readable } from '../model/output.ts'
import { element, type Xml } from '../office/xml.ts'
import type { DocxContext } from './context.ts'
import { paragraph } from './paragraph.ts'
import { fontName } from './styles.ts'

/** Light enough that text over it is readable. */
const color = '#e9ecef'
/**
 * The part of the page's diagonal that the word takes, the height of its letters in relation to their width, and their most height in
 * points.
 */
const [share, proportion, highest] = [0.7, 1.5, 150]

/**
 * A word across the page, from the lower left to the upper right, in the way that Word makes it: a drawing in the header, behind the text.
 */
export function docxWatermark (word: string, { page, style }: Pick<ResolvedDocument, 'page' | 'style'>, setting: DocxContext): Xml {
  const string = readable(word).replaceAll('\n', ' ')
  const width = share * Math.hypot(page.width, page.height)
  const height = Math.min(highest, width / string.length * proportion)
  const angle = Math.round(360 - Math.atan2(page.height, page.width) * 180 / Math.PI)
  const shown = Math.min(width, height * string.length / proportion)
  const place = `position:absolute;margin-left:0;margin-top:0;width:${shown.toFixed(0)}pt;height:${
    height.toFixed(0)
  }pt;rotation:${angle};z-index:-251658752;mso-position-horizontal:center;mso-position-horizontal-relative:page;mso-position-vertical:center;mso-position-vertical-relative:page`
  const shape = element('v:shape', { id: 'Watermark', type: '#_x0000_t136', style: place, fillcolor: color, stroked: 'f' },
    element('v:textpath', { style: `font-family:'${fontName(style)}';font-size:1pt;font-weight:bold`, string }))
  return paragraph({ style: setting.paragraph, before: 0, height: 1, content: element('w:r', {}, element('w:pict', {}, shapeType, shape)) },
    setting)
}

/** Text on a straight path, stretched to the shape: type 136 of Word's drawings (ECMA-376-4, 19.1.2.20). */
const shapeType = element('v:shapetype', {
  id: '_x0000_t136',
  coordsize: '21600,21600',
  'o:spt': 136,
  adj: '10800',
  path: 'm@7,l@8,m@5,21600l@6,21600e'
},
  element('v:formulas', {},
    ...['sum #0 0 10800', 'prod #0 2 1', 'sum 21600 0 @1', 'sum 0 0 @2', 'sum 21600 0 @3', 'if @0 @3 0', 'if @0 21600 @1', 'if @0 0 @2',
      'if @0 @4 21600', 'mid @5 @6', 'mid @8 @5', 'mid @7 @8', 'mid @6 @7', 'sum @6 0 @5'].map((eqn) => element('v:f', { eqn }))),
  element('v:path', {
    textpathok: 't',
    'o:connecttype': 'custom',
    'o:connectlocs': '@9,0;@10,10800;@11,21600;@12,10800',
    'o:connectangles': '270,180,90,0'
  }), element('v:textpath', { on: 't', fitshape: 't' }))
