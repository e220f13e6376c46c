import fc from 'fast-check'
import t from 'tap'
import { grossAmount, halfUnit, lineTolerance, shareOf } from '../invoice-amounts.ts'
import { decimalOf, isDecimal, Money, roundedTo, withoutNoise } from '../money.ts'

void t.test('a number is a number of JSON or a decimal text', (t) => {
  for (const value of [0, -1.5, '0', '-12.50', '1'.repeat(30), `0.${'1'.repeat(30)}`]) t.ok(isDecimal(value), String(value))
  for (const value of [Infinity, NaN, '', '1e3', '0x10', ' 1', '1,5', '.5', '+1', '1'.repeat(31), null, undefined, true, [1]]) {
    t.notOk(isDecimal(value), String(value))
    t.equal(decimalOf(value), undefined)
  }
  t.end()
})

void t.test('the noise of binary arithmetic is no part of a number', (t) => {
  t.strictSame([0.1 + 0.2, 0.1 * 3, 1.1 * 1.1, 0.7 + 0.1, 1.005 * 1000, 4.35 * 100, -0.1 - 0.2, 0.1 * 3 * 1e5].map(withoutNoise), [0.3, 0.3,
    1.21, 0.8, 1005, 435, -0.3, 30_000])
  t.equal(decimalOf(0.1 + 0.2)?.toFixed(), '0.3')
  t.strictSame([12_345_678_901_230.04, 9_007_199_254_740_991, 1 / 3, 5e-324, 1.000_000_000_000_001].map(withoutNoise), [
    12_345_678_901_230.04,
    9_007_199_254_740_991,
    1 / 3,
    5e-324,
    1.000_000_000_000_001
  ], 'what may be meant stays')
  t.equal(withoutNoise('0.30000000000000004'), '0.30000000000000004', 'a text is exact')
  t.end()
})

void t.test('a number of up to 15 digits is read as it is written', (t) => {
  fc.assert(fc.property(fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n }), fc.nat({ max: 15 }), (digits, places) => {
    const written = new Money(digits.toString()).div(new Money(10).pow(places))
    t.equal(decimalOf(written.toNumber())?.toFixed(), written.toFixed())
    t.equal(decimalOf(written.toFixed())?.toFixed(), written.toFixed())
  }))
  t.end()
})

void t.test('a half is rounded away from zero', (t) => {
  t.strictSame(['10.005', '-10.005', '0.0049', '100.5'].map((text) => roundedTo(new Money(text), text === '100.5' ? 0 : 2).toFixed()), [
    '10.01',
    '-10.01',
    '0',
    '101'
  ])
  t.strictSame([0, 2, 3].map((digits) => halfUnit(digits).toFixed()), ['0.5', '0.005', '0.0005'])
  t.end()
})

void t.test('the amount of a line, its tolerance, and the share of a percentage', (t) => {
  const priced = (quantity: string, price: string, priceQuantity?: string): Parameters<typeof grossAmount>[0] => ({
    quantity: new Money(quantity),
    price: new Money(price),
    priceQuantity: priceQuantity === undefined ? undefined : new Money(priceQuantity)
  })
  t.equal(grossAmount(priced('250', '9.00', '100')).toFixed(), '22.5')
  t.equal(grossAmount(priced('2', '9', '0')).toFixed(), '18')
  t.equal(lineTolerance(priced('10111', '11.10833'), 2).toFixed(), '0.070555')
  t.equal(lineTolerance(priced('-2', '450'), 2).toFixed(), '0.03')
  t.equal(lineTolerance(priced('1', '33.5'), 0).toFixed(), '0.505')
  t.equal(shareOf(new Money('1960.20'), new Money('2.5'), 2).toFixed(), '49.01')
  t.end()
})
