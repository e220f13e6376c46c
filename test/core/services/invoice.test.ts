import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { JsonObject } from '../../../core/packages/common/json.ts'
import { formatMoney } from '../../../core/packages/documents/compile/format.ts'
import { invoiceOf, minorUnits } from '../../../core/packages/host/manifest/invoice.ts'
import { computeSums } from '../../../core/packages/services/invoicing/computed-sums.ts'
import { invoicing } from '../../../core/packages/services/invoicing/index.ts'
import { checkEInvoiceWords, checkInvoice } from '../../../core/packages/services/invoicing/invoice.ts'
import { has } from '../../support/matching.ts'

type Options = { fields?: { dueDate?: string, sendByEmail?: boolean }, currency?: string }

/** What the rules say on 2026-03-14: `path code` of each problem and warning, without the path of the data. */
function check (data: JsonObject, { fields = {}, currency }: Options = {}): { problems: string[], warnings: string[] } {
  const subject = {
    data: { customer: { name: 'Ada' }, ...data },
    template: currency === undefined ? {} : { currency },
    today: '2026-03-14'
  }
  const found = [
    checkInvoice(subject),
    invoicing.check({
      ...subject,
      template: { ...subject.template, vocabulary: 'invoice' },
      fields: { documentType: 'INVOICE', ...fields },
      at: (field) => `/invoicing/${field}`,
      provider: undefined,
      otherServices: []
    })
  ]
  const problems = found.flatMap((findings) => findings.problems ?? [])
  const warnings = found.flatMap((findings) => findings.warnings ?? [])
  const reported = ({ path, code }: { path: string, code: string }): string => `${path.replace('/template/data', '')} ${code}`
  return { problems: problems.map(reported), warnings: warnings.map(reported) }
}

/** Data and the problems that the rules must find in them. */
type Pairs = [name: string, data: JsonObject, problem?: string | undefined, options?: Options][]

function holds (pairs: Pairs): (t: Test) => void {
  return (t) => {
    for (const [name, data, problem, options] of pairs) {
      t.strictSame(check(data, options).problems, problem === undefined ? [] : [problem], name)
    }
    t.end()
  }
}

const line = (quantity: number | string, unitPrice: number | string, total: number | string, more: JsonObject = {}): JsonObject => ({
  description: 'x',
  quantity,
  unitPrice,
  total,
  ...more
})
const sums = (subtotal: number | string, taxAmount: number | string, total: number | string, more: JsonObject = {}): JsonObject => ({
  subtotal,
  taxAmount,
  total,
  ...more
})

await t.test('a rate below one is warned of: rates are in percent', (t) => {
  t.strictSame(check({ taxRate: '0.2' }).warnings, ['/taxRate small_rate'])
  t.strictSame(check({ taxRate: 20, lines: [line(1, 100, 100, { taxRate: '0.055' })] }).warnings, ['/lines/0/taxRate small_rate'])
  t.strictSame(check({ taxRate: 0, lines: [line(1, 100, 100, { taxRate: 1 })] }).warnings, [])
  t.end()
})

await t.test('a line total is quantity × unit price, with the slack of EN 16931', holds([
  ['exact', { lines: [line(2, 450, 900)] }],
  ['decimal texts', { lines: [line('12.5', '38.40', '480.00')] }],
  ['texts and numbers mixed', { lines: [line(3, '0.10', 0.3)] }],
  ['what binary floats would get wrong', { lines: [line(3, 0.1, 0.3)] }],
  ['half a cent, rounded down', { lines: [line('0.5', '0.01', '0.00')] }],
  ['half a cent, rounded up', { lines: [line('0.5', '0.01', '0.01')] }],
  ['the slack, and the rounding of two prices', { lines: [line(2, 450, '900.03')] }],
  ['more than that', { lines: [line(2, 450, '900.04')] }, '/lines/0/total line_total'],
  ['from a price with tax (13.33 at 20 %)', { lines: [line(10111, 11.10833, 112316.34)] }],
  ['another sign', { lines: [line(2, 450, -900)] }, '/lines/0/total line_total'],
  ['a credited line', { lines: [line(-2, 450, -900)] }],
  ['the second line', { lines: [line(1, 1, 1), line(1, 1, 2)] }, '/lines/1/total line_total'],
  ['a line after what is none', { lines: [null, line(1, 1, 2)] }, '/lines/1/total line_total'],
  ['beyond what a double holds', { lines: [line('12345678901', '99999999.99', '1234567889976543210.99')] }],
  [
    'beyond what a double holds, and off',
    { lines: [line('12345678901', '99999999.99', '1234567951704937716.03')] },
    '/lines/0/total line_total'
  ],
  ['no quantity', { lines: [{ unitPrice: 1, total: 7 }] }],
  ['no total', { lines: [{ quantity: 1, unitPrice: 7 }] }],
  ['no lines', {}]
]))

