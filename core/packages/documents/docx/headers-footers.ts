import { directionOf } from '../compile/direction.ts'
import type { ResolvedBlock, ResolvedDocument } from '../model/document.ts'
import { relationships } from '../office/package.ts'
import { all, element, xmlPart } from '../office/xml.ts'
import type { ZipEntries } from '../office/zip.ts'
import { docxBlocks } from './blocks.ts'
import type { DocxContext } from './context.ts'
import { namespaces } from './namespaces.ts'
import { createRelations, type Media } from './relations.ts'
import { docxWatermark } from './watermark.ts'

/** The content at the top or bottom of pages: a part of the package with this name. */
export type HeaderFooter = { name: string, kind: 'header' | 'footer', pages: 'first' | 'default', blocks: readonly ResolvedBlock[] }

/** The distance in points between the body and its header or footer. */
const gap = 10

/**
 * The headers and footers of the document. If the first page has its own header, Word also needs a separate footer for it; that one is the
 * same.
 */
export function headersAndFootersOf ({ header, firstHeader, footer, watermark: word }: ResolvedDocument): HeaderFooter[] {
  const room: ResolvedBlock = { kind: 'spacer', height: gap }
  const headers = (name: string, pages: HeaderFooter['pages'], blocks: readonly ResolvedBlock[]): HeaderFooter[] =>
    blocks.length === 0 && word === undefined && firstHeader === undefined
      ? []
      : [{ name, kind: 'header', pages, blocks: blocks.length === 0 ? [] : [...blocks, room] }]
  const footers = (name: string, pages: HeaderFooter['pages']): HeaderFooter[] =>
    footer.length === 0 ? [] : [{ name, kind: 'footer', pages, blocks: [room, ...footer] }]
  const first = firstHeader === undefined ? [] : [...headers('header-first', 'first', firstHeader), ...footers('footer-first', 'first')]
  return [...headers('header', 'default', header), ...footers('footer', 'default'), ...first]
}

/** Each as a part of its own, with its relations. */
export function headerFooterParts (edges: readonly HeaderFooter[], document: ResolvedDocument, media: Media): ZipEntries {
  const { page, style, locale } = document
  const width = page.width - page.left - page.right
  return Object.fromEntries(edges.flatMap(({ name, kind, blocks }) => {
    const relations = createRelations(media)
    const setting: DocxContext = {
      style,
      locale,
      direction: directionOf(locale),
      paragraph: kind === 'header' ? 'Header' : 'Footer',
      media,
      relations
    }
    const word = kind === 'header' && document.watermark !== undefined ? [docxWatermark(document.watermark, document, setting)] : []
    const text = xmlPart(
      element(kind === 'header' ? 'w:hdr' : 'w:ftr', namespaces, ...word, all(...docxBlocks(blocks, width, 'edge', setting)))
    )
    return [[`word/${name}.xml`, text], [`word/_rels/${name}.xml.rels`, relationships(relations.all())]] as const
  }))
}
