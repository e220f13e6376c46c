import { dayOf, type Json, type JsonObject } from '@dispatch/common'
import type { XmlNode } from './xml.ts'

/** What reading needs beside the elements: `nodes` gets the element of each value, by its pointer in the data. */
export type File = {
  nodes: Map<string, XmlNode>
  currency: string | undefined
  taxCurrency: string | undefined
  /** The unit that was read last: that of the line at hand. */
  unit?: string | undefined
}

/** Reads a value of the data from below an element. `at` is its pointer. What it reads is marked. */
export type Field = (node: XmlNode, at: string, file: File) => Json | undefined

/** A step of a path: an element, with what stands in it or is an attribute of it. */
type Step = { name: string, tests: readonly Test[] }
type Test = { path: readonly string[], attribute: string | undefined, isOther: boolean, value: string }

/**
 * Paths such as `cac:Party/cbc:Name`, `ram:ID[@schemeID=VA]` and `cac:PartyTaxScheme[cac:TaxScheme/cbc:ID!=VAT]`. What `=` asks for is read
 * with the element.
 */
function stepsOf (path: string): Step[] {
  return [...path.matchAll(/([^/[\]]+)((?:\[[^\]]*\])*)(?:\/|$)/g)].map(([, name = '', tests = '']) => ({
    name,
    tests: [...tests.matchAll(/\[(@?)([^!=\]]+)(!?)=([^\]]*)\]/g)].map(([, isAttribute, where = '', other, value = '']) => ({
      path: isAttribute === '@' ? [] : where.split('/'),
      attribute: isAttribute === '@' ? where : undefined,
      isOther: other === '!',
      value
    }))
  }))
}

const known = new Map<string, readonly Step[]>()

function parsed (path: string): readonly Step[] {
  const found = known.get(path) ?? stepsOf(path)
  known.set(path, found)
  return found
}

/** The elements at a path below an element. */
export function nodesAt (node: XmlNode, path: string): XmlNode[] {
  let nodes = [node]
  // Hundreds of paths are asked for in each line, most of which nothing stands at.
  for (const { name, tests } of parsed(path)) {
    const found: XmlNode[] = []
    for (const { children } of nodes) {
      for (const child of children) {
        if (child.name === name && tests.every((test) => fits(child, test))) found.push(child)
      }
    }
    if (found.length === 0) return found
    nodes = found
  }
  return nodes
}

function fits (node: XmlNode, test: Test): boolean {
  return (testedText(node, test) === test.value) !== test.isOther
}

function testedText (node: XmlNode, { path, attribute }: Test): string | undefined {
  if (attribute !== undefined) return node.attributes.get(attribute)
  const tested = testedNode(node, path)
  const text = tested?.text.trim()
  return tested?.name.endsWith('Indicator') === true ? ({ 0: 'false', 1: 'true' } as Record<string, string>)[text ?? ''] ?? text : text
}

function testedNode (node: XmlNode, path: readonly string[]): XmlNode | undefined {
  let found: XmlNode | undefined = node
  for (const name of path) found = found?.children.find((child) => child.name === name)
  return found
}

/** Marks what the tests of a path asked for, from an element of it up. */
function markTested (node: XmlNode, path: string): void {
  let one: XmlNode | undefined = node
  for (const { tests } of parsed(path).toReversed()) {
    for (const test of tests) {
      if (one === undefined || test.isOther) continue
      if (test.attribute === undefined) mark(testedNode(one, test.path))
      else attribute(one, test.attribute)
    }
    one = one?.parent
  }
}

/** The text of the element is read. */
export function mark (node: XmlNode | undefined): void {
  if (node !== undefined) node.isRead = true
}

/** The text at a path, of the first element that has one; undefined where there is none. */
export function textOf (node: XmlNode, path: string): { text: string, from: XmlNode } | undefined {
  for (const from of nodesAt(node, path)) {
    const text = from.text.trim()
    if (text === '' || from.isRead) continue
    mark(from)
    markTested(from, path)
    return { text, from }
  }
  return undefined
}

/** An attribute of an element, once. */
export function attribute (node: XmlNode, name: string): string | undefined {
  const value = node.attributes.get(name)
  node.attributes.delete(name)
  const text = value?.trim()
  return text === '' ? undefined : text
}

/** An attribute that says nothing new where it has this value; otherwise it stays unread. */
export function expected (node: XmlNode | undefined, name: string, value: string | undefined): void {
  if (node !== undefined && node.attributes.get(name) === value) node.attributes.delete(name)
}

export function text (path: string): Field {
  return (node, at, { nodes }) => {
    const found = textOf(node, path)
    if (found !== undefined) nodes.set(at, found.from)
    return found?.text
  }
}

/** A number as the data write it. XML permits a sign and points without digits. */
export function numberOf (text: string): string {
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) ? text.replace(/^\+/, '').replace(/^(-?)\./, '$10.').replace(/\.$/, '') : text
}