await t.test('the subtotal is the sum of the line totals', holds([
  ['exact', { lines: [line(1, 10, 10), line(1, '0.1', '0.1'), line(1, '0.2', '0.2')], subtotal: '10.3' }],
  ['amounts finer than a cent count as they are printed', { lines: [line(1, '0.005', '0.005')], subtotal: '0.0100001' }],
  ['a cent off', { lines: [line(1, '0.01', '0.01')], subtotal: '0.02' }, '/subtotal subtotal'],
  ['a line left out', { lines: [line(1, 10, 10), line(1, 5, 5)], subtotal: 10 }, '/subtotal subtotal'],
  ['a line without a total', { lines: [line(1, 10, 10), { description: 'x' }], subtotal: 10 }],
  ['no lines', { subtotal: 10 }],
  ['an empty list of lines', { lines: [], subtotal: 10 }]
]))

await t.test('the tax is the subtotal × the rate, to one minor unit for each line', holds([
  ['exact', sums(900, 180, 1080, { taxRate: 20 })],
  ['a rate with a fraction', sums(100, '8.10', '108.10', { taxRate: '8.1' })],
  ['no tax', sums(100, 0, 100, { taxRate: 0 })],
  ['one line, a cent off', { lines: [line(1, 900, 900)], ...sums(900, '180.01', '1080.01', { taxRate: 20 }) }],
  [
    'one line, two cents off',
    { lines: [line(1, 900, 900)], ...sums(900, '180.02', '1080.02', { taxRate: 20 }) },
    '/taxAmount tax_amount'
  ],
  [
    'three lines, three cents off',
    { lines: [line(1, 300, 300), line(1, 300, 300), line(1, 300, 300)], ...sums(900, '179.97', '1079.97', { taxRate: 20 }) }
  ],
  [
    'three lines, four cents off',
    { lines: [line(1, 300, 300), line(1, 300, 300), line(1, 300, 300)], ...sums(900, '179.96', '1079.96', { taxRate: 20 }) },
    '/taxAmount tax_amount'
  ],
  ['no lines: a cent as for one', sums(900, '180.01', '1080.01', { taxRate: 20 })],
  ['no lines, two cents', sums(900, '180.02', '1080.02', { taxRate: 20 }), '/taxAmount tax_amount'],
  ['no subtotal: the lines', { lines: [line(1, 100, 100)], taxRate: 20, taxAmount: 21 }, '/taxAmount tax_amount'],
  ['no rate', sums(900, 7, 907)],
  ['a rate that is a share instead of percent', sums(900, 180, 1080, { taxRate: '0.2' }), '/taxAmount tax_amount']
]))

await t.test('lines with rates of their own are taxed by them', holds([
  ['two rates', { lines: [line(1, 100, 100, { taxRate: 20 }), line(1, 100, 100, { taxRate: '5.5' })], ...sums(200, '25.50', '225.50') }],
  [
    'two rates, three cents off',
    { lines: [line(1, 100, 100, { taxRate: 20 }), line(1, 100, 100, { taxRate: '5.5' })], ...sums(200, '25.53', '225.53') },
    '/taxAmount tax_amount'
  ],
  [
    'the document\'s rate for the others',
    { lines: [line(1, 100, 100, { taxRate: 5 }), line(1, 100, 100)], ...sums(200, 25, 225, { taxRate: 20 }) }
  ],
  ['a line without any rate', { lines: [line(1, 100, 100, { taxRate: 5 }), line(1, 100, 100)], ...sums(200, 99, 299) }],
  ['a free line', { lines: [line(1, 100, 100, { taxRate: 0 }), line(1, 100, 100)], ...sums(200, 20, 220, { taxRate: 20 }) }]
]))

