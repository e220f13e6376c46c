import fc from 'fast-check'

/** Texts that cause trouble in XML, in Liquid and from keyboards. */
const awkward = fc.constantFrom('Müller & Söhne', '<b>"x"</b>', ']]>', '{{ x }}', 'Łódź', 'Ελλάς', 'a\u0000b\u0007c', '  spaced  ',
  '#abc# x', 'né\u0301', '日本')
const word = fc.oneof(awkward, fc.string({ minLength: 1, maxLength: 12 }))
/** Sometimes present, sometimes blank. */
function maybe<T> (arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: 2 })
}

/** Mostly present. */
function often<T> (arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: 8 })
}

/** The fields that are present: JSON has no undefined. */
function object (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(fields).map((made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)))
}

const cents = fc.integer({ min: 0, max: 500_000 }).map((amount) => (amount / 100).toFixed(2))
const price = fc.tuple(fc.integer({ min: 0, max: 9_999_999 }), fc.integer({ min: 0, max: 5 })).map(([digits, decimals]) =>
  (digits / 10 ** decimals).toFixed(decimals)
)
const date = fc.date({ min: new Date('2024-01-01'), max: new Date('2030-12-31'), noInvalidDate: true }).map((day) =>
  day.toISOString().slice(0, 10)
)
const country = fc.constantFrom('FR', 'ES', 'PL', 'AT', 'BE', 'US', 'XI', 'DE', 'IT', 'NL', 'SE')
const vatId = fc.constantFrom('FR39732829320', 'ESX1234567X', 'PL1234567890', 'ATU12345678', 'DE123456789')
const schemed = object({ id: word, scheme: maybe(fc.constantFrom('0002', '0009', '0106', '0160', '0060')) })
const address = {
  address: maybe(word),
  addressLine2: maybe(word),
  addressLine3: maybe(word),
  city: maybe(word),
  postalCode: maybe(fc.constantFrom('69001', 'AB1 2CD')),
  region: maybe(word),
  country
}
const period = fc.tuple(date, date).chain(([one, other]) =>
  object({ start: maybe(fc.constant(one < other ? one : other)), end: maybe(fc.constant(one < other ? other : one)) })
)

const party = object({
  name: word,
  tradingName: maybe(word),
  email: maybe(word),
  phone: maybe(word),
  contact: maybe(word),
  ...address,
  vatId: often(vatId),
  taxId: maybe(word),
  id: maybe(schemed),
  registration: maybe(schemed),
  legalForm: maybe(word),
  electronicAddress: fc.constantFrom({ id: '4000001000005', scheme: '0088' }, { id: 'x@y.example', scheme: '0060' })
})

const rates = ['20', '5.5', '2.1', '19', '7']
/** Categories that may occur together, each with its permitted rates. */
const taxes = fc.constantFrom(
  fc.constantFrom(...rates).map((taxRate) => ({ taxRate })),
  fc.oneof(fc.constantFrom(...rates).map((taxRate) => ({ taxRate })),
    fc.constantFrom({ taxCategory: 'Z' }, { taxCategory: 'E', taxExemptionCode: 'VATEX-EU-132' }, { taxCategory: 'AE' }, {
      taxCategory: 'K'
    }, { taxCategory: 'G' })),
  fc.constant({ taxCategory: 'O' }),
  fc.constantFrom({ taxCategory: 'L', taxRate: 7 }, { taxCategory: 'M', taxRate: 4 })
)

type Fields = Record<string, unknown>

/** An amount or a percentage. With both, the amount would have to be correct. */
function adjustment (codes: readonly string[]): fc.Arbitrary<Fields> {
  const [reason, reasonCode] = [fc.string({ minLength: 1, maxLength: 12 }).map((text) => `r${text}`), fc.constantFrom(...codes)]
  const why = fc.oneof(fc.record({ reason }), fc.record({ reasonCode }), fc.record({ reason, reasonCode }))
  const much = fc.oneof(object({ amount: cents }), object({ percent: fc.integer({ min: 0, max: 100 }) }))
  return fc.tuple(much, why).map(([sum, said]) => ({ ...sum, ...said }))
}
const allowance = adjustment(['95', '100', '41'])
const charge = adjustment(['FC', 'ADR', 'ZZZ'])

