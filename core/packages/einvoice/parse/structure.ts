import type { Problem } from '@dispatch/common'
import type { EInvoiceProfile } from '../model/profiles.ts'
import { type ContentRule, isGerman, peppolContent, sharedContent, ublContent, xrechnungContent } from './content.ts'
import { nodesAt } from './fields.ts'
import { bans, type Cardinality, ciiStructure, germanStructure, peppolStructure, sharedStructure, ublStructure,
  xrechnungStructure } from './structure-tables.ts'
import type { XmlNode } from './xml.ts'

/** A rule about the XML itself that a file breaks, with the element. */
export type StructureProblem = Problem & { node: XmlNode }

/**
 * The rules of EN 16931 about the XML of a file: what stands there too often, not at all, or nowhere in an invoice. To be asked before
 * anything is read, which takes attributes away. The extended profiles of Factur-X have more than the norm, and rules of their own.
 */
export function structureProblems (root: XmlNode, syntax: 'UBL' | 'CII', profile: EInvoiceProfile): StructureProblem[] {
  if (profile === 'EXTENDED' || profile === 'EXTENDED_CTC_FR') return []
  return [
    ...(syntax === 'UBL' ? ublStructure : ciiStructure).flatMap((rule) => brokenIn(root, rule)),
    ...profile === 'XRECHNUNG' ? xrechnung(root, syntax) : [],
    ...syntax === 'CII' ? banned(root) : unfitIn(root, ublContent),
    ...profile === 'PEPPOL' || profile === 'XRECHNUNG' ? shared(root, syntax) : [],
    ...profile === 'PEPPOL' ? peppol(root) : []
  ]
}

/** What Peppol and XRechnung both ask for. */
function shared (root: XmlNode, syntax: 'UBL' | 'CII'): StructureProblem[] {
  return [
    ...sharedStructure[syntax].flatMap((rule) => brokenIn(root, rule)),
    ...unfitIn(root, sharedContent[syntax]),
    ...empty(root),
    ...otherUnits(root, syntax)
  ]
}

/** What XRechnung asks for besides. */
function xrechnung (root: XmlNode, syntax: 'UBL' | 'CII'): StructureProblem[] {
  return [
    ...xrechnungStructure[syntax].flatMap((rule) => brokenIn(root, rule)),
    ...syntax === 'CII' ? unfitIn(root, xrechnungContent) : []
  ]
}

/** What Peppol asks for besides. */
function peppol (root: XmlNode): StructureProblem[] {
  const rules = isGerman(root) ? [...peppolStructure, ...germanStructure] : peppolStructure
  return [...rules.flatMap((rule) => brokenIn(root, rule)), ...unfitIn(root, peppolContent), ...otherCurrencies(root)]
}

/** Amounts in another currency than the invoice. */
function otherCurrencies (root: XmlNode): StructureProblem[] {
  const currency = nodesAt(root, 'cbc:DocumentCurrencyCode')[0]?.text.trim()
  const problems: StructureProblem[] = []
  const visit = (node: XmlNode): void => {
    const given = node.attributes.get('currencyID')
    // The VAT may be stated in the currency of its accounting too.
    const isOther = node.name === 'cbc:TaxAmount' && node.parent?.name === 'cac:TaxTotal' &&
      node.parent.children.every(({ name }) => name !== 'cac:TaxSubtotal')
    if (given !== undefined && given !== currency && !isOther) {
      problems.push({
        path: '',
        code: 'PEPPOL-EN16931-R051',
        message: `An amount is in the currency of the invoice, not in ${given.slice(0, 10)}.`,
        node
      })
    }
    for (const child of node.children) visit(child)
  }
  visit(root)
  return problems
}

/** Where a syntax has the lines, the quantity of one, and those that its prices are for. */
const quantities = {
  UBL: {
    lines: 'cac:InvoiceLine | cac:CreditNoteLine',
    quantity: 'cbc:InvoicedQuantity | cbc:CreditedQuantity',
    bases: 'cac:Price/cbc:BaseQuantity'
  },
  CII: {
    lines: 'rsm:SupplyChainTradeTransaction/ram:IncludedSupplyChainTradeLineItem',
    quantity: 'ram:SpecifiedLineTradeDelivery/ram:BilledQuantity',
    bases: ['Gross', 'Net'].map((kind) => `ram:SpecifiedLineTradeAgreement/ram:${kind}PriceProductTradePrice/ram:BasisQuantity`).join(' | ')
  }
}

