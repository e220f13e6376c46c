import type { Json, JsonObject } from '../contract/json.ts'
import { decimal, plus, zero, type Decimal } from './decimal.ts'

/** The numbers of an invoice, as far as its data has them; the data schema says what must be one. Rates are in percent. */
export type Amounts = {
  lines: readonly LineAmounts[]
  subtotal: Decimal | undefined
  taxRate: Decimal | undefined
  taxAmount: Decimal | undefined
  total: Decimal | undefined
}
export type LineAmounts = Record<'quantity' | 'unitPrice' | 'taxRate' | 'total', Decimal | undefined>

/** Reads each number once, for all the rules that look at it. */
export function readAmounts (data: JsonObject): Amounts {
  const { subtotal, taxRate, taxAmount, total } = data
  return { lines: linesOf(data).map(readLine), subtotal: decimal(subtotal), taxRate: decimal(taxRate), taxAmount: decimal(taxAmount), total: decimal(total) }
}

function readLine ({ quantity, unitPrice, taxRate, total }: JsonObject): LineAmounts {
  return { quantity: decimal(quantity), unitPrice: decimal(unitPrice), taxRate: decimal(taxRate), total: decimal(total) }
}

/** What is no line has no amounts, but keeps its place. */
function linesOf ({ lines }: JsonObject): readonly JsonObject[] {
  return Array.isArray(lines) ? lines.map((line: Json) => typeof line === 'object' && line !== null && !Array.isArray(line) ? line as JsonObject : {}) : []
}

/** The sum over all lines, or undefined when there are none or one has no value. */
export function sumOf (lines: readonly LineAmounts[], value: (line: LineAmounts) => Decimal | undefined): Decimal | undefined {
  let sum = zero
  for (const line of lines) {
    const term = value(line)
    if (term === undefined) return undefined
    sum = plus(sum, term)
  }
  return lines.length === 0 ? undefined : sum
}
