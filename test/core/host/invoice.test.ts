import t from 'tap'
import type { JsonObject } from '../../../core/contract/json.ts'
import { keyFor } from '../../../core/host/environment.ts'
import { failureOf } from '../../../core/host/failure.ts'
import { invoiceOf, minorUnits } from '../../../core/host/invoice.ts'
import { Money } from '../../../core/services/amounts.ts'

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
  const { lines, total, ...texts } = invoiceOf({ number: 7, currency: 'EUR', notes: 'Thank you', customer: { name: 'Ada', vatId: 'DE1', age: 36 }, lines: [line], total: '1960.20', colour: 'red' })
  t.strictSame(texts, { number: '7', currency: 'EUR', notes: 'Thank you', customer: { name: 'Ada', vatId: 'DE1' } })
  t.equal(total.toFixed(), '1960.2')
  t.match(lines, [{ description: 'Workshop' }])
  t.strictSame(lines.map(({ quantity, unitPrice, total }) => [quantity, unitPrice, total].map((amount) => amount.toFixed())), [['2', '980.1', '1960.2']])
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
  for (const [data, place] of cases) t.match(refusal(() => invoiceOf(data)), { code: 'invalid_amount', message: `There is no number at ${place} of the data.` }, place)
  t.end()
})

await t.test('minor units are those of ISO 4217, unless the vendor counts otherwise', (t) => {
  const cases: [string, string | undefined, string][] = [['19.99', 'EUR', '1999'], ['0.001', 'EUR', '0.1'], ['500', 'JPY', '500'], ['5.124', 'KWD', '5124'], ['5', 'ISK', '500'], ['5', 'XXY', '500'], ['5', undefined, '500']]
  for (const [amount, currency, minor] of cases) t.equal(minorUnits(new Money(amount), currency, { ISK: 2 }).toFixed(), minor, `${amount} ${currency ?? ''}`)
  t.equal(minorUnits(new Money(5), 'ISK').toFixed(), '5')
  t.end()
})

await t.test('a key goes out in its own environment alone', (t) => {
  t.equal(keyFor({ sandbox: true }, 'test_1', /^test_/), 'test_1')
  t.equal(keyFor({ sandbox: false }, 'live_1', /^test_/), 'live_1')
  t.match(refusal(() => keyFor({ sandbox: true }, 'live_1', /^test_/)), { code: 'wrong_environment', message: /needs a test key/ })
  t.match(refusal(() => keyFor({ sandbox: false }, 'test_1', /^test_/)), { code: 'wrong_environment', message: /only a sandbox/ })
  t.end()
})