/** Prices for another unit than their line. */
function otherUnits (root: XmlNode, syntax: 'UBL' | 'CII'): StructureProblem[] {
  const { lines, quantity, bases } = quantities[syntax]
  return nodesAtAny(root, lines).flatMap((line, index) => {
    const [given] = nodesAtAny(line, quantity)
    const isOther = ({ attributes }: XmlNode): boolean =>
      attributes.has('unitCode') && given !== undefined && given.attributes.get('unitCode') !== attributes.get('unitCode')
    return nodesAtAny(line, bases).filter(isOther).map((node) => ({
      path: `/lines/${placeOf(line, index)}/${
        node.parent?.name === 'ram:GrossPriceProductTradePrice' ? 'grossPriceQuantity' : 'priceQuantity'
      }`,
      code: 'PEPPOL-EN16931-R130',
      message: 'A price is for a quantity in the unit of its line.',
      node
    }))
  })
}

/** The elements at several paths. */
function nodesAtAny (node: XmlNode, paths: string): XmlNode[] {
  return paths === '' ? [node] : paths.split(' | ').flatMap((path) => nodesAt(node, path))
}

function brokenIn (root: XmlNode, { id, within, at, what, least = 0, max = Infinity, ...counted }: Cardinality): StructureProblem[] {
  return nodesAtAny(root, within).flatMap((node, index) => {
    const found = countedIn(node, counted)
    if (found.length >= least && found.length <= max) return []
    const message = found.length < least
      ? `${what} is missing.`
      : max === 0
      ? `${what} has no place here.`
      : `${what} stands ${max === 1 ? 'once' : `${max} times`} at most: the file has ${found.length}.`
    return [{ path: at.replace('*', String(placeOf(node, index))), code: id, message, node: found[max] ?? node }]
  })
}

/** The elements whose content breaks a rule. */
function unfitIn (root: XmlNode, rules: readonly ContentRule[]): StructureProblem[] {
  return rules.flatMap(({ id, within, at, message, holds }) =>
    nodesAtAny(root, within).flatMap((node, index) =>
      holds(node, root) ? [] : [{ path: at.replace('*', String(placeOf(node, index))), code: id, message, node }]
    )
  )
}

/** The place of an element in its list of the data, where lines that stand in a line come between that and the next one. */
function placeOf (node: XmlNode, index: number): number {
  if (!/^cac:(Invoice|CreditNote)Line$/.test(node.name)) return index
  const siblings = node.parent?.children ?? []
  return siblings.slice(0, siblings.indexOf(node)).reduce(
    (place, { name, children }) => name === node.name ? place + linesIn(children) : place,
    index
  )
}

/** The lines among some elements, and those that stand in them. */
function linesIn (nodes: readonly XmlNode[]): number {
  return nodes.reduce((count, { name, children }) => /^cac:Sub(Invoice|CreditNote)Line$/.test(name) ? count + 1 + linesIn(children) : count,
    0)
}

/** What a rule counts: elements, those that have an attribute, or different values. */
function countedIn (
  node: XmlNode,
  { path, attribute, different = false }: Pick<Cardinality, 'path' | 'attribute' | 'different'>
): XmlNode[] {
  const found = nodesAtAny(node, path).filter(({ attributes }) => attribute === undefined || attributes.has(attribute))
  return different ? [...new Map(found.toReversed().map((one) => [one.text.trim(), one])).values()].reverse() : found
}

/** Elements and attributes that have no place in an invoice of CII. */
function banned (root: XmlNode): StructureProblem[] {
  const problems: StructureProblem[] = []
  const visit = (node: XmlNode): void => {
    for (const ban of bans) {
      if (!node.name.endsWith(ban.in) || !node.name.startsWith('ram:') || ban.except?.(node) === true) continue
      for (const [id, name, allowed] of ban.names) {
        const found = name.startsWith('@') ? node.attributes.has(name.slice(1)) ? node : undefined : childOf(node, name)
        if (found === undefined || allowed?.(node) === true) continue
        problems.push({ path: '', code: id, message: `${name} has no place in ${node.name}.`, node: found })
      }
    }
    for (const child of node.children) visit(child)
  }
  visit(root)
  return problems
}

function childOf ({ children }: XmlNode, name: string): XmlNode | undefined {
  return children.find((child) => child.name === name)
}

/** Elements with nothing in them; that of the delivery must be there in CII. */
function empty (root: XmlNode): StructureProblem[] {
  const problems: StructureProblem[] = []
  const visit = (node: XmlNode): void => {
    if (node.children.length === 0 && node.text.trim() === '' && node.name !== 'ram:ApplicableHeaderTradeDelivery') {
      problems.push({ path: '', code: 'PEPPOL-EN16931-R008', message: 'An element has something in it.', node })
    }
    for (const child of node.children) visit(child)
  }
  visit(root)
  return problems
}
