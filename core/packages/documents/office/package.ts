import type { ResolvedDocument } from '../model/document.ts'
import { memoizeLru } from '../model/memoize.ts'
import { element, type Xml, xmlPart, xmlText } from './xml.ts'
import type { ZipEntries } from './zip.ts'

/** The target of a relation of a part: another part of the package, or an address (`external`). */
export type Relation = { id: string, type: string, target: string, external?: true }

const packages = 'http://schemas.openxmlformats.org/package/2006'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006'
const types = 'application/vnd.openxmlformats'

/** The type of a relation among the parts of a document, by its name in ECMA-376. */
export function relationType (name: string): string {
  return `${office}/relationships/${name}`
}

/** The part that lists the relations of another part (ECMA-376-2, 9.3). */
export function relationships (relations: readonly Relation[]): string {
  return xmlPart(
    element('Relationships', { xmlns: `${packages}/relationships` },
      ...relations.map(({ id, type, target, external }) =>
        element('Relationship', { Id: id, Type: type, Target: target, TargetMode: external === true ? 'External' : undefined })
      ))
  )
}

/**
 * The parts that every package has: the types of its parts by path (`types` below `application/vnd.openxmlformats-`), the first part, and
 * the properties of the document.
 */
export function packageParts (document: ResolvedDocument, now: Date, main: string, contents: Readonly<Record<string, string>>): ZipEntries {
  return {
    '[Content_Types].xml': contentTypes(JSON.stringify(contents)).part,
    '_rels/.rels': firstRelations(main).part,
    'docProps/core.xml': xmlPart(coreProperties(document, now)),
    'docProps/app.xml': application
  }
}

// Nearly all documents have the same few kinds of parts.

const contentTypes = memoizeLru(100, (contents) => ({
  part: xmlPart(
    element('Types', { xmlns: `${packages}/content-types` },
      ...[['rels', `${types}-package.relationships+xml`], ['xml', 'application/xml'], ['png', 'image/png'], ['jpeg', 'image/jpeg']].map(
        ([extension, type]) => element('Default', { Extension: extension, ContentType: type })
      ), ...Object.entries({
        ...JSON.parse(contents) as Record<string, string>,
        'docProps/core.xml': 'package.core-properties+xml',
        'docProps/app.xml': 'officedocument.extended-properties+xml'
      })
      .map(([path, type]) => element('Override', { PartName: `/${path}`, ContentType: `${types}-${type}` })))
  )
}))

const firstRelations = memoizeLru(10, (main) => ({
  part: relationships([
    { id: 'rId1', type: relationType('officeDocument'), target: main },
    { id: 'rId2', type: `${packages}/relationships/metadata/core-properties`, target: 'docProps/core.xml' },
    { id: 'rId3', type: relationType('extended-properties'), target: 'docProps/app.xml' }
  ])
}))

const application = xmlPart(
  element('Properties', { xmlns: `${office}/extended-properties` }, element('Application', {}, xmlText('Document Dispatch')))
)

function coreProperties ({ title, author, locale }: ResolvedDocument, now: Date): Xml {
  const time = xmlText(now.toISOString().replace(/\.\d+Z$/, 'Z'))
  const dated = { 'xsi:type': 'dcterms:W3CDTF' }
  return element('cp:coreProperties', {
    'xmlns:cp': `${packages}/metadata/core-properties`,
    'xmlns:dc': 'http://purl.org/dc/elements/1.1/',
    'xmlns:dcterms': 'http://purl.org/dc/terms/',
    'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance'
  }, element('dc:title', {}, xmlText(title)), element('dc:creator', {}, xmlText(author)), element('dc:language', {}, xmlText(locale)),
    element('dcterms:created', dated, time), element('dcterms:modified', dated, time))
}
