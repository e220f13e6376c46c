import { type Decimal, lineTolerance, slack } from '@dispatch/common'
import { amount } from '../model/fields.ts'
import type { EInvoiceLine } from '../model/model.ts'
import { isCounted } from '../model/sub-lines.ts'
import { amountDigits } from '../model/totals.ts'
import { grossOf, hasLikePrices, pricedOf, sumOfAdjustments } from '../read/lines.ts'
import { allAdjustments, type EInvoiceRule, inProfiles, notInProfiles, rule, type RuleInput, ruleOfAdjustments, ruleOfEach,
  ruleOfLines } from './rule.ts'

/** A given amount must equal the computed one. A missing amount is computed. */
const sums: readonly EInvoiceRule[] = [
  stated('BR-CO-10', 'subtotal', 'The subtotal is the sum of the lines', ({ totals }) => totals.lines),
  stated('BR-CO-14', 'taxAmount', 'VAT is computed and rounded once for each category and rate (20 means 20 %), and summed up',
    ({ totals }) => totals.tax),
  stated('BR-CO-15', 'total', 'The total is the sum of the lines minus allowances, plus charges, plus VAT', ({ totals }) => totals.total),
  stated('BR-CO-16', 'amountDue', 'The amount due is the total minus the prepaid amount, plus the rounding', ({ totals }) => totals.due),
  ...inProfiles(['PEPPOL'], [
    lineTotal('PEPPOL-EN16931-R120', 'The total of a line is quantity × price (for priceQuantity), less its allowances, plus its charges.',
      () => slack)
  ])
]

/** Only Peppol requires this: elsewhere a total may come from prices with VAT, and the price without VAT may be rounded. */
export const lineAdvice: readonly EInvoiceRule[] = notInProfiles(['PEPPOL'], [
  lineTotal('line_total',
    'The total of a line is quantity × price (for priceQuantity), less its allowances, plus its charges, as far as the price is exact.',
    roundingOf)
])

/** Of a total that is given. A computed one can be too far from its price only where the currency has no cents. */
function lineTotal (id: string, message: string, tolerance: (line: EInvoiceLine, currency: string) => Decimal): EInvoiceRule {
  return ruleOfLines(id, '/total', message,
    (line, { invoice: { currency } }) =>
      !isCounted(line) || (line.stated === undefined && amountDigits(currency) === 2) ||
      line.net.sub(grossOf(line).add(sumOfAdjustments(line.adjustments))).abs().lte(tolerance(line, currency)))
}

function roundingOf (line: EInvoiceLine, currency: string): Decimal {
  const priced = pricedOf(line)
  return priced === undefined ? slack : lineTolerance(priced, amountDigits(currency))
}

/**
 * The amount that follows from a price or from an allowance: Peppol and XRechnung refuse a different one, elsewhere it is a warning. They
 * compare both prices even where they are for different quantities.
 */
function partsRules (ofAmount: string, ofPrice: string, areCompared: typeof hasLikePrices, more = ''): EInvoiceRule[] {
  return [
    ...(['invoice', 'lines'] as const).flatMap((of) =>
      (['allowance', 'charge'] as const).map((kind) =>
        ruleOfAdjustments(ofAmount, of, kind, '/amount', 'An amount beside a percent is base × percent.',
          ({ amount: given, base, percent }) =>
            given === undefined || base === undefined || percent === undefined || given.sub(base.mul(percent).div(100)).abs().lte(slack))
      )
    ),
    ruleOfLines(ofPrice, '/grossPrice', `The price is the gross price less the discount (BT-146)${more}.`,
      ({ price, grossPrice, priceDiscount = 0, ...line }) =>
        price === undefined || grossPrice === undefined || !areCompared(line) || grossPrice.sub(priceDiscount).eq(price))
  ]
}

/** Those that Peppol and XRechnung have in common. */
export const sharedTotalsRules: readonly EInvoiceRule[] = [
  ...partsRules('PEPPOL-EN16931-R040', 'PEPPOL-EN16931-R046', () => true,
    ': the rule compares the bare numbers, also where the prices are for different quantities'),
  ruleOfEach('PEPPOL-EN16931-R005', 'The currency of VAT accounting is another one than the invoice\'s, or left out (BT-6).',
    ({ invoice }) => [invoice], () => '/taxCurrency', ({ taxCurrency, currency }) => taxCurrency !== currency),
  rule('PEPPOL-EN16931-R055', '/taxCurrencyAmount', 'The VAT has the same sign in both currencies (BT-110, BT-111).',
    ({ invoice: { taxCurrency, taxCurrencyAmount: given }, totals: { tax }, format }) =>
      taxCurrency === undefined || given === undefined || (format === 'UBL' ? given.mul(tax).gte(0) : given.lt(0) === tax.lt(0)))
]

