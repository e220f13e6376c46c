import { Decimal as Oracle } from 'decimal.js'
import fc from 'fast-check'
import t from 'tap'
import { decimal, isNear, minus, plus, printDecimal, shift, times, type Decimal } from '../../../core/services/decimal.ts'

/** Digits enough that it never rounds what is compared here. */
const Exact = Oracle.clone({ precision: 1500, toExpNeg: -1500, toExpPos: 1500 })

const text = fc.tuple(fc.boolean(), fc.stringMatching(/^\d{1,20}$/), fc.stringMatching(/^\d{0,10}$/))
  .map(([negative, whole, fraction]) => `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`)
const value = fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(0.1, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, 2 ** 53))

function read (given: string | number): Decimal {
  const read = decimal(given)
  if (read === undefined) throw new Error(`${given} was not read.`)
  return read
}

/** As printed, without a sign before zero. */
const digits = (oracle: Oracle): string => oracle.isZero() ? '0' : oracle.toFixed()

await t.test('numbers and decimal texts are read as they were written', (t) => {
  fc.assert(fc.property(value, (given) => { t.equal(printDecimal(read(given)), digits(new Exact(given))) }))
  t.end()
})

await t.test('anything else is none', (t) => {
  const others = ['', ' 1', '1 ', '+1', '1.', '.5', '1e3', '0x10', '1,5', '--1', '1.12345678901', '123456789012345678901', 'NaN', Infinity, -Infinity, NaN, null, true, [], {}, undefined]
  for (const other of others) t.equal(decimal(other), undefined, JSON.stringify(other))
  t.end()
})

await t.test('sums, differences and products are exact', (t) => {
  fc.assert(fc.property(value, value, (a, b) => {
    t.equal(printDecimal(plus(read(a), read(b))), digits(new Exact(a).plus(b)))
    t.equal(printDecimal(minus(read(a), read(b))), digits(new Exact(a).minus(b)))
    t.equal(printDecimal(times(read(a), read(b))), digits(new Exact(a).times(b)))
  }))
  t.end()
})

await t.test('a shift is a product with a power of ten', (t) => {
  fc.assert(fc.property(value, fc.integer({ min: -40, max: 40 }), (given, exponent) => {
    t.equal(printDecimal(shift(read(given), exponent)), digits(new Exact(given).times(new Exact(10).pow(exponent))))
  }))
  t.end()
})

await t.test('near is at most the tolerance apart, whichever is more', (t) => {
  fc.assert(fc.property(text, text, text, (a, b, tolerance) => {
    t.equal(isNear(read(a), read(b), read(tolerance)), new Exact(a).minus(b).abs().lte(tolerance))
  }))
  t.ok(isNear(read('1.00'), read('1.005'), read('0.005')))
  t.ok(isNear(read('1.005'), read('1.00'), read('0.005')))
  t.notOk(isNear(read('1.00'), read('1.0050000001'), read('0.005')))
  t.end()
})
