import type { JsonObject } from '@dispatch/common'
import { type Fields, type File, mark, read } from './fields.ts'
import type { XmlNode } from './xml.ts'

/** Whether two means of payment are the same but for some of their elements. Those that are the same are read. */
export function samePayment (one: XmlNode, other: XmlNode, but: readonly string[]): boolean {
  const said = ({ text, attributes, children }: XmlNode): unknown => [
    text.trim(),
    [...attributes],
    children.filter(({ name }) => !but.includes(name)).map((child) => [child.name, said(child)])
  ]
  if (JSON.stringify(said(one)) !== JSON.stringify(said(other))) return false
  const markAll = (node: XmlNode): void => {
    mark(node)
    node.attributes.clear()
    for (const child of node.children) if (!but.includes(child.name)) markAll(child)
  }
  markAll(other)
  return true
}

/** An account. What looks like an IBAN is one. */
export function accountOf (node: XmlNode, at: string, fields: Fields, file: File): JsonObject[] {
  const { account, ...found } = read(node, at, fields, file)
  if (account === undefined && Object.keys(found).length === 0) return []
  file.places.set(at, node)
  if (typeof account !== 'string') return [found]
  const isIban = /^[A-Z]{2}\d{2}[A-Z0-9]{8,30}$/.test(account)
  const [from] = [file.places.get(`${at}/account`) ?? node]
  if (isIban) file.places.set(`${at}/iban`, from)
  return [isIban ? { iban: account, ...found } : { account, ...found }]
}