export const partsAdvice: readonly EInvoiceRule[] = notInProfiles(['PEPPOL', 'XRECHNUNG'],
  partsRules('amount_of_percent', 'price_of_gross', hasLikePrices))

function stated (id: string, field: string, message: string, computed: (subject: RuleInput) => Decimal): EInvoiceRule {
  return rule(id, `/${field}`, `${message}; leave it out to have it computed.`,
    (subject) => amount(subject.data, field)?.eq(computed(subject)) !== false)
}

const decimals = 'An amount has two decimals at most, and no more than its currency: 100 is an amount in JPY, 100.5 is none.'

/** BR-DEC-*: only prices and quantities may have more decimals. */
const roundness: readonly EInvoiceRule[] = [
  ...([
    ['09', 'subtotal'],
    ['13', 'taxAmount'],
    ['14', 'total'],
    ['15', 'taxCurrencyAmount'],
    ['16', 'prepaidAmount'],
    [
      '17',
      'roundingAmount'
    ],
    ['18', 'amountDue']
  ] as const)
    .map(([number, field]) =>
      rule(`BR-DEC-${number}`, `/${field}`, decimals, ({ data, invoice }) =>
        isRound(amount(data, field), field === 'taxCurrencyAmount' ? invoice.taxCurrency : invoice.currency))
    ),
  ruleOfLines('BR-DEC-23', '/total', decimals, ({ stated: given }, { invoice }) => isRound(given, invoice.currency)),
  ...([
    ['01', '02', 'invoice', 'allowance'],
    ['05', '06', 'invoice', 'charge'],
    ['24', '25', 'lines', 'allowance'],
    [
      '27',
      '28',
      'lines',
      'charge'
    ]
  ] as const).flatMap(([ofAmount, ofBase, of, kind]) => [
    ruleOfAdjustments(`BR-DEC-${ofAmount}`, of, kind, '/amount', decimals,
      (adjustment, { invoice }) => isRound(adjustment.amount, invoice.currency)),
    ruleOfAdjustments(`BR-DEC-${ofBase}`, of, kind, '/base', decimals,
      (adjustment, { invoice }) => isRound(adjustment.base, invoice.currency))
  ])
]

function isRound (value: Decimal | undefined, currency = ''): boolean {
  return value === undefined || value.decimalPlaces() <= amountDigits(currency)
}

/** Validators of CII sum in binary floats, which hold cents exactly up to 9 × 10^13. */
const wholeDigits = 12
const tooLarge = 'An amount is below 10^12: validators cannot add larger amounts exactly.'

function isSmall (value: Decimal | undefined): boolean {
  return value === undefined || value.e < wholeDigits
}

/** Values that cannot be summed. */
const measures: readonly EInvoiceRule[] = [
  ruleOfLines('amount_out_of_range', '/total', tooLarge, ({ net, price, quantity }) => [net, price, quantity].every(isSmall)),
  ruleOfEach('amount_out_of_range', tooLarge, ({ invoice }) => allAdjustments(invoice), ({ at }) => `${at}/amount`,
    ({ amount: given, base }) => isSmall(given) && isSmall(base)),
  ...(['prepaidAmount', 'roundingAmount', 'taxCurrencyAmount'] as const).map((field) =>
    rule('amount_out_of_range', `/${field}`, tooLarge, ({ data }) => isSmall(amount(data, field)))
  ),
  ...inProfiles(['PEPPOL', 'XRECHNUNG'], [priceQuantity('PEPPOL-EN16931-R121')]),
  ...notInProfiles(['PEPPOL', 'XRECHNUNG'], [priceQuantity('price_quantity')])
]

function priceQuantity (id: string): EInvoiceRule {
  return ruleOfLines(id, '/priceQuantity', 'A price is for a quantity above 0 (BT-149).',
    ({ priceQuantity }) => priceQuantity?.gt(0) !== false)
}

export const totalsRules: readonly EInvoiceRule[] = [...sums, ...roundness, ...measures]
