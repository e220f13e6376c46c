import { SaxesParser } from 'saxes'
import { type Place, UnreadableInvoice } from './unreadable.ts'

/**
 * An element. `name` has the usual prefix of its namespace, or the namespace in braces where it has none here. `text`: what stands in it
 * and in no other element. `attributes` are those that nobody has read yet, `isRead` says whether somebody has read the text.
 */
export type XmlNode = Place & {
  name: string
  parent: XmlNode | undefined
  children: XmlNode[]
  text: string
  attributes: Map<string, string>
  isRead: boolean
}

const oasis = 'urn:oasis:names:specification:ubl:schema:xsd:'
const unece = 'urn:un:unece:uncefact:data:standard:'
const prefixes: Readonly<Record<string, string>> = {
  [`${oasis}Invoice-2`]: '',
  [`${oasis}CreditNote-2`]: '',
  [`${oasis}CommonAggregateComponents-2`]: 'cac:',
  [`${oasis}CommonBasicComponents-2`]: 'cbc:',
  [`${oasis}CommonExtensionComponents-2`]: 'ext:',
  [`${unece}CrossIndustryInvoice:100`]: 'rsm:',
  [`${unece}CrossDomainAcknowledgementAndResponse:100`]: 'rsm:',
  [`${unece}ReusableAggregateBusinessInformationEntity:100`]: 'ram:',
  [`${unece}QualifiedDataType:100`]: 'qdt:',
  [`${unece}UnqualifiedDataType:100`]: 'udt:'
}

/** Deeper nesting than in any invoice; and elements, which take more memory than their text. */
const deepest = 60
const maxElements = 600_000
/** Attributes are counted too: an element can have many. */
const maxAttributes = 300_000

/** Reads XML; its root. Nothing is fetched or replaced: a document type, the source of entities, is refused. */
export function parseXml (bytes: Uint8Array): XmlNode {
  const parser = new SaxesParser({ xmlns: true, position: true, defaultXMLVersion: '1.0', forceXMLVersion: true })
  let [elements, attributes, depth] = [0, 0, 0]
  let [root, open]: (XmlNode | undefined)[] = []
  const place = (): Place => ({ line: parser.line, column: parser.column + 1 })
  const refuse = (code: string, message: string, cause?: unknown): never => {
    throw new UnreadableInvoice(code, message, { place: place(), cause })
  }
  const write = (words: string): void => {
    if (open !== undefined) open.text += words
  }
  let start: Place = { line: 1, column: 1 }
  parser.on('doctype', () => refuse('document_type', 'The XML has a document type: an invoice has none.'))
  parser.on('opentagstart', ({ name }) => {
    // The parser has read the character behind the name, which may be a line break.
    start = parser.column === 0
      ? { line: parser.line - 1, column: 1 }
      : { line: parser.line, column: Math.max(parser.column - name.length - 1, 1) }
    if (++elements > maxElements || ++depth > deepest) {
      refuse('too_large', `The XML has more than ${maxElements} elements or ${deepest} levels.`)
    }
  })
  parser.on('attribute', () => {
    if (++attributes > maxAttributes) refuse('too_large', `The XML has more than ${maxAttributes} attributes.`)
  })
  parser.on('opentag', ({ local, uri, attributes: given }) => {
    const node: XmlNode = {
      name: nameIn(uri, local),
      parent: open,
      children: [],
      text: '',
      attributes: attributesOf(given),
      isRead: false,
      ...start
    }
    open?.children.push(node)
    root ??= node
    open = node
  })
  parser.on('text', write)
  parser.on('cdata', write)
  parser.on('closetag', () => {
    open = open?.parent
    depth--
  })
  try {
    parser.write(textOf(bytes)).close()
  } catch (error) {
    if (error instanceof UnreadableInvoice) throw error
    const [, sentence = ''] = /^(?:\d+:\d+: )?(.*)$/.exec((error as Error).message) ?? []
    refuse('not_xml', `The XML is not well-formed: ${sentence}`, error)
  }
  return root as XmlNode | undefined ?? refuse('not_xml', 'The XML has no element.')
}

function nameIn (uri: string, local: string): string {
  const prefix = prefixes[uri]
  if (prefix !== undefined) return `${prefix}${local}`
  return uri === '' ? local : `{${uri}}${local}`
}

type Attribute = { name: string, prefix: string, local: string, uri: string, value: string }

/** Most elements have no attributes. Who reads attributes takes them out, and nobody adds any. */
const none = new Map<string, string>()

/** Without the declarations of namespaces, and without where a schema is. */
function attributesOf (given: Readonly<Record<string, Attribute>>): Map<string, string> {
  let own = none
  for (const { prefix, name, uri, local, value } of Object.values(given)) {
    if (prefix === 'xmlns' || name === 'xmlns' || uri === 'http://www.w3.org/2001/XMLSchema-instance') continue
    if (own === none) own = new Map()
    own.set(nameIn(uri, local), value)
  }
  return own
}

/** The text of bytes in the encoding of their byte order mark, or in the one that they declare; UTF-8 otherwise. */
function textOf (bytes: Uint8Array): string {
  const [first, second] = bytes
  const marked = first === 0xFF && second === 0xFE ? 'utf-16le' : first === 0xFE && second === 0xFF ? 'utf-16be' : undefined
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 200)).toString('latin1')
  const [, declared = 'utf-8'] = /^[^<]*<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z][\w.-]*)["']/.exec(head) ?? []
  try {
    return new TextDecoder(marked ?? declared, { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new UnreadableInvoice('not_xml', `The XML is not written in ${(marked ?? declared).toUpperCase()}, as it says.`, { cause })
  }
}

/** The steps of the children of an element, each with its number where there are several of its name. */
const steps = new WeakMap<XmlNode, ReadonlyMap<XmlNode, string>>()

function stepsBelow ({ children }: XmlNode): ReadonlyMap<XmlNode, string> {
  const alike = Map.groupBy(children, ({ name }) => name)
  return new Map(
    [...alike.values()].flatMap((nodes) =>
      nodes.map((node, index): [XmlNode, string] => [node, nodes.length > 1 ? `${node.name}[${index + 1}]` : node.name])
    )
  )
}

/** The place of an element as a path: `/Invoice/cac:InvoiceLine[2]/cbc:ID`. */
export function pathOf (node: XmlNode): string {
  const { parent, name } = node
  if (parent === undefined) return `/${name}`
  const known = steps.get(parent) ?? stepsBelow(parent)
  steps.set(parent, known)
  return `${pathOf(parent)}/${known.get(node) ?? name}`
}
