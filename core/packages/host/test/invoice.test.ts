import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import type { JsonObject } from '../../common/json.ts'
import { Money } from '../../common/money.ts'
import { failureOf } from '../../vendor-io/outcome/failure.ts'
import { invoiceOf, minorUnits } from '../manifest/invoice.ts'

const line = { description: 'Workshop', quantity: 2, unitPrice: '980.10' }
const refusal = (act: () => unknown): unknown => {
  try {
    act()
    return undefined
  } catch (error) {
    return failureOf(error)
  }
}

await t.test('an invoice is read as its vocabulary has it: texts as they are, amounts exact', (t) => {
  const { lines, total, adjustments, prepaid, rounding, due, ...texts } = invoiceOf({
    number: 7,
    currency: 'EUR',
    notes: 'Thank you',
    customer: { name: 'Ada', vatId: 'DE1', age: 36 },
    lines: [line],
    total: '1960.20',
    colour: 'red'
  })
  t.strictSame(texts, { number: '7', currency: 'EUR', notes: 'Thank you', customer: { name: 'Ada', vatId: 'DE1' } })
  t.strictSame([total, prepaid, rounding, due].map((amount) => amount.toFixed()), ['1960.2', '0', '0', '1960.2'])
  t.strictSame(adjustments, [])
  has(t, lines, [{ description: 'Workshop' }])
  t.strictSame(lines.map(({ quantity, unitPrice, total }) => [quantity, unitPrice, total].map((amount) => amount.toFixed())), [[
    '2',
    '980.1',
    '1960.2'
  ]])
  t.strictSame(invoiceOf({ total: 0 }).lines, [])
  t.strictSame(invoiceOf({ total: 0, lines: 'none', customer: 'Ada' }).customer, {})
  t.end()
})

await t.test('a line\'s own rate comes before the invoice\'s, and there need not be any', (t) => {
  const ratesOf = (data: JsonObject): string[] => invoiceOf({ total: 1, ...data }).lines.map(({ taxRate }) => taxRate.toFixed())
  t.strictSame(ratesOf({ taxRate: 20, lines: [line, { ...line, taxRate: '5.5' }, { ...line, taxRate: 0 }] }), ['20', '5.5', '0'])
  t.strictSame(ratesOf({ lines: [line] }), ['0'])
  t.end()
})

await t.test('what is due and what is prepaid follow from each other', (t) => {
  const sums = (data: JsonObject): string[] => {
    const { prepaid, rounding, due } = invoiceOf({ total: '120.02', ...data })
    return [prepaid, rounding, due].map((amount) => amount.toFixed())
  }
  t.strictSame(sums({ prepaidAmount: 20 }), ['20', '0', '100.02'])
  t.strictSame(sums({ amountDue: 100 }), ['20.02', '0', '100'])
  t.strictSame(sums({ amountDue: 100, roundingAmount: '-0.02' }), ['20', '-0.02', '100'])
  t.strictSame(sums({ prepaidAmount: 20, roundingAmount: '-0.02' }), ['20', '-0.02', '100'])
  t.end()
})

await t.test('allowances are negative charges; what has a percent alone is computed of its base, or of the whole', (t) => {
  const adjusted = invoiceOf({
    currency: 'EUR',
    total: 1,
    taxRate: 20,
    lines: [
      { ...line, allowances: [{ percent: '2.5', reason: 'Early' }], charges: [{ amount: 3, reasonCode: 'FC' }] },
      { description: 'Paper', quantity: 250, unitPrice: '9.00', priceQuantity: 100 }
    ],
    allowances: [{ percent: 10, reason: 'Loyalty', taxRate: '5.5' }, { percent: 10, base: 50 }],
    charges: [{ amount: '12.50', reason: 'Freight' }]
  })
  // 1960.20 less 2.5 % (49.005, rounded) and 3 more; 250 of 9.00 a hundred.
  t.strictSame(adjusted.lines.map(({ total, isPlain }) => [total.toFixed(), isPlain]), [['1914.19', false], ['22.5', false]])
  t.strictSame(adjusted.adjustments.map(({ reason, amount, taxRate }) => [reason, amount.toFixed(), taxRate.toFixed()]), [
    ['Loyalty (10 %)', '-193.67', '5.5'],
    ['Allowance (10 %)', '-5', '20'],
    ['Freight', '12.5', '20']
  ])
  has(t, refusal(() => invoiceOf({ total: 1, charges: [{ reason: 'Freight' }] })), { code: 'invalid_amount', at: '/data/charges/0/amount' })
  t.end()
})

await t.test('amounts are in the minor unit, and without the tax where prices include it', (t) => {
  const finer = invoiceOf({ currency: 'JPY', total: 101, lines: [{ quantity: 1, unitPrice: '100.5', total: '100.5' }] })
  t.strictSame(finer.lines.map(({ unitPrice, total, isPlain }) => [unitPrice.toFixed(), total.toFixed(), isPlain]), [['100.5', '101',
    true]])
  const off = invoiceOf({ total: 1, lines: [{ quantity: 10111, unitPrice: '11.10833', total: '112316.34' }] })
  t.strictSame(off.lines.map(({ isPlain }) => isPlain), [false], 'its total is not the rounded product')
  const { lines, adjustments, total } = invoiceOf({
    pricesIncludeTax: true,
    total: '152.95',
    lines: [{ quantity: 3, unitPrice: '10.55', taxRate: 5.5, total: '31.65' }, { quantity: 10, unitPrice: 12, taxRate: 20, total: 120 }],
    allowances: [{ amount: 12, taxRate: 20 }]
  })
  t.strictSame(lines.map((one) => [one.unitPrice.toFixed(), one.total.toFixed(), one.isPlain]), [['10', '30', true], ['10', '100', true]])
  t.strictSame([...adjustments.map(({ amount }) => amount), total].map((amount) => amount.toFixed()), ['-10', '152.95'])
  t.end()
})

await t.test('an amount that is missing or no number is refused with its place', (t) => {
  const cases: [JsonObject, string][] = [
    [{ lines: [] }, '/total'],
    [{ total: '1e3' }, '/total'],
    [{ total: 1, taxRate: 'full' }, '/taxRate'],
    [{ total: 1, lines: [line, { unitPrice: 1 }] }, '/lines/1/quantity'],
    [{ total: 1, lines: [{ quantity: 1 }] }, '/lines/0/unitPrice'],
    [{ total: 1, lines: [{ ...line, total: null }] }, '/lines/0/total'],
    [{ total: 1, lines: ['one'] }, '/lines/0/quantity']
  ]
  for (const [data, place] of cases) {
    has(t, refusal(() => invoiceOf(data)), { code: 'invalid_amount', message: `There is no number at ${place} of the data.` }, place)
  }
  t.end()
})

await t.test('minor units are those of ISO 4217, unless the vendor counts otherwise', (t) => {
  const cases: [string, string | undefined, string][] = [
    ['19.99', 'EUR', '1999'],
    ['0.001', 'EUR', '0.1'],
    ['500', 'JPY', '500'],
    [
      '5.124',
      'KWD',
      '5124'
    ],
    ['5', 'ISK', '500'],
    ['5', 'XXY', '500'],
    ['5', undefined, '500']
  ]
  for (const [amount, currency, minor] of cases) {
    t.equal(minorUnits(new Money(amount), currency, { ISK: 2 }).toFixed(), minor, `${amount} ${currency ?? ''}`)
  }
  t.equal(minorUnits(new Money(5), 'ISK').toFixed(), '5')
  t.end()
})
