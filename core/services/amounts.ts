import { decimalOf, isRecord, type Json, type JsonObject, Money } from '@dispatch/common'
import type { Decimal } from 'decimal.js'
import { at } from './data.ts'

const zero = new Money(0)

/** The numbers of an invoice as decimals, as far as its data has them. Rates are in percent. */
export type Amounts = {
  lines: readonly LineAmounts[]
  subtotal: Decimal | undefined
  taxRate: Decimal | undefined
  taxAmount: Decimal | undefined
  total: Decimal | undefined
  /** Charges less allowances; undefined where one has no amount. */
  adjustment: Decimal | undefined
}
export type LineAmounts = Record<'quantity' | 'unitPrice' | 'priceQuantity' | 'taxRate' | 'total' | 'adjustment', Decimal | undefined>

/** Reads each number once, because creating decimals is the main cost of checking an invoice. */
export function readAmounts (data: JsonObject): Amounts {
  const { subtotal, taxRate, taxAmount, total } = data
  return {
    lines: objectsOf(data['lines']).map(readLine),
    subtotal: decimalOf(subtotal),
    taxRate: decimalOf(taxRate),
    taxAmount: decimalOf(taxAmount),
    total: decimalOf(total),
    adjustment: adjustmentOf(data)
  }
}

function readLine (line: JsonObject): LineAmounts {
  const { quantity, unitPrice, priceQuantity, taxRate, total } = line
  return {
    quantity: decimalOf(quantity),
    unitPrice: decimalOf(unitPrice),
    priceQuantity: decimalOf(priceQuantity),
    taxRate: decimalOf(taxRate),
    total: decimalOf(total),
    adjustment: adjustmentOf(line)
  }
}

function adjustmentOf ({ allowances, charges }: JsonObject): Decimal | undefined {
  if (allowances === undefined && charges === undefined) return zero
  const [taken, added] = [amountsOf(allowances), amountsOf(charges)]
  return taken === undefined || added === undefined ? undefined : added.sub(taken)
}

function amountsOf (list: Json | undefined): Decimal | undefined {
  let sum = zero
  for (const { amount } of objectsOf(list)) {
    const term = decimalOf(amount)
    if (term === undefined) return undefined
    sum = sum.add(term)
  }
  return sum
}

/** An item that is not an object has no amounts, but keeps its index. */
function objectsOf (list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list)
    ? list.map((item: Json) => isRecord(item) ? item : {})
    : []
}

/** The number or decimal text at a JSON pointer, exactly. */
export function decimalAt (data: Json, pointer: string): Decimal | undefined {
  return decimalOf(at(data, pointer))
}

/** The sum over all lines, or undefined when there are none or one has no value. */
export function sumOf (lines: readonly LineAmounts[], value: (line: LineAmounts) => Decimal | undefined): Decimal | undefined {
  let sum = zero
  for (const line of lines) {
    const term = value(line)
    if (term === undefined) return undefined
    sum = sum.add(term)
  }
  return lines.length === 0 ? undefined : sum
}