await t.test('the total is subtotal + tax', holds([
  ['exact', sums('0.1', '0.2', '0.3')],
  ['noise of binary floats', sums(0.1, 0.2, 0.1 + 0.2)],
  ['a cent off', sums('0.1', '0.2', '0.31'), '/total total'],
  ['the tax left out', sums(900, 180, 900), '/total total'],
  ['no subtotal: the sum of the lines', { lines: [line(1, 100, 100)], taxAmount: 20, total: 121 }, '/total total'],
  ['no subtotal, and it fits', { lines: [line(1, 100, 100)], taxAmount: 20, total: 120 }],
  ['no tax', { subtotal: 900, total: 7 }],
  ['no total', { subtotal: 900, taxAmount: 7 }]
]))

await t.test('what is due is the total less what is prepaid, rounded', holds([
  ['less what is prepaid', { total: '120.00', prepaidAmount: 20, amountDue: '100.00' }],
  ['rounded', { total: '120.02', prepaidAmount: '20.00', roundingAmount: '-0.02', amountDue: '100.00' }],
  ['the whole total all the same', { total: '120.00', prepaidAmount: '20.00', amountDue: '120.00' }, '/amountDue amount_due'],
  ['rounded the other way', { total: '120.02', roundingAmount: '0.02', amountDue: '120.00' }, '/amountDue amount_due'],
  ['nothing told of why', { total: '120.00', amountDue: '100.00' }],
  ['nothing told of what is due', { total: '120.00', prepaidAmount: '20.00' }]
]))

await t.test('the minor unit is that of the currency', holds([
  ['JPY: half a yen', { currency: 'JPY', lines: [line(1, '100.5', 101)] }],
  ['JPY: more than half a yen', { currency: 'JPY', lines: [line(1, '100.51', 100)] }, '/lines/0/total line_total'],
  ['JPY: one yen of tax', { currency: 'JPY', ...sums(999, 101, 1100, { taxRate: 10 }) }, '/taxAmount tax_amount'],
  ['JPY: less than one yen of tax', { currency: 'JPY', ...sums(999, 100, 1099, { taxRate: 10 }) }],
  ['BHD: half a fils', { currency: 'BHD', lines: [line(1, '0.0005', '0.001')] }],
  ['BHD: more than the slack', { currency: 'BHD', lines: [line(1, '0.005', '0.031')] }, '/lines/0/total line_total'],
  ['CLF: four decimals', { currency: 'CLF', ...sums('0.0001', '0.0002', '0.0003') }],
  ['CLF: the fourth is off', { currency: 'CLF', ...sums('0.0001', '0.0002', '0.0004') }, '/total total'],
  ['the template\'s, where the data have none', { lines: [line(1, '100.5', 101)] }, undefined, { currency: 'JPY' }],
  [
    'an expression of the template is none',
    { lines: [line(1, '100.5', 101)] },
    '/lines/0/total line_total',
    { currency: '{{ currency }}' }
  ],
  ['none at all counts as two digits', { lines: [line(1, '0.005', '0.01')] }]
]))

await t.test('a currency is one of ISO 4217', holds([
  ...['EUR', 'USD', 'CHF', 'JPY', 'BHD', 'XOF'].map((currency): Pairs[number] => [currency, { currency }]),
  ...['EURO', 'eur', 'XYZ', '€', '', 'ZZZ'].map((currency): Pairs[number] => [currency, { currency }, '/currency unknown_currency'])
]))

await t.test('the due date is not before the date', holds([
  ['later', { date: '2026-03-14', dueDate: '2026-04-13' }],
  ['the same day', { date: '2026-03-14', dueDate: '2026-03-14' }],
  ['the day before', { date: '2026-03-14', dueDate: '2026-03-13' }, '/dueDate due_date_before_date'],
  ['in the request', { date: '2026-03-14' }, '/invoicing/dueDate due_date_before_date', { fields: { dueDate: '2026-03-13' } }],
  ['times count by their day', { date: '2026-03-14T23:00:00Z', dueDate: '2026-03-14T01:00:00Z' }],
  ['no date', { dueDate: '2026-03-20' }]
]))

await t.test('a due date in the past is a warning', (t) => {
  t.strictSame(check({ date: '2026-01-01', dueDate: '2026-03-13' }), { problems: [], warnings: ['/dueDate due_date_in_the_past'] })
  t.strictSame(check({ dueDate: '2026-03-14' }), { problems: [], warnings: [] })
  t.strictSame(check({}, { fields: { dueDate: '2026-03-13' } }), { problems: [], warnings: ['/invoicing/dueDate due_date_in_the_past'] })
  t.strictSame(check({ date: '2026-03-10', dueDate: '2026-03-09' }).warnings, [], 'one that is wrong is not also warned of')
  t.end()
})

