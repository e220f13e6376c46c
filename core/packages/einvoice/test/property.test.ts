import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import t from 'tap'
import type { JsonObject } from '../../common/json.ts'
import { invoices } from './arbitrary.ts'
import { misplaced } from './sequences.ts'
import { cii, reported, ubl } from './support.ts'
import { all, type Element, elements, textAt } from './xml.ts'

const runs = 300

function amountAt (root: Element, path: string): Decimal {
  return new Decimal(textAt(root, path) ?? 0)
}

function sum (amounts: readonly string[]): Decimal {
  return amounts.reduce((so, amount) => so.add(amount), new Decimal(0))
}

const textsAt = (root: Element, path: string): string[] => all(root, path).map(({ text }) => text)

/** The amounts of a document, whatever its syntax: what each sum is, and what it is made of. */
type Sums = Record<'lines' | 'allowances' | 'charges' | 'base' | 'tax' | 'total' | 'prepaid' | 'rounding' | 'due', Decimal> & {
  nets: string[]
  taken: string[]
  added: string[]
  groups: { base: Decimal, tax: Decimal, rate: Decimal }[]
}

function ublSums (root: Element): Sums {
  const totals = all(root, 'LegalMonetaryTotal')[0] ?? root
  const adjustments = (is: string): string[] =>
    all(root, 'AllowanceCharge').filter((one) => textAt(one, 'ChargeIndicator') === is).map((one) => textAt(one, 'Amount') ?? '0')
  const taxTotal = all(root, 'TaxTotal')[0] ?? root
  return {
    lines: amountAt(totals, 'LineExtensionAmount'),
    allowances: amountAt(totals, 'AllowanceTotalAmount'),
    charges: amountAt(totals, 'ChargeTotalAmount'),
    base: amountAt(totals, 'TaxExclusiveAmount'),
    total: amountAt(totals, 'TaxInclusiveAmount'),
    prepaid: amountAt(totals, 'PrepaidAmount'),
    rounding: amountAt(totals, 'PayableRoundingAmount'),
    due: amountAt(totals, 'PayableAmount'),
    tax: amountAt(taxTotal, 'TaxAmount'),
    nets: [...textsAt(root, 'InvoiceLine/LineExtensionAmount'), ...textsAt(root, 'CreditNoteLine/LineExtensionAmount')],
    taken: adjustments('false'),
    added: adjustments('true'),
    groups: all(taxTotal, 'TaxSubtotal').map((group) => ({
      base: amountAt(group, 'TaxableAmount'),
      tax: amountAt(group, 'TaxAmount'),
      rate: amountAt(group, 'TaxCategory/Percent')
    }))
  }
}

function ciiSums (root: Element): Sums {
  const settlement = all(root, 'SupplyChainTradeTransaction/ApplicableHeaderTradeSettlement')[0] ?? root
  const totals = all(settlement, 'SpecifiedTradeSettlementHeaderMonetarySummation')[0] ?? root
  const adjustments = (is: string): string[] =>
    all(settlement, 'SpecifiedTradeAllowanceCharge').filter((one) => textAt(one, 'ChargeIndicator/Indicator') === is).map((one) =>
      textAt(one, 'ActualAmount') ?? '0'
    )
  return {
    lines: amountAt(totals, 'LineTotalAmount'),
    allowances: amountAt(totals, 'AllowanceTotalAmount'),
    charges: amountAt(totals, 'ChargeTotalAmount'),
    base: amountAt(totals, 'TaxBasisTotalAmount'),
    total: amountAt(totals, 'GrandTotalAmount'),
    prepaid: amountAt(totals, 'TotalPrepaidAmount'),
    rounding: amountAt(totals, 'RoundingAmount'),
    due: amountAt(totals, 'DuePayableAmount'),
    tax: amountAt(totals, 'TaxTotalAmount'),
    nets: textsAt(root,
      'SupplyChainTradeTransaction/IncludedSupplyChainTradeLineItem/SpecifiedLineTradeSettlement/SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount'),
    taken: adjustments('false'),
    added: adjustments('true'),
    groups: all(settlement, 'ApplicableTradeTax').map((group) => ({
      base: amountAt(group, 'BasisAmount'),
      tax: amountAt(group, 'CalculatedAmount'),
      rate: amountAt(group, 'RateApplicablePercent')
    }))
  }
}

/** The sums of EN 16931 that do not hold in the document. */
function wrongSums ({ lines, nets, allowances, taken, charges, added, base, tax, groups, total, prepaid, rounding, due }: Sums): string[] {
  const holds = {
    'BR-CO-10': lines.eq(sum(nets)),
    'BR-CO-11': allowances.eq(sum(taken)),
    'BR-CO-12': charges.eq(sum(added)),
    'BR-CO-13': base.eq(lines.sub(allowances).add(charges)),
    'BR-CO-14': tax.eq(groups.reduce((so, group) => so.add(group.tax), new Decimal(0))),
    'BR-CO-15': total.eq(base.add(tax)),
    'BR-CO-16': due.eq(total.sub(prepaid).add(rounding)),
    'BR-CO-17': groups.every((group) => group.tax.sub(group.base.mul(group.rate).div(100)).abs().lte('0.5')),
    'BR-*-08': base.eq(groups.reduce((so, group) => so.add(group.base), new Decimal(0)))
  }
  return Object.entries(holds).flatMap(([rule, isRight]) => isRight ? [] : [rule])
}

const emptyElements = (root: Element): string[] =>
  elements(root).filter(({ name, children, text }) =>
    children.length === 0 && text.trim() === '' && name !== 'ApplicableHeaderTradeDelivery'
  ).map(({ name }) => name)

for (const [format, write, sums, syntax] of [['UBL', ubl, ublSums, 'ubl'], ['CII', cii, ciiSums, 'cii']] as const) {
  void t.test(`${format}: what the rules pass is well-formed, in the order of the schema, without empty ` +
    'elements, and its sums hold', (t) => {
    let passed = 0
    fc.assert(fc.property(invoices, (made) => {
      const data = made as JsonObject
      if (reported(data, format).length > 0) return
      passed++
      const root = write(data)
      t.strictSame([misplaced(root, syntax), emptyElements(root), wrongSums(sums(root))], [[], [], []])
    }), { numRuns: runs })
    t.ok(passed > runs / 4, `${passed} of ${runs} passed the rules`)
    t.end()
  })
}

void t.test('whatever the data, the rules answer: each problem has an id and stands in the data', (t) => {
  const jsonish = fc.dictionary(
    fc.constantFrom('number', 'lines', 'seller', 'customer', 'type', 'payment', 'allowances', 'delivery', 'taxes'),
    fc.jsonValue({ maxDepth: 3 })
  )
  fc.assert(fc.property(jsonish, (data) => reported(data as JsonObject).length > 0))
  t.end()
})