/** A number. */
export function number (path: string): Field {
  return (node, at, file) => {
    const found = textOf(node, path)
    if (found === undefined) return undefined
    file.nodes.set(at, found.from)
    return numberOf(found.text)
  }
}

/** An amount in the currency of the invoice, or in that of its VAT accounting. */
export function money (path: string, of: 'currency' | 'taxCurrency' = 'currency'): Field {
  const read = number(path)
  return (node, at, file) => {
    const value = read(node, at, file)
    expected(file.nodes.get(at), 'currencyID', file[of])
    return value
  }
}

/** How many a price is for. Its unit is that of the line, whose quantity names it. */
export function measured (path: string): Field {
  const field = number(path)
  return (node, at, file) => {
    const value = field(node, at, file)
    expected(file.nodes.get(at), 'unitCode', file.unit)
    return value
  }
}

/** A day. UN/CEFACT writes it with format 102: YYYYMMDD. */
export function date (path: string): Field {
  return (node, at, { nodes }) => {
    const found = textOf(node, path)
    if (found === undefined) return undefined
    nodes.set(at, found.from)
    expected(found.from, 'format', '102')
    return found.text.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3')
  }
}

/** A day of XML Schema, without its offset. */
export function day (path: string): Field {
  const read = text(path)
  return (node, at, file) => {
    const value = read(node, at, file)
    return typeof value === 'string' ? dayOf(value) ?? value : value
  }
}

/** An identifier with its scheme. */
export function schemed (path: string): Field {
  return (node, at, file) => {
    const found = textOf(node, path)
    return found === undefined ? undefined : identifier(found, at, file)
  }
}

function identifier ({ text: id, from }: { text: string, from: XmlNode }, at: string, { nodes }: File): JsonObject {
  for (const place of [at, `${at}/id`]) nodes.set(place, from)
  const scheme = attribute(from, 'schemeID')
  if (scheme !== undefined) nodes.set(`${at}/scheme`, from)
  return { id, ...(scheme === undefined ? {} : { scheme }) }
}

/** The identifiers at some paths: one, or a list. */
export function identifiers (...paths: string[]): Field {
  return (node, at, file) => {
    const found = paths.flatMap((path) =>
      nodesAt(node, path).flatMap((from) => {
        const id = from.text.trim()
        if (id === '') return []
        mark(from)
        markTested(from, path)
        return [{ text: id, from }]
      })
    )
    const [first, ...others] = found
    if (first === undefined) return undefined
    return others.length === 0 ? identifier(first, at, file) : found.map((one, index) => identifier(one, `${at}/${index}`, file))
  }
}

/** The unit of a quantity. */
export function unitOf (path: string): Field {
  const field = attributeAt(path, 'unitCode')
  return (node, at, file) => {
    const unit = field(node, at, file)
    file.unit = typeof unit === 'string' ? unit : undefined
    return unit
  }
}

/** An attribute of the element at a path. */
export function attributeAt (path: string, name: string): Field {
  return (node, at, { nodes }) => {
    const [from] = nodesAt(node, path)
    const value = from === undefined ? undefined : attribute(from, name)
    if (from !== undefined && value !== undefined) nodes.set(at, from)
    return value
  }
}

export type Fields = Readonly<Record<string, Field>>

/** The fields that are there. */
export function read (node: XmlNode, at: string, fields: Fields, file: File): JsonObject {
  const found: Record<string, Json> = {}
  for (const name in fields) {
    const value = fields[name]?.(node, `${at}/${name}`, file)
    if (value !== undefined) found[name] = value
  }
  return found
}

/** The group at a path: the fields of its first element. */
export function group (path: string, fields: Fields): Field {
  return (node, at, file) => {
    const [first] = nodesAt(node, path)
    return first === undefined ? undefined : groupOf(first, { path, at, fields, file })
  }
}

type Group = { path: string, at: string, fields: Fields, file: File }

function groupOf (node: XmlNode, { path, at, fields, file }: Group): JsonObject | undefined {
  const found = read(node, at, fields, file)
  if (Object.keys(found).length === 0) return undefined
  markTested(node, path)
  file.nodes.set(at, node)
  return found
}

/** A list of groups, one for each element at a path. */
export function list (path: string, fields: Fields): Field {
  return (node, at, file) => {
    const found: JsonObject[] = []
    for (const one of nodesAt(node, path)) {
      const made = groupOf(one, { path, at: `${at}/${found.length}`, fields, file })
      if (made !== undefined) found.push(made)
    }
    return found.length === 0 ? undefined : found
  }
}

/** Base64, which may be broken into lines. */
export function content (path: string): Field {
  const field = text(path)
  return (node, at, file) => {
    const found = field(node, at, file)
    return typeof found === 'string' ? found.replaceAll(/\s+/g, '') : found
  }
}
