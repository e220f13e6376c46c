import type { ResolvedBlock, ResolvedDocument } from '../document.ts'
import { relationships } from '../office/package.ts'
import { all, element, part } from '../office/xml.ts'
import type { Parts } from '../office/zip.ts'
import { stack } from './blocks.ts'
import { namespaces } from './namespaces.ts'
import { createRelations, type Media } from './relations.ts'

/** The header or the footer of every page. */
export type Edge = { name: 'header' | 'footer', blocks: readonly ResolvedBlock[] }

/** Points between the body and its header or footer. */
const gap = 10

/** Those that the document has. */
export function edgesOf ({ header, footer }: ResolvedDocument): Edge[] {
  const room: ResolvedBlock = { kind: 'spacer', height: gap }
  const edges: Edge[] = [{ name: 'header', blocks: [...header, room] }, { name: 'footer', blocks: [room, ...footer] }]
  return edges.filter(({ blocks }) => blocks.length > 1)
}

/** Each as a part of its own, with what it refers to. */
export function edgeParts (edges: readonly Edge[], { page, style, locale }: ResolvedDocument, media: Media): Parts {
  const width = page.width - page.left - page.right
  return Object.fromEntries(edges.flatMap(({ name, blocks }) => {
    const relations = createRelations(media)
    const content = stack(blocks, width, 'edge', { style, locale, paragraph: name === 'header' ? 'Header' : 'Footer', media, relations })
    const text = part(element(name === 'header' ? 'w:hdr' : 'w:ftr', namespaces, all(...content)))
    return [[`word/${name}.xml`, text], [`word/_rels/${name}.xml.rels`, relationships(relations.all())]] as const
  }))
}
