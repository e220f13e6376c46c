import type { JsonObject } from '@dispatch/common'
import { type Fields, type File, mark, read } from './fields.ts'
import type { XmlNode } from './xml.ts'

/**
 * Whether another means of payment says nothing that one does not say, but for some of its elements. What it repeats is read. A file may
 * state what both have in common once.
 */
export function samePayment (one: XmlNode, other: XmlNode, but: readonly string[]): boolean {
  if (!repeats(one, other, but)) return false
  const markAll = (node: XmlNode): void => {
    mark(node)
    node.attributes.clear()
    for (const child of node.children) if (!but.includes(child.name)) markAll(child)
  }
  markAll(other)
  return true
}

function repeats (one: XmlNode, other: XmlNode, but: readonly string[]): boolean {
  return one.text.trim() === other.text.trim() && [...other.attributes].every(([name, text]) => one.attributes.get(name) === text) &&
    other.children.every((child) =>
      but.includes(child.name) || one.children.some((known) => known.name === child.name && repeats(known, child, but))
    )
}

/** An account. What looks like an IBAN is one. */
export function accountOf (node: XmlNode, at: string, fields: Fields, file: File): JsonObject[] {
  const { account, ...found } = read(node, at, fields, file)
  if (account === undefined && Object.keys(found).length === 0) return []
  file.nodes.set(at, node)
  if (typeof account !== 'string') return [found]
  const isIban = /^[A-Z]{2}\d{2}[A-Z0-9]{8,30}$/.test(account)
  const [from] = [file.nodes.get(`${at}/account`) ?? node]
  if (isIban) file.nodes.set(`${at}/iban`, from)
  return [isIban ? { iban: account, ...found } : { account, ...found }]
}
