import type { ImageData } from '../model/document.ts'
import { element, type Xml } from '../office/xml.ts'
import type { DocxContext } from './context.ts'
import { emus } from './measure.ts'

const drawing = 'http://schemas.openxmlformats.org/drawingml/2006'

/** A picture in a line of text. Its size is in points; `alt` describes it in words. */
export function picture (
  image: ImageData,
  { width, height, alt }: { width: number, height: number, alt: string },
  { media, relations }: DocxContext
): Xml {
  const extent = { cx: emus(width), cy: emus(height) }
  const number = media.next()
  const named = { id: number, name: `Picture ${number}`, descr: alt }
  const shown = element('pic:pic', { 'xmlns:pic': `${drawing}/picture` },
    element('pic:nvPicPr', {}, element('pic:cNvPr', named), element('pic:cNvPicPr')),
    element('pic:blipFill', {}, element('a:blip', { 'r:embed': relations.picture(image) }),
      element('a:stretch', {}, element('a:fillRect'))),
    element('pic:spPr', {}, element('a:xfrm', {}, element('a:off', { x: 0, y: 0 }), element('a:ext', extent)),
      element('a:prstGeom', { prst: 'rect' }, element('a:avLst'))))
  return element('w:r', {},
    element('w:drawing', {},
      element('wp:inline', { distT: 0, distB: 0, distL: 0, distR: 0 }, element('wp:extent', extent), element('wp:docPr', named),
        element('wp:cNvGraphicFramePr', {}, element('a:graphicFrameLocks', { 'xmlns:a': `${drawing}/main`, noChangeAspect: 1 })),
        element('a:graphic', { 'xmlns:a': `${drawing}/main` }, element('a:graphicData', { uri: `${drawing}/picture` }, shown)))))
}