await t.test('an account that is none is a warning, because the document tells it all the same', (t) => {
  t.strictSame(check({ bankDetails: { iban: 'ie29 aibk 9311 5212 3456 78', bic: 'AIBKIE2D' } }), { problems: [], warnings: [] })
  t.strictSame(check({ bankDetails: { iban: 'IE29AIBK93115212345679', bic: 'AIB' } }), {
    problems: [],
    warnings: ['/bankDetails/iban bad_iban', '/bankDetails/bic bad_bic']
  })
  t.strictSame(check({ bankDetails: { iban: ' ', bic: '' } }).warnings, [])
  t.end()
})

await t.test('the customer has a name, an e-mail where one is sent, and an address of the right form', holds([
  ['no customer', { customer: {} }, '/customer/name required'],
  ['a blank name', { customer: { name: ' \t' } }, '/customer/name required'],
  ['no e-mail, none sent', { customer: { name: 'Ada' } }],
  ['no e-mail, one sent', { customer: { name: 'Ada' } }, '/customer/email required', { fields: { sendByEmail: true } }],
  ['an e-mail, one sent', { customer: { name: 'Ada', email: 'ada@example.com' } }, undefined, { fields: { sendByEmail: true } }],
  ...['ada', 'ada@', '@example.com', 'a b@example.com', 'ada@example', ''].map(
    (email): Pairs[number] => [`e-mail ${email}`, { customer: { name: 'Ada', email } }, '/customer/email format']
  ),
  ...[
    ['FR', '75001'],
    ['GB', 'SW1A 1AA'],
    ['DE', '10115'],
    ['US', '94103-1234'],
    ['NL', '1012 AB'],
    ['IE', 'D02 XY45'],
    ['JP', '100-0001'],
    ['CA', 'K1A 0B1']
  ].map(([country = '', postalCode = '']): Pairs[number] => [country, { customer: { name: 'Ada', country, postalCode } }]),
  ['Northern Ireland', { customer: { name: 'Ada', country: 'XI', postalCode: 'BT1 5GS' } }],
  ['Kosovo', { customer: { name: 'Ada', country: '1A', postalCode: '10000' } }],
  ['a country without a known form', { customer: { name: 'Ada', country: 'AE', postalCode: 'whatever' } }],
  ['a postal code of no country', { customer: { name: 'Ada', postalCode: '?' } }],
  ...['France', 'fr', 'XX', 'FRA', ''].map((country): Pairs[number] => [
    `country ${country}`,
    { customer: { name: 'Ada', country, postalCode: '75001' } },
    '/customer/country unknown_country'
  ])
]))

await t.test('values of another type are left to the schema of the data', holds([
  ['texts that are no decimals', { lines: [line('two', '1e3', '0x10')], subtotal: ' 1', taxAmount: '1,5', total: '' }],
  [
    'lists, objects, null',
    { lines: [null, 7, [line(1, 1, 2)]], subtotal: {}, taxAmount: null, total: [], date: 7, dueDate: false, currency: 1 }
  ],
  ['lines that are none', { lines: { 0: line(1, 1, 2) } }]
]))

const currencies = [['EUR', 2], ['JPY', 0], ['BHD', 3]] as const
const decimal = (max: number, digits: number): fc.Arbitrary<Decimal> =>
  fc.integer({ min: 0, max }).map((value) => new Decimal(value).div(10 ** digits))

type Invoice = { data: JsonObject & { lines: readonly JsonObject[] }, unit: Decimal }

