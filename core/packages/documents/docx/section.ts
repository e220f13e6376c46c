import type { Direction } from '../compile/direction.ts'
import type { PageBox } from '../model/document.ts'
import { element, none, type Xml } from '../office/xml.ts'
import type { HeaderFooter } from './headers-footers.ts'
import { twips } from './measure.ts'

/**
 * The paper, its margins, and the headers and footers of its pages by the ids of their relations. A header begins where the margin ends,
 * and moves the body down if necessary; a footer does the same.
 */
export function sectionOf (
  { width, height, top, right, bottom, left }: PageBox,
  edges: readonly (HeaderFooter & { id: string })[],
  direction: Direction
): Xml {
  return element('w:sectPr', {}, ...edges.map(({ kind, pages, id }) => element(`w:${kind}Reference`, { 'w:type': pages, 'r:id': id })),
    element('w:pgSz', { 'w:w': twips(width), 'w:h': twips(height), 'w:orient': width > height ? 'landscape' : undefined }),
    element('w:pgMar', {
      'w:top': twips(top),
      'w:right': twips(right),
      'w:bottom': twips(bottom),
      'w:left': twips(left),
      'w:header': twips(top),
      'w:footer': twips(bottom),
      'w:gutter': 0
    }), edges.some(({ pages }) => pages === 'first') ? element('w:titlePg') : none, direction === 'rtl' ? element('w:bidi') : none)
}
