import type { Json, JsonObject, Problem } from '@dispatch/common'
import { type EInvoiceFormat, type EInvoiceProfile, eInvoiceProfiles, profiles, reaches } from './model/profiles.ts'
import { totalsOf } from './model/totals.ts'
import { parseCii } from './parse/cii.ts'
import { permitsOf } from './parse/extensions.ts'
import { nodesAt } from './parse/fields.ts'
import type { Parsed } from './parse/parsed.ts'
import { embeddedInvoice } from './parse/pdf.ts'
import { type StructureProblem, structureProblems } from './parse/structure.ts'
import { parseUbl } from './parse/ubl.ts'
import { type Place, UnreadableInvoice } from './parse/unreadable.ts'
import { parseXml, pathOf, type XmlNode } from './parse/xml.ts'
import { modelOf } from './read/read.ts'
import { checkEInvoice } from './rules/check.ts'
import { statedProblems } from './rules/stated-sums.ts'

/** A broken rule. `path` is the pointer into the data; `element` and `place` say where it is in the XML, or where it would have to be. */
export type PlacedProblem = Problem & Place & { element: string }

/** What stands in the file and not in the data. */
export type LostPart = Place & { element: string, value: string }

/** The sums of the data, as this service computes them. */
export type RecomputedTotals =
  & Record<'subtotal' | 'allowances' | 'charges' | 'taxBase' | 'taxAmount' | 'total' | 'amountDue', string>
  & { taxes: readonly { category: string, rate: string | undefined, base: string, amount: string }[] }

/**
 * An invoice that was read from a file. `embedded`: its name in the PDF. `specification`: BT-24 as the file has it. `lost` has the first
 * {@link maxLost} of `lostCount` elements and attributes.
 */
export type InvoiceFile = {
  format: EInvoiceFormat
  profile: EInvoiceProfile
  specification: string | undefined
  embedded: string | undefined
  data: JsonObject
  totals: RecomputedTotals
  problems: readonly PlacedProblem[]
  warnings: readonly PlacedProblem[]
  lost: readonly LostPart[]
  lostCount: number
}

/** More lost parts are counted, and not listed; nor are more broken rules. */
const maxLost = 1000
/** The largest file, and the largest XML in a PDF, in bytes. */
export const largestInvoice = 25 * 1024 * 1024

/**
 * Reads an invoice in UBL or CII, or in a PDF that contains one. The time is that of its size: but nothing ends it early, so files of
 * strangers are read in a thread. Throws {@link UnreadableInvoice}.
 */
export function readInvoice (bytes: Uint8Array): InvoiceFile {
  if (bytes.length > largestInvoice) {
    throw new UnreadableInvoice('too_large', `An invoice may have ${largestInvoice / 1024 / 1024} MiB, not ${bytes.length} bytes.`)
  }
  const embedded = isPdf(bytes) ? embeddedInvoice(bytes, largestInvoice) : undefined
  const root = parseXml(embedded?.bytes ?? bytes)
  const { parse, syntax, specification } = parserOf(root)
  const format = embedded === undefined ? syntax : 'FACTUR_X'
  const profile = profileIn(nodesAt(root, specification)[0]?.text.trim(), format)
  const structure = structureProblems(root, syntax, profile)
  return { format, profile, embedded: embedded?.name, ...checked(parse(root), { root, format, profile, structure }) }
}

function isPdf (bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).includes('%PDF-')
}

/** How a syntax is read, and where it has BT-24. */
type Syntax = { syntax: 'UBL' | 'CII', parse: (root: XmlNode) => Parsed, specification: string }
const ubl: Syntax = { syntax: 'UBL', parse: parseUbl, specification: 'cbc:CustomizationID' }
const cii: Syntax = {
  syntax: 'CII',
  parse: parseCii,
  specification: 'rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID'
}

function parserOf (root: XmlNode): Syntax {
  const { name } = root
  if (name === 'Invoice' || name === 'CreditNote') return ubl
  if (name === 'rsm:CrossIndustryInvoice') return cii
  const [, namespace, local = name] = /^\{(.*)\}(.*)$/s.exec(name) ?? []
  const what = local === 'CrossIndustryDocument'
    ? 'ZUGFeRD 1.0, which is older than EN 16931'
    : local.startsWith('SCRDMCCBDACIO')
    ? 'an order (Order-X)'
    : `"${local.slice(0, 100)}"${namespace === undefined ? '' : ` of the namespace "${namespace.slice(0, 100)}"`}`
  throw new UnreadableInvoice('not_an_invoice',
    `The XML is ${what}: read are Invoice and CreditNote of UBL 2.1, and CrossIndustryInvoice of CII D16B.`, {
    place: { line: root.line, column: root.column }
  })
}

/** The profile of a specification (BT-24), where it is one of ours in this format; the nearest otherwise. */
function profileIn (specification: string | undefined, format: EInvoiceFormat): EInvoiceProfile {
  const named = eInvoiceProfiles.find((name) => profiles[name].specification === specification) ??
    near.find(([pattern]) => pattern.test(specification ?? ''))?.[1] ?? 'EN16931'
  return profiles[named].formats.includes(format) || (format === 'FACTUR_X' && profiles[named].formats.includes('CII')) ? named : 'EN16931'
}