/** Invoices as a correct program writes them: every sum rounded to the minor unit of its currency. */
const consistent: fc.Arbitrary<Invoice> = fc.record({
  currency: fc.constantFrom(...currencies),
  lines: fc.array(fc.record({ quantity: decimal(100_000, 3), unitPrice: decimal(1_000_000, 4), rate: fc.option(decimal(2500, 2)) }), {
    minLength: 1,
    maxLength: 20
  }),
  rate: decimal(2500, 2),
  asText: fc.boolean()
}).map(({ currency: [currency, digits], lines, rate, asText }) => {
  const value = (amount: Decimal): string | number => asText ? amount.toFixed(digits) : Number(amount)
  const totals = lines.map(({ quantity, unitPrice }) => quantity.mul(unitPrice).toDecimalPlaces(digits))
  const subtotal = Decimal.sum(...totals)
  const taxAmount = Decimal.sum(...totals.map((total, index) => total.mul(lines[index]?.rate ?? rate).div(100))).toDecimalPlaces(digits)
  return {
    unit: new Decimal(10).pow(-digits),
    data: {
      currency,
      taxRate: Number(rate),
      subtotal: value(subtotal),
      taxAmount: value(taxAmount),
      total: value(subtotal.add(taxAmount)),
      lines: lines.map(({ quantity, unitPrice, rate: own }, index) =>
        line(Number(quantity), unitPrice.toFixed(4), value(totals[index] ?? subtotal), own === null ? {} : { taxRate: Number(own) })
      )
    }
  }
})

await t.test('an invoice whose sums are right always passes', (t) => {
  fc.assert(fc.property(consistent, ({ data }) => {
    t.strictSame(check(data).problems, [])
  }), { numRuns: 300 })
  t.end()
})

await t.test('one sum that is wrong by more than its tolerance always fails at its pointer', (t) => {
  const perturbed = fc.tuple(consistent, fc.constantFrom('subtotal', 'taxAmount', 'total', 'line'), fc.nat(),
    fc.integer({ min: 2, max: 1_000_000 }), fc.boolean())
  fc.assert(fc.property(perturbed, ([{ data, unit }, what, pick, units, up]) => {
    // The tax may be off by one unit for each line, and by its own rounding; a line by the slack and the rounding of a hundred prices.
    const least = what === 'line' ? new Decimal('0.52') : unit.mul(what === 'taxAmount' ? data.lines.length : 0)
    const error = unit.mul(units).add(least).mul(up ? 1 : -1)
    const wrong = (value: unknown): string => new Decimal(value as string | number).add(error).toFixed()
    const index = pick % data.lines.length
    const [path, changed] = what === 'line'
      ? [
        `/lines/${index}/total`,
        { ...data, lines: data.lines.map((item, at) => at === index ? { ...item, total: wrong(item['total']) } : item) }
      ]
      : [`/${what}`, { ...data, [what]: wrong(data[what as 'total']) }]
    t.ok(check(changed).problems.some((problem) => problem.startsWith(`${path} `)), path)
  }), { numRuns: 300 })
  t.end()
})

await t.test('a line that is off by less than a rounded price explains is a warning', (t) => {
  t.strictSame(check({ lines: [line(2, 450, '900.01')] }).warnings, ['/lines/0/total line_total'])
  t.strictSame(check({ lines: [line(10111, 11.10833, 112316.34)] }).warnings, ['/lines/0/total line_total'])
  t.strictSame(check({ lines: [line('12345678901', '99999999.99', '1234567889976543211.00')] }).warnings, ['/lines/0/total line_total'])
  t.strictSame(check({ lines: [line(2, 450, 900)] }).warnings, [])
  t.end()
})

await t.test('an amount finer than the minor unit is a warning where the rounded amounts add up, else a problem', (t) => {
  const pair = (currency: string, amount: number): JsonObject => ({
    currency,
    lines: [line(1, amount, amount), line(1, amount, amount)],
    ...sums(2 * amount, 0, 2 * amount, { taxRate: 0 })
  })
  const finer = ['/lines/0/total', '/lines/1/total', '/total', '/subtotal'].map((place) => `${place} finer_than_currency`)
  t.strictSame(check({ currency: 'JPY', lines: [line(1, 100.5, 100.5)], subtotal: 100.5, total: 101 }), {
    problems: [],
    warnings: ['/lines/0/total finer_than_currency', '/subtotal finer_than_currency']
  })
  t.strictSame(check(pair('JPY', 100.5)).problems, ['/lines/0/total finer_than_currency', '/lines/1/total finer_than_currency',
    '/subtotal subtotal'])
  t.strictSame(check(pair('EUR', 10.005)).problems, ['/lines/0/total finer_than_currency', '/lines/1/total finer_than_currency',
    '/subtotal subtotal'])
  t.strictSame(check(pair('EUR', 10.001)).warnings.sort(), finer.sort(), 'they are printed as 10.00, and as 20.00')
  t.strictSame(check(pair('KWD', 10.005)), { problems: [], warnings: [] })
  t.strictSame(check({ lines: [line(1, 7, 7, { allowances: [{ amount: 0.001 }] })], allowances: [{ amount: '1.999' }] }).warnings, [
    '/lines/0/allowances/0/amount finer_than_currency',
    '/allowances/0/amount finer_than_currency'
  ])
  t.end()
})

