import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { taxedCategories } from '../model/codes.ts'
import { isCountedIn } from '../model/sub-lines.ts'
import { type Fields, type File, read } from './fields.ts'
import type { XmlNode } from './xml.ts'

const parts = ['category', 'rate', 'base', 'amount', 'reason', 'code'] as const

/** A breakdown of VAT as the file states it (BG-23). */
export type FoundTax = Partial<Record<typeof parts[number], string>> & { node: XmlNode }

/** The breakdown in an element. */
export function taxOf (node: XmlNode, fields: Fields, file: File): FoundTax {
  const found = read(node, '/-', fields, file)
  const tax: FoundTax = { node }
  for (const part of parts) {
    const value = found[part]
    if (typeof value === 'string') tax[part] = value
  }
  return tax
}

/**
 * What an invoice in a file says. `specification` is BT-24; `stated` are sums that the data have no place for: the total without VAT, and
 * those of the allowances and the charges.
 */
export type Parsed = {
  data: JsonObject
  specification: { text: string, from: XmlNode } | undefined
  stated: JsonObject
  taxes: readonly FoundTax[]
  file: File
}

/** Lines in the words of the data, where a name alone is the description. */
export function withNames (lines: Json | undefined, { nodes }: File): JsonObject[] | undefined {
  return Array.isArray(lines)
    ? (lines as readonly Json[]).filter((line): line is JsonObject => isRecord(line)).map((line, index) => {
      const { name, ...others } = line
      if (name === undefined || others['description'] !== undefined) return line
      const from = nodes.get(`/lines/${index}/name`)
      if (from !== undefined) nodes.set(`/lines/${index}/description`, from)
      return { ...others, description: name }
    })
    : undefined
}

/**
 * With the reasons why no VAT is due. The data give them for the whole invoice, or where there are several for the first part of each
 * category.
 */
export function withExemptions (parsed: Parsed): Parsed {
  const reasons = parsed.taxes.filter(({ reason, code }) => reason !== undefined || code !== undefined)
  const free = parsed.taxes.filter(({ category }) => category !== undefined && !taxedCategories.has(category))
  const [only] = reasons
  if (only === undefined) return parsed
  const isWhole = free.length === 1 && reasons.length === 1 && free[0] === only
  return {
    ...parsed,
    data: isWhole
      ? withReason(parsed.data, '', only, parsed.file)
      : reasons.reduce((data, tax) => withOwn(data, tax, parsed.file), parsed.data)
  }
}

function withReason (data: JsonObject, at: string, { reason, code, node }: FoundTax, { nodes }: File): JsonObject {
  for (const name of ['taxExemptionReason', 'taxExemptionCode']) nodes.set(`${at}/${name}`, node)
  return {
    ...data,
    ...(reason === undefined ? {} : { taxExemptionReason: reason }),
    ...(code === undefined ? {} : { taxExemptionCode: code })
  }
}

function withOwn (data: JsonObject, tax: FoundTax, file: File): JsonObject {
  for (const name of ['lines', 'allowances', 'charges']) {
    const parts = data[name]
    if (!Array.isArray(parts)) continue
    const index = parts.findIndex((part) => isRecord(part) && isCountedIn(part as JsonObject) && part['taxCategory'] === tax.category)
    const part: unknown = parts[index]
    if (isRecord(part)) {
      return { ...data, [name]: parts.with(index, withReason(part as JsonObject, `/${name}/${index}`, tax, file)) as Json }
    }
  }
  return withReason(data, '', tax, file)
}
