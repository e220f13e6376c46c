import type { PageBox } from '../document.ts'
import { element, type Xml } from '../office/xml.ts'
import { twips } from './measure.ts'

/**
 * The paper, its margins, and the header and footer of its pages by the ids of their relations. A header begins where the
 * margin ends, and makes room for itself; so does a footer.
 */
export function sectionOf ({ width, height, top, right, bottom, left }: PageBox, edges: readonly { name: string, id: string }[]): Xml {
  return element('w:sectPr', {},
    ...edges.map(({ name, id }) => element(`w:${name}Reference`, { 'w:type': 'default', 'r:id': id })),
    element('w:pgSz', { 'w:w': twips(width), 'w:h': twips(height), 'w:orient': width > height ? 'landscape' : undefined }),
    element('w:pgMar', { 'w:top': twips(top), 'w:right': twips(right), 'w:bottom': twips(bottom), 'w:left': twips(left), 'w:header': twips(top), 'w:footer': twips(bottom), 'w:gutter': 0 }))
}