const two = {
  lines: [line(10, '10.00', '100.00', { taxRate: 5.5 }), line(1, 200, 200, { taxRate: 20 })],
  ...sums(300, '45.50', '345.50')
}
const taxes = [{ rate: '5.5', base: 100, amount: '5.50' }, { rate: 20, base: '200.00', amount: 40 }]

await t.test('the tax by rate is that of the lines, and comes to the tax', holds([
  ['right', { ...two, taxes }],
  ['one rate alone', { ...two, taxes: [{ rate: 20, base: '300.00', amount: '45.50' }] }, '/taxes taxes'],
  ['another sum', { ...two, taxes: [taxes[0] ?? {}, { rate: 20, base: 200, amount: '40.01' }] }, '/taxes taxes'],
  ['another base', { ...two, taxes: [{ rate: 5.5, base: 99, amount: '5.50' }, taxes[1] ?? {}] }, '/taxes taxes'],
  ['without bases', { ...two, taxes: taxes.map(({ rate, amount }) => ({ rate, amount })) }],
  ['one of two lines for a rate of 0 is left out', {
    lines: [line(1, 100, 100, { taxRate: 0 }), line(1, 200, 200, { taxRate: 20 })],
    ...sums(300, 40, 340),
    taxes: [{ rate: 20, base: 200, amount: 40 }]
  }],
  ['with an allowance of its own rate', {
    ...two,
    allowances: [{ amount: 10, taxRate: 20 }],
    taxAmount: '43.50',
    total: '333.50',
    taxes: [taxes[0] ?? {}, { rate: 20, base: 190, amount: 38 }]
  }]
]))

await t.test('allowances and charges are part of the total, and of the tax by their rate', holds([
  ['an allowance', { lines: [line(1, 100, 100)], allowances: [{ amount: 10, taxRate: 20 }], ...sums(100, 18, 108, { taxRate: 20 }) }],
  ['a percentage', { lines: [line(1, 100, 100)], allowances: [{ percent: 10, taxRate: 20 }], ...sums(100, 18, 108, { taxRate: 20 }) }],
  [
    'the tax without it',
    { lines: [line(1, 100, 100)], allowances: [{ amount: 10, taxRate: 20 }], ...sums(100, 20, 110, { taxRate: 20 }) },
    '/taxAmount tax_amount'
  ],
  ['after tax', { lines: [line(1, 100, 100)], allowances: [{ amount: 10 }], ...sums(100, 20, 110, { taxRate: 20 }) }],
  ['a percentage left out of the total', { lines: [line(1, 100, 100)], charges: [{ percent: 5 }], ...sums(100, 20, 120) }, '/total total'],
  ['of a line', { lines: [line(2, 50, 90, { allowances: [{ percent: 10 }] })] }],
  ['of a line, left out', { lines: [line(2, 50, 100, { allowances: [{ percent: 10 }] })] }, '/lines/0/total line_total']
]))

const inclusive = {
  pricesIncludeTax: true,
  lines: [line(3, '10.55', '31.65', { taxRate: 5.5 }), line(10, '13.33', '133.30', { taxRate: 20 })]
}

await t.test('where prices include the tax, the lines make the total, and the tax is in them', holds([
  ['right', { ...inclusive, ...sums('141.08', '23.87', '164.95') }],
  ['with an allowance', { ...inclusive, allowances: [{ amount: 12, taxRate: 20 }], ...sums('131.08', '21.87', '152.95') }],
  ['with taxes', { ...inclusive, ...sums('141.08', '23.87', '164.95'), taxes: [{ rate: 5.5, base: 30, amount: '1.65' }] }, '/taxes taxes'],
  ['the tax on top', { ...inclusive, ...sums('136.55', '28.40', '164.95') }, '/taxAmount tax_amount'],
  ['another total', { ...inclusive, ...sums('141.07', '23.87', '164.94') }, '/total total'],
  ['another subtotal', { ...inclusive, ...sums('164.95', '23.87', '164.95') }, '/subtotal subtotal']
].map(([name, data, problem]) => [name, data, problem] as Pairs[number])))

