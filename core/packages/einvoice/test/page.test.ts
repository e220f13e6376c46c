import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import t from 'tap'
import type { JsonObject } from '../../common/json.ts'
import { plainPageDataOf } from '../write/page.ts'

const page = (data: JsonObject): JsonObject => plainPageDataOf(data, 'EUR') as JsonObject
const line = (total: number | string, taxRate?: number | string): JsonObject => ({
  description: 'x',
  quantity: 1,
  unitPrice: total,
  total,
  ...(taxRate === undefined ? {} : { taxRate })
})

void t.test('an invoice with several rates gets its tax by rate', (t) => {
  const two = { lines: [line('100.00', 5.5), line(200, 20)], taxAmount: '45.50' }
  t.same(page(two)['taxes'], [{ rate: '5.5', base: '100.00', amount: '5.50' }, { rate: '20', base: '200.00', amount: '40.00' }])
  t.same(page({ ...two, allowances: [{ percent: 10, taxRate: 20 }], taxAmount: '39.50' }), {
    ...two,
    taxAmount: '39.50',
    allowances: [{ percent: 10, taxRate: 20, amount: '30.00' }],
    taxes: [{ rate: '5.5', base: '100.00', amount: '5.50' }, { rate: '20', base: '170.00', amount: '34.00' }]
  })
  t.same(page({ pricesIncludeTax: true, lines: [line('31.65', 5.5), line('133.30', 20)], taxAmount: '23.87' })['taxes'], [{
    rate: '5.5',
    base: '30.00',
    amount: '1.65'
  }, { rate: '20', base: '111.08', amount: '22.22' }])
  t.same(page({ ...two, lines: [line(100, 0), line(200, 20)], taxAmount: 40, taxExemptionReason: 'Art. 293 B' })['taxes'], [{
    rate: '0',
    base: '100.00',
    amount: '0.00',
    reason: 'Art. 293 B'
  }, { rate: '20', base: '200.00', amount: '40.00' }])
  t.same(page({ ...two, currency: 'JPY', taxAmount: 46 })['taxes'], [{ rate: '5.5', base: '100', amount: '6' }, {
    rate: '20',
    base: '200',
    amount: '40'
  }])
  t.end()
})

void t.test('what needs nothing more stays as it is', (t) => {
  for (const data of [
    { lines: [line(100, 20), line(1, '20')], taxRate: 20, taxAmount: 20.2 },
    { lines: [line(100, 5.5), line(200, 20)], taxAmount: '45.50', taxes: [{ rate: 20, base: 1, amount: 1 }] },
    { lines: [line(100, 5.5), line(200, 20)] },
    { lines: [line(100, 5.5), line(200)], taxAmount: 5.5 },
    { lines: [line(100, 5.5), line(200, 20)], taxAmount: 99 },
    { lines: 'none' },
    {}
  ]) t.same(page(data), data)
  t.same(page({ lines: [line(100, 20), line(1, '20')], taxAmount: 20.2 })['taxRate'], '20', 'one rate of all lines is that of the whole')
  t.end()
})

void t.test('the tax by rate comes to the tax, however the tax was rounded', (t) => {
  const rate = fc.constantFrom('0', '2.1', '5.5', '7', '19', '20')
  const invoice = fc.record({
    lines: fc.array(fc.tuple(fc.integer({ min: -100_000, max: 1_000_000 }), rate), { minLength: 2, maxLength: 12 }),
    byLine: fc.boolean()
  })
  let shown = 0
  fc.assert(fc.property(invoice, ({ lines, byLine }) => {
    const taxes = lines.map(([cents, percent]) => new Decimal(cents).div(100).mul(percent).div(100))
    const tax = Decimal.sum(...byLine ? taxes.map((one) => one.toDecimalPlaces(2)) : taxes).toDecimalPlaces(2)
    const found =
      page({ lines: lines.map(([cents, percent]) => line((cents / 100).toFixed(2), percent)), taxAmount: tax.toFixed(2) })['taxes']
    if (!Array.isArray(found)) return
    shown++
    const rates = found as { base: string, amount: string }[]
    t.equal(Decimal.sum(...rates.map(({ amount }) => amount)).toFixed(2), tax.toFixed(2))
    t.equal(Decimal.sum(...rates.map(({ base }) => base)).toFixed(2),
      new Decimal(lines.reduce((sum, [cents]) => sum + cents, 0)).div(100).toFixed(2))
  }))
  t.ok(shown > 30)
  t.end()
})
