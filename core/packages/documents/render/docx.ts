import { directionOf } from '../compile/direction.ts'
import { docxBlocks } from '../docx/blocks.ts'
import { headerFooterParts, headersAndFootersOf } from '../docx/headers-footers.ts'
import { namespaces } from '../docx/namespaces.ts'
import { createMedia, createRelations } from '../docx/relations.ts'
import { sectionOf } from '../docx/section.ts'
import { settings, styles } from '../docx/styles.ts'
import type { ResolvedDocument } from '../model/document.ts'
import { renderLimits } from '../model/limits.ts'
import { encodeBounded } from '../model/output.ts'
import { packageParts, relationships, relationType } from '../office/package.ts'
import { around, partPieces, type Xml } from '../office/xml.ts'
import { zip } from '../office/zip.ts'

/**
 * Makes a Word document with the features that a person would use: styles, headings, tables with a repeated header, fields for page
 * numbers. The same document and time give the same bytes. Throws a RenderError when it is too large.
 */
export function renderDocx (document: ResolvedDocument, now: Date): Uint8Array<ArrayBuffer> {
  const media = createMedia()
  const edges = headersAndFootersOf(document)
  const parts = [...(['styles', 'settings'] as const).map((name) => ({ name, kind: name })), ...edges]
  const relations = createRelations(media, parts.map(({ name, kind }) => ({ type: relationType(kind), target: `${name}.xml` })))
  const text = encodeBounded(partPieces(documentPieces(document)), renderLimits.markup)
  return zip({
    ...packageParts(document, now, 'word/document.xml', {
      'word/document.xml': 'officedocument.wordprocessingml.document.main+xml',
      ...Object.fromEntries(parts.map(({ name, kind }) => [`word/${name}.xml`, `officedocument.wordprocessingml.${kind}+xml`]))
    }),
    'word/document.xml': text,
    'word/_rels/document.xml.rels': relationships(relations.all()),
    'word/styles.xml': styles(document),
    'word/settings.xml': settings,
    ...headerFooterParts(edges, document, media),
    ...media.parts()
  })

  function* documentPieces ({ body, page, style, locale }: ResolvedDocument): Generator<Xml> {
    const [start, end] = around('w:document', namespaces)
    const [open, close] = around('w:body')
    yield start
    yield open
    const direction = directionOf(locale)
    yield* docxBlocks(body, page.width - page.left - page.right, 'body', {
      style,
      locale,
      direction,
      paragraph: 'Normal',
      media,
      relations
    })
    yield sectionOf(page, edges.map((edge) => ({ ...edge, id: relations.id(`${edge.name}.xml`) })), direction)
    yield close
    yield end
  }
}