await t.test('a rate of 0 in the Union without its reason is a warning', (t) => {
  const seller = { country: 'FR' }
  const free = { seller, taxRate: 0, lines: [line(1, 200, 200)], ...sums(200, 0, 200) }
  t.strictSame(check(free).warnings, ['/taxExemptionReason exemption_reason_missing'])
  t.strictSame(check({ ...free, lines: [line(1, 200, 200, { taxRate: 0 }), line(1, 1, 1, { taxRate: 20 })] }).warnings.length, 1)
  for (const said of [
    { taxExemptionReason: 'Autoliquidation' },
    { statements: [{ text: 'TVA non applicable, art. 293 B du CGI' }] },
    { seller: { country: 'US' } },
    { taxRate: 20 },
    { taxCategory: 'Z' },
    { lines: [line(1, 200, 200, { taxExemptionCode: 'VATEX-EU-AE' })] }
  ]) t.notOk(check({ ...free, ...said }).warnings.includes('/taxExemptionReason exemption_reason_missing'), Object.keys(said).join())
  t.end()
})

/** Any invoice: its amounts may be finer than its currency, and may be off; the sums of some are right all the same. */
const any: fc.Arbitrary<JsonObject & { currency: string }> = fc.record({
  currency: fc.constantFrom(...currencies, ['CLF', 4] as const),
  amounts: fc.array(decimal(3_000, 3), { minLength: 1, maxLength: 5 }),
  tax: decimal(1_000, 3),
  off: fc.constantFrom(0, 0, 0, 0.001, -0.004, 0.005, 0.3),
  digits: fc.option(fc.nat({ max: 4 })),
  sign: fc.constantFrom(1, -1),
  asText: fc.boolean()
}).map(({ currency: [currency], amounts, tax, off, digits, sign, asText }) => {
  const value = (amount: Decimal): string | number => {
    const signed = (digits === null ? amount : amount.toDecimalPlaces(digits)).mul(sign)
    return asText ? signed.toFixed() : signed.toNumber()
  }
  const given = amounts.map(value)
  const subtotal = Decimal.sum(...given).abs()
  return {
    currency,
    lines: given.map((amount) => line(1, amount, amount)),
    ...sums(value(subtotal), value(tax), value(subtotal.add(tax).add(off)))
  }
})

await t.test('whatever is accepted is printed so that it adds up, and vendors get it in minor units', (t) => {
  let accepted = 0
  fc.assert(fc.property(any, (data) => {
    if (check(data).problems.length > 0) return
    accepted++
    const { currency } = data
    const printed = (value: unknown): Decimal => new Decimal(formatMoney(value as number, currency, 'en').replaceAll(/[^\d.-]/g, ''))
    const { lines, total } = invoiceOf(data)
    const totals = (data['lines'] as JsonObject[]).map((one) => printed(one['total']))
    t.equal(Decimal.sum(...totals).toFixed(), printed(data['subtotal']).toFixed())
    t.equal(printed(data['subtotal']).add(printed(data['taxAmount'])).toFixed(), printed(data['total']).toFixed())
    t.strictSame([...lines.map((one) => one.total), total].map((amount) => amount.toFixed()),
      [...totals, printed(data['total'])].map((amount) => amount.toFixed()))
    t.ok([...lines.map((one) => one.total), total].every((amount) => minorUnits(amount, currency).isInteger()))
  }), { numRuns: 500 })
  t.ok(accepted > 50, `${accepted} are accepted`)
  t.end()
})

await t.test('a postal code that the customer\'s country does not have is a warning', (t) => {
  const warned = (country: string, postalCode: string): string[] => check({ customer: { name: 'Ada', country, postalCode } }).warnings
  for (const [country, postalCode] of [
    ['FR', '7500'],
    ['GB', '75001'],
    ['DE', '1011'],
    ['US', '9410'],
    ['NL', '1012'],
    [
      'FR',
      ''
    ]
  ] as const) {
    t.strictSame(warned(country, postalCode), ['/customer/postalCode format'], `${country} ${postalCode}`)
  }
  for (const [country, postalCode] of [
    ['LU', 'L-1234'],
    ['GB', 'BFPO 57'],
    ['CH', 'CH-8000'],
    ['FR', '75008 CEDEX'],
    [
      'FR',
      '75008 CEDEX 08'
    ],
    ['LV', '1010'],
    ['LV', 'LV-1010'],
    ['DE', 'D-10115']
  ] as const) {
    t.strictSame(warned(country, postalCode), [], `${country} ${postalCode}`)
  }
  t.end()
})