function line (tax: fc.Arbitrary<Fields>): fc.Arbitrary<Fields> {
  const own = object({
    id: maybe(word),
    description: word,
    name: maybe(word),
    note: maybe(word),
    quantity: fc.integer({ min: -50, max: 500 }),
    unit: maybe(fc.constantFrom('HUR', 'KGM', 'XPP', 'C62')),
    unitPrice: price,
    priceQuantity: maybe(fc.constantFrom(1, 3, 1000)),
    priceDiscount: maybe(price),
    allowances: maybe(fc.array(allowance, { maxLength: 2 })),
    charges: maybe(fc.array(charge, { maxLength: 2 })),
    period: maybe(period),
    orderLine: maybe(word),
    accountingReference: maybe(word),
    object: maybe(object({ id: word, scheme: maybe(fc.constant('AAA')) })),
    sellerItemId: maybe(word),
    buyerItemId: maybe(word),
    standardItemId: maybe(fc.record({ id: word, scheme: fc.constant('0160') })),
    classifications: maybe(fc.array(object({ code: word, list: fc.constant('STI'), version: maybe(word) }), { maxLength: 2 })),
    origin: maybe(country),
    attributes: maybe(fc.array(fc.record({ name: word, value: word }), { maxLength: 2 }))
  })
  return fc.tuple(own, tax).map(([fields, taxed]) => ({ ...fields, ...taxed }))
}

/** Random data of invoices: nearly everything in the vocabulary, mostly valid. */
export const invoices: fc.Arbitrary<Fields> = taxes.chain((tax) => {
  const adjusted = (adjustment: fc.Arbitrary<Fields>): fc.Arbitrary<Fields> =>
    fc.tuple(adjustment, tax as fc.Arbitrary<Fields>).map(([own, taxed]) => ({ ...own, ...taxed }))
  return object({
    type: maybe(fc.constantFrom(380, '381', 384, 386)),
    number: word,
    date,
    dueDate: date,
    taxPointDate: maybe(date),
    currency: maybe(fc.constantFrom('EUR', 'USD', 'JPY')),
    taxCurrency: maybe(fc.constant('CHF')),
    taxCurrencyAmount: fc.constant('0.00'),
    buyerReference: word,
    orderReference: maybe(word),
    salesOrderReference: maybe(word),
    projectReference: maybe(word),
    contractReference: maybe(word),
    receiptReference: maybe(word),
    despatchReference: maybe(word),
    tenderReference: maybe(word),
    object: maybe(object({ id: word })),
    accountingReference: maybe(word),
    businessProcess: maybe(fc.constant('S1')),
    precedingInvoices: maybe(fc.array(object({ number: word, date: maybe(date) }), { maxLength: 1 })),
    seller: party,
    customer: party,
    payee: maybe(object({ name: word, id: maybe(schemed) })),
    taxRepresentative: maybe(object({ name: word, vatId, ...address })),
    delivery: often(object({ name: maybe(word), date: often(date), location: maybe(schemed), ...address })),
    period: maybe(period),
    lines: fc.array(line(tax as fc.Arbitrary<Fields>), { minLength: 1, maxLength: 5 }),
    allowances: maybe(fc.array(adjusted(allowance), { maxLength: 2 })),
    charges: maybe(fc.array(adjusted(charge), { maxLength: 2 })),
    prepaidAmount: maybe(cents),
    roundingAmount: maybe(fc.constantFrom('0.01', '-0.02')),
    paymentTerms: maybe(word),
    payment: maybe(
      object({
        means: maybe(fc.constantFrom(10, 59, 48, 'ZZZ')),
        text: maybe(word),
        reference: maybe(word),
        mandate: maybe(object({ reference: word, creditorId: maybe(word), account: maybe(word) })),
        card: maybe(fc.constant({ number: '1234' }))
      })
    ),
    bankDetails: maybe(
      object({ iban: fc.constant('FR76 3000 6000 0112 3456 7890 189'), bic: maybe(fc.constant('AGRIFRPP')), accountHolder: maybe(word) })
    ),
    notes: maybe(word),
    conditions: maybe(word),
    statements: maybe(fc.array(fc.record({ code: fc.constantFrom('PMT', 'AAB'), text: word }), { maxLength: 2 })),
    attachments: maybe(
      fc.array(object({ id: word, description: maybe(word), url: maybe(fc.constant('https://example.com/a?b=1&c')) }), { maxLength: 2 })
    )
  })
})
