import type { Json, NoDocument } from '@dispatch/common'
import { SaxesParser, type SaxesTagNS } from 'saxes'
import { RequestFailure } from '../outcome/request-outcome.ts'

/**
 * The content of an XML element: a text, or an object with its children by name, its attributes as `@name` and its text as `#text`. A list
 * stands for several elements of one name; `undefined` is left out.
 */
export type XmlValue = string | number | boolean | undefined | readonly XmlValue[] | ({ readonly [name: string]: XmlValue } & NoDocument)

/** A document: its root element by name. */
export type XmlFields = Readonly<Record<string, XmlValue>>

/** Deeper nesting than any vendor's; and elements, which take more memory than their text. */
const deepest = 100
const maxElements = 200_000

/**
 * Reads XML in UTF-8 as plain data: elements and attributes (`@name`) by their names without prefix, an element without either as its
 * text, elements of one name as a list. Throws for what is not well-formed, for a document type (the only source of entities beyond the
 * five of XML), and for too much.
 */
export function parseXml (text: string): Json {
  const root: Element = { children: new Map(), text: '' }
  const open: Element[] = [root]
  const write = (words: string): void => {
    const element = open.at(-1)
    if (element !== undefined) element.text += words
  }
  const parser = boundedParser({
    opened ({ attributes }) {
      const own = Object.values(attributes).filter(({ prefix, name }) => prefix !== 'xmlns' && name !== 'xmlns')
      open.push({ children: new Map(own.map(({ local, value }): [string, Json[]] => [`@${local}`, [value]])), text: '' })
    },
    closed ({ local }) {
      const element = open.pop()
      const siblings = open.at(-1)?.children
      if (element === undefined || siblings === undefined) return
      const alike = siblings.get(local)
      if (alike === undefined) siblings.set(local, [valueOf(element)])
      else alike.push(valueOf(element))
    }
  })
  parser.on('text', write)
  parser.on('cdata', write)
  parser.write(text).close()
  return valueOf(root)
}

/** The children of the root with this name, as they are written. Throws for what {@link parseXml} throws for. */
export function childrenAsWritten (text: string, { name, namespace }: { name: string, namespace: string }): string[] {
  const found: string[] = []
  let begin: number | undefined
  const parser = boundedParser({
    opened ({ local, uri }, level) {
      // No value of an attribute has a "<".
      if (level === 2) begin = local === name && uri === namespace ? text.lastIndexOf('<', parser.position - 1) : undefined
    },
    closed (_tag, level) {
      if (level === 2 && begin !== undefined) found.push(text.slice(begin, parser.position))
    }
  })
  parser.write(text).close()
  return found
}

/** Told of each element with its level; the root is 1. */
type Visitor = { opened: (tag: SaxesTagNS, level: number) => void, closed: (tag: SaxesTagNS, level: number) => void }

/** A parser that refuses document types, and what is too deep or too much. */
function boundedParser ({ opened, closed }: Visitor): SaxesParser<{ xmlns: true }> {
  const parser = new SaxesParser({ xmlns: true })
  let [elements, level] = [0, 0]
  parser.on('doctype', () => {
    throw new Error('a document type is not read')
  })
  parser.on('opentag', (tag) => {
    if (++elements > maxElements || ++level > deepest) {
      throw new Error(`more than ${maxElements} elements or ${deepest} levels are not read`)
    }
    opened(tag, level)
  })
  parser.on('closetag', (tag) => {
    closed(tag, level--)
  })
  return parser
}

type Element = { children: Map<string, Json[]>, text: string }

function valueOf ({ children, text }: Element): Json {
  if (children.size === 0) return text
  const fields = [...children].map(([name, values]): [string, Json] => [name, values.length === 1 ? values[0] ?? null : values])
  return Object.fromEntries(text.trim() === '' ? fields : [...fields, ['#text', text.trim()]])
}

/** XML in UTF-8 with its declaration. Throws a {@link RequestFailure} for what XML cannot carry. */
export function xmlText (fields: XmlFields): string {
  const roots = Object.entries(fields)
  const [root] = roots
  if (root === undefined || roots.length > 1 || Array.isArray(root[1])) throw unfit('An XML document has one root element.')
  return `<?xml version="1.0" encoding="UTF-8"?>${elementOf(...root)}`
}

function elementOf (name: string, value: XmlValue): string {
  if (value === undefined) return ''
  if (isList(value)) return value.map((item) => elementOf(name, item)).join('')
  const tag = nameOf(name)
  if (typeof value !== 'object') return `<${tag}>${escaped(String(value))}</${tag}>`
  const fields = Object.entries(value)
  const attributes = fields.filter(([field]) => field.startsWith('@')).map(([field, text]) => attributeOf(field.slice(1), text))
  const content = fields.filter(([field]) => !field.startsWith('@')).map(([field, child]) =>
    field === '#text' ? escaped(textOf(child)) : elementOf(field, child)
  )
  return `<${tag}${attributes.join('')}>${content.join('')}</${tag}>`
}

function attributeOf (name: string, value: XmlValue): string {
  return value === undefined ? '' : ` ${nameOf(name)}="${escaped(textOf(value))}"`
}

function textOf (value: XmlValue): string {
  if (typeof value === 'object') throw unfit('An attribute and "#text" of XML are texts.')
  return String(value ?? '')
}

function isList (value: XmlValue): value is readonly XmlValue[] {
  return Array.isArray(value)
}

/** A name, with or without prefix: the ASCII part of "Namespaces in XML", 4. */
function nameOf (name: string): string {
  if (!/^[A-Za-z_][\w.-]*(:[A-Za-z_][\w.-]*)?$/.test(name)) {
    throw unfit(`"${name.slice(0, 100)}" is no name of an XML element or attribute.`)
  }
  return name
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Line breaks and tabs are written as references, or a reader would make spaces of those in attributes. */
function escaped (text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what XML 1.0 leaves out (2.2)
  const [unfitting] = /[\0-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]/.exec(text) ?? []
  if (unfitting !== undefined) {
    const code = unfitting.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
    throw new RequestFailure('refused', `XML cannot carry the character U+${code}.`, { code: 'character', ours: true })
  }
  return text.toWellFormed().replaceAll(/[&<>"]/g, (one) => entities[one] ?? one).replaceAll(/[\t\n\r]/g,
    (one) => `&#${one.charCodeAt(0)};`)
}

function unfit (message: string): RequestFailure {
  return new RequestFailure('not done', message, { ours: true })
}