await t.test('an e-invoice may be due before its date, with a warning', (t) => {
  const data = { date: '2026-04-14', dueDate: '2026-04-13', customer: { name: 'Ada' } }
  has(t, checkEInvoiceWords({ data, today: '2026-03-14' }), {
    problems: [],
    warnings: [{ path: '/template/data/dueDate', code: 'due_date_before_date' }]
  })
  const { problems = [], warnings = [] } = invoicing.check({
    data,
    template: { vocabulary: 'invoice' },
    fields: { documentType: 'E_INVOICE', dueDate: '2026-04-13' },
    at: (field) => `/invoicing/${field}`,
    provider: undefined,
    otherServices: [],
    today: '2026-03-14'
  })
  t.notOk(problems.some(({ path }) => path === '/invoicing/dueDate'))
  t.ok(warnings.some(({ path, code }) => path === '/invoicing/dueDate' && code === 'due_date_before_date'))
  t.end()
})

await t.test('a wrong tax amount is told with what it is compared to', (t) => {
  const messages = (data: JsonObject): string[] =>
    (checkInvoice({ data, template: {}, today: '2026-03-14' }).problems ?? [])
      .filter(({ code }) => code === 'tax_amount').map(({ message }) => message)
  has(t, messages({ lines: [line(1, 100, 100)], ...sums(100, 30, 130, { taxRate: 20 }) }), [/subtotal × tax rate/])
  has(t, messages({ lines: [line(1, 100, 100, { taxRate: 20 })], ...sums(100, 30, 130) }), [/the sum of line totals × their rates/])
  t.end()
})

const amount = fc.bigInt({ min: -99_999n, max: 9_999_999n }).map((units) => new Decimal(String(units)).div(1000).toFixed())
const rate = fc.constantFrom(0, 5.5, '10', 20)
const adjustment = fc.record({ percent: fc.option(fc.constantFrom(5, '12.5'), { nil: undefined }), amount, taxRate: rate })
  .map(({ percent, amount, taxRate }) => percent === undefined ? { amount, taxRate } : { percent, taxRate })
const computable = fc.record({
  currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
  pricesIncludeTax: fc.boolean(),
  taxRate: rate,
  prepaidAmount: fc.constantFrom(0, '10'),
  amountDue: fc.constant(0),
  lines: fc.array(
    fc.record({ description: fc.constant('x'), quantity: amount, unitPrice: amount, taxRate: rate, total: fc.constantFrom('', 1) }),
    { minLength: 1, maxLength: 6 }
  ),
  allowances: fc.array(adjustment, { maxLength: 2 })
})

await t.test('the sums that are computed are those that the rules accept, and are computed to be the same again', (t) => {
  fc.assert(fc.property(computable, (data) => {
    const computed = computeSums(data)
    t.strictSame(check(computed).problems.filter((problem) => !problem.includes('finer_than_currency')), [], JSON.stringify(computed))
    t.equal(computeSums(computed), computed, 'what is right stays')
  }), { numRuns: 150 })
  t.end()
})

await t.test('a sum that is right stays as it is written; one that is not known yet stays, too', (t) => {
  const lines = [line(2, '10.00', 20, { taxRate: 20 })]
  const given = { lines, ...sums('20', '4', 24.0) }
  t.equal(computeSums(given), given)
  t.strictSame(computeSums({ ...given, lines: [line(3, '10.00', 20, { taxRate: 20 })] }), {
    lines: [line(3, '10.00', 30, { taxRate: 20 })],
    subtotal: '30.00',
    taxAmount: '6.00',
    total: 36
  }, 'a number stays a number')
  const begun = { lines: [{ description: 'x', quantity: 2 }], total: '' }
  t.equal(computeSums(begun), begun)
  const taxes = [{ rate: 20, category: 'S', base: '20.00', amount: '1.00' }]
  has(t, computeSums({ ...given, taxes }), { taxes: [{ rate: 20, category: 'S', base: '20.00', amount: '4.00' }] })
  t.equal((computeSums({ ...given, lines: [line(1, '0.105', 0)], currency: 'JPY' }) as any).lines[0].total, 0)
  t.end()
})