/** Earlier versions, extensions and other spellings of the profiles. */
const near: readonly (readonly [RegExp, EInvoiceProfile])[] = [
  [/peppol\.eu:2017:poacc:billing/, 'PEPPOL'],
  [/xrechnung/i, 'XRECHNUNG'],
  [/extended-ctc-fr/, 'EXTENDED_CTC_FR'],
  [/(factur-x\.eu|zugferd\.de).*:minimum$/i, 'MINIMUM'],
  [/(factur-x\.eu|zugferd\.de).*:basicwl$/i, 'BASIC_WL'],
  [/(factur-x\.eu|zugferd\.de).*:basic$/i, 'BASIC'],
  [/(factur-x\.eu|zugferd\.de).*:extended$/i, 'EXTENDED']
]

type Whole = { root: XmlNode, format: EInvoiceFormat, profile: EInvoiceProfile, structure: readonly StructureProblem[] }

function checked (parsed: Parsed, { root, format, profile, structure }: Whole): Omit<InvoiceFile, 'format' | 'profile' | 'embedded'> {
  const { specification, file } = parsed
  const { level } = profiles[profile]
  const [hasLines, hasGroups] = [reaches(level, 'BASIC'), reaches(level, 'BASIC_WL')]
  const taxes = hasLines || !hasGroups ? {} : { taxes: parsed.taxes.map(taxData) }
  const data: JsonObject = { ...parsed.data, eInvoiceProfile: profile, ...taxes }
  // A profile of XML alone stands in a PDF too.
  const reading = { format: profiles[profile].formats.includes(format) ? format : 'CII', currency: undefined } as const
  const found = checkEInvoice(data, reading, '')
  const placedAt = (problem: Problem, node: XmlNode): PlacedProblem => ({
    ...problem,
    element: pathOf(node),
    line: node.line,
    column: node.column
  })
  const placed = (problem: Problem): PlacedProblem => placedAt(problem, placeOf(problem.path, file.nodes, root))
  // The file's own sums are held against its own parts.
  const sums = new Set(['/subtotal', '/taxAmount', '/total', '/amountDue'])
  const isSum = ({ code, path }: Problem): boolean => code.startsWith('BR-CO-') && sums.has(path)
  // The norm takes any text as the place of a supporting document (BT-124).
  const isPlace = ({ code, path }: Problem): boolean => code === 'format' && /^\/attachments\/\d+\/url$/.test(path)
  // What an e-invoice of ours would leave out is no rule that the file breaks.
  const isAdvice = (problem: Problem): boolean => isSum(problem) || isPlace(problem) || problem.code === 'other_means'
  // The rule of the profile says it (PEPPOL-EN16931-R007).
  const isProcess = ({ code, path }: Problem): boolean => code === 'not_in_profile' && path === '/businessProcess'
  const own = found.problems.filter((one) => !isAdvice(one) && !isProcess(one))
  const stated = statedProblems(parsed, { profile, hasLines, hasGroups })
  const known = new Set(own.map(({ code, path }) => `${code} ${path}`))
  const isNew = ({ code, path }: Problem): boolean => !known.has(`${code} ${path}`)
  const permits = permitsOf(specification?.text, root)
  if (specification !== undefined && specification.text !== profiles[profile].specification) specification.from.isRead = false
  return {
    specification: specification?.text,
    data,
    totals: recomputed(data, reading),
    problems: [
      ...[...own, ...stated.filter(isNew)]
        .filter((problem) => !permits(problem, data)).map(placed),
      ...structure.map(({ node, ...problem }) => placedAt(problem, node))
    ].slice(0, maxLost),
    warnings: [
      ...found.warnings,
      ...found.problems.filter(isAdvice).map((problem) => isSum(problem) ? { ...problem, code: 'recomputed' } : problem)
    ].slice(0, maxLost).map(placed),
    ...lostIn(root)
  }
}

function taxData ({ node: _, code, ...tax }: Parsed['taxes'][number]): Json {
  return { ...tax, ...(code === undefined ? {} : { reasonCode: code }) }
}

/** The element of a value, or of what it would stand in. */
function placeOf (path: string, nodes: ReadonlyMap<string, XmlNode>, root: XmlNode): XmlNode {
  for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const node = nodes.get(at)
    if (node !== undefined) return node
  }
  return root
}

/** What nobody has read, texts and attributes: the first of them, and how many there are. */
function lostIn (root: XmlNode): Pick<InvoiceFile, 'lost' | 'lostCount'> {
  const lost: LostPart[] = []
  let lostCount = 0
  const add = (node: XmlNode, value: string, attribute = ''): void => {
    const said = value.trim()
    if (said === '' || ++lostCount > maxLost) return
    lost.push({ element: pathOf(node) + attribute, value: said.slice(0, 500), line: node.line, column: node.column })
  }
  const visit = (node: XmlNode): void => {
    if (!node.isRead) add(node, node.text)
    for (const [name, value] of node.attributes) add(node, value, `/@${name}`)
    for (const child of node.children) visit(child)
  }
  visit(root)
  return { lost, lostCount }
}

function recomputed (data: JsonObject, reading: Parameters<typeof modelOf>[1]): RecomputedTotals {
  const { lines, allowances, charges, base, tax, total, due, taxes } = totalsOf(modelOf(data, reading))
  return {
    subtotal: lines.toFixed(2),
    allowances: allowances.toFixed(2),
    charges: charges.toFixed(2),
    taxBase: base.toFixed(2),
    taxAmount: tax.toFixed(2),
    total: total.toFixed(2),
    amountDue: due.toFixed(2),
    taxes: taxes.map((group) => ({
      category: group.category,
      rate: group.rate?.toFixed(),
      base: group.base.toFixed(2),
      amount: group.amount.toFixed(2)
    }))
  }
}
