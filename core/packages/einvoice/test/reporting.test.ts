import t from 'tap'
import type { JsonObject } from '../../common/json.ts'
import { BrokenReport, checkReport, type EReport, gatherPayments, gatherTransactions, type LeftOut, reportPeriod, type SentInvoice,
  writeReport } from '../index.ts'
import type { ReportedInvoice } from '../reporting/report.ts'
import { plain } from './support.ts'
import { type Element, readXml } from './xml.ts'

const siren = '732829320'
const period = { start: '2026-03-11', end: '2026-03-20' }
const line = (more: JsonObject): JsonObject => ({ description: 'Tea', quantity: 1, unitPrice: '10.00', taxRate: 20, ...more })
const consumer = { name: 'Ada Lovelace', city: 'Lyon', country: 'FR' }

let made = 0
function sent (data: JsonObject, more: Partial<SentInvoice> = {}): SentInvoice {
  made += 1
  return {
    id: `d${made}`,
    data: { ...plain, currency: 'EUR', operationNature: 'GOODS', number: `F-${made}`, ...data },
    payments: [],
    ...more
  }
}

const head = {
  id: 'R-1',
  type: 'IN',
  issued: '2026-03-21T08:00:00',
  sender: { id: '0042', name: 'Plateforme' },
  declarant: { siren, name: 'Müller & Söhne', role: 'SE' },
  period
} as const

const transactions = async (...invoices: SentInvoice[]) => gatherTransactions(invoices, { siren, period })
const payments = async (...invoices: SentInvoice[]) => gatherPayments(invoices, { siren, period })
const why = (left: readonly LeftOut[]): string[] => left.map(({ reason }) => reason)
const texts = (element: Element, name: string): string[] =>
  element.children.flatMap((child) => [...(child.name === name ? [child.text] : []), ...texts(child, name)])

await t.test('sales to consumers are added up by day, category and rate, and credit notes taken off', async (t) => {
  const { days, invoices, left, counted } = await transactions(
    sent({ customer: consumer, lines: [line({}), line({ taxRate: 5.5 })] }),
    sent({ customer: consumer, lines: [line({ quantity: 3 })] }),
    sent({ customer: consumer, operationNature: 'SERVICES' }),
    sent({ customer: consumer, date: '2026-03-12', taxCategory: 'O', lines: [line({ taxCategory: 'O', taxRate: null })] }),
    sent({ customer: consumer, type: '381', lines: [line({})] }),
    sent({ customer: consumer, date: '2026-03-21' })
  )
  t.strictSame(left, [])
  t.strictSame(invoices, [])
  t.equal(counted.length, 5)
  t.strictSame(days, [
    {
      date: '2026-03-12',
      currency: 'EUR',
      category: 'TNT1',
      base: '10.00',
      tax: '0.00',
      count: 1,
      taxes: [{ rate: '0', base: '10.00', amount: '0.00' }]
    },
    {
      date: '2026-03-14',
      currency: 'EUR',
      category: 'TLB1',
      base: '40.00',
      tax: '6.55',
      count: 3,
      taxes: [{ rate: '20', base: '30.00', amount: '6.00' }, { rate: '5.5', base: '10.00', amount: '0.55' }]
    },
    {
      date: '2026-03-14',
      currency: 'EUR',
      category: 'TPS1',
      base: '20.00',
      tax: '4.00',
      count: 1,
      taxes: [{ rate: '20', base: '20.00', amount: '4.00' }]
    }
  ])
  const report = readXml(writeReport({ ...head, kind: 'transactions', invoices, days }))
  t.equal(report.name, 'Report')
  t.strictSame(texts(report, 'CategoryCode'), ['TNT1', 'TLB1', 'TPS1'])
  t.strictSame(texts(report, 'TransactionsCount'), ['1', '3', '1'])
  t.strictSame(texts(report, 'StartDate'), ['20260311'])
  t.strictSame(texts(report, 'DateTimeString'), ['20260321080000'])
})

await t.test('an invoice to a business abroad is reported alone', async (t) => {
  const exempt = {
    taxCategory: 'K',
    taxExemptionReason: 'Intra-community supply',
    taxExemptionCode: 'VATEX-EU-IC',
    lines: [line({ taxCategory: 'K', taxRate: 0, quantity: '0.12345' }), line({ taxCategory: 'K', taxRate: 0, unitPrice: '-1' })],
    allowances: [{ amount: '1.00', taxCategory: 'K', taxRate: 0, reason: 'Rebate' }],
    statements: [{ code: 'AAB', text: 'No discount' }, { code: 'PMT', text: 'EUR 40' }],
    delivery: { date: '2026-03-13', country: 'ES' },
    precedingInvoices: [{ number: 'F-0', date: '2026-03-01' }]
  }
  const { invoices, days, left } = await transactions(
    sent({ number: 'F 7', ...exempt }),
    sent({ number: 'F-8', customer: { name: 'Lovelace Engines Incorporated', country: 'US', registration: { id: '77' } } })
  )
  t.strictSame([left, days], [[], []])
  t.strictSame(invoices[0], {
    number: 'F 7',
    date: '2026-03-14',
    type: '380',
    currency: 'EUR',
    dueDate: '2026-04-13',
    notes: [{ code: 'AAB', text: 'No discount' }],
    process: 'B1',
    preceding: [{ number: 'F-0', date: '2026-03-01' }],
    seller: { id: { id: siren, scheme: '0002' }, vatId: 'FR39732829320', country: 'FR' },
    customer: { id: { id: 'ESX1234567X', scheme: '0223' }, vatId: 'ESX1234567X', country: 'ES' },
    delivery: { date: '2026-03-13', country: 'ES' },
    adjustments: [{ isCharge: false, amount: '1.00', category: 'K', rate: '0' }],
    base: '-0.77',
    tax: '0.00',
    taxes: [{ base: '-0.77', amount: '0.00', category: 'K', rate: '0', reason: 'Intra-community supply', reasonCode: 'VATEX-EU-IC' }],
    lines: [{ name: 'Tea', quantity: '0.1235', price: '10', unit: 'C62' }, { name: 'Tea', quantity: '1', unit: 'C62' }]
  })
  t.strictSame(invoices[1]?.customer.id, { id: 'USLovelace Engines', scheme: '0227' })
  const report = readXml(writeReport({ ...head, kind: 'transactions', invoices, days }))
  t.strictSame(texts(report, 'CompanyId'), [siren, 'ESX1234567X', siren, 'USLovelace Engines'])
  t.strictSame(texts(report, 'TypeID').slice(0, 1), ['urn.cpro.gouv.fr:1p0:ereporting'])
})

await t.test('what is not reported is told with its reason, and whether somebody must mend it', async (t) => {
  const cases: [string, boolean, SentInvoice][] = [
    ['data_gone', true, { ...sent({}), data: undefined }],
    ['data_gone', true, { ...sent({}), data: undefined, sent: '2026-03-12' }],
    ['unreadable', true, sent({ number: '' })],
    ['unreadable', true, sent({ seller: { name: 'Ada', country: 'ES' } })],
    ['nature_unknown', true, sent({ operationNature: null })],
    ['nature_unknown', true, sent({ operationNature: null, customer: consumer })],
    ['nature_mixed', true, sent({ operationNature: 'MIXED', customer: consumer })],
    ['margin', true, sent({ customer: consumer, taxExemptionCode: 'VATEX-EU-F', lines: [line({ taxCategory: 'E', taxRate: 0 })] })],
    ['other_currency', true, sent({ customer: consumer, currency: 'USD' })],
    ['other_currency', true, sent({ currency: 'USD' })],
    ['customer_unidentified', true, sent({ customer: { name: 'Ada', country: 'ES', registration: { id: '7' } } })],
    ['broken_rules', true, sent({ number: 'F/#1' })],
    ['broken_rules', true, sent({ customer: consumer, lines: [line({ taxRate: 21 })] })],
    ['domestic', false, sent({ customer: { ...consumer, registration: { id: '404833048', scheme: '0002' } } })],
    ['domestic', false, sent({ customer: { ...consumer, vatId: 'FR83404833048' } })],
    ['out_of_scope', false, sent({ statements: [{ code: 'BAR', text: 'OUTOFSCOPE' }] })],
    ['exempt', false, sent({ customer: consumer, taxExemptionCode: 'VATEX-EU-132-1I', lines: [line({ taxCategory: 'E', taxRate: 0 })] })],
    ['other_seller', false, sent({ seller: { ...plain.seller, vatId: 'FR83404833048' } })],
    ['void', false, sent({}, { isVoid: true })]
  ]
  for (const [reason, needed, one] of cases) {
    const { left: [left], counted } = await transactions(one)
    t.strictSame([left?.reason, left?.needed, left?.of, counted], [reason, needed, one.id, []], reason)
  }
  const ofAnotherDay = { ...sent({}), data: undefined, sent: '2026-03-21' }
  t.strictSame((await transactions(ofAnotherDay)).left, [])
  const twice = sent({ number: 'F-99' })
  const { left, counted } = await transactions(twice, { ...twice, id: 'again' })
  t.strictSame([why(left), left[0]?.of, counted], [['duplicate'], 'again', [twice.id]])
  t.strictSame((await transactions(sent({ number: 'F/#1' }))).left[0]?.problems?.map(({ code, path }) => `${code} ${path}`), [
    'G1.05 /number'
  ])
  const abroad = sent({ customer: { name: 'Ada', country: 'US' } })
  t.strictSame((await transactions(abroad)).assumed, [abroad.id])
  t.strictSame(
    (await gatherTransactions([sent({ operationNature: null, customer: consumer })], { siren, period, usualNature: 'SERVICES' })).days
      .map(({ category }) => category),
    ['TPS1']
  )
})

await t.test('payments of services are reported by invoice or by day, in the day of Paris', async (t) => {
  const at = new Date('2026-03-14T23:30:00Z')
  const service = { operationNature: 'SERVICES', lines: [line({}), line({ taxRate: 5.5 })], date: '2026-01-02' }
  const { invoices, days, left } = await payments(
    sent({ ...service, number: 'F-50' }, {
      payments: [{ at, amounts: [{ rate: '20.0', amount: '5.00' }] }, { at: new Date('2026-04-01T00:00:00Z') }]
    }),
    sent({ ...service, customer: consumer }, { payments: [{ at }] }),
    sent({ ...service, customer: consumer }, { payments: [{ at, amounts: [{ rate: '20', amount: '1.50' }] }] })
  )
  t.strictSame(left, [])
  t.strictSame(invoices, [{ number: 'F-50', date: '2026-01-02', payment: { date: '2026-03-15', parts: [{ rate: '20', amount: '5.00' }] } }])
  t.strictSame(days, [{ date: '2026-03-15', parts: [{ rate: '20', amount: '13.50' }, { rate: '5.5', amount: '10.55' }] }])
  const report = readXml(writeReport({ ...head, kind: 'payments', invoices, days }))
  t.strictSame(texts(report, 'Amount'), ['5.00', '13.50', '10.55'])
  const earlier = new Date('2026-02-10T08:00:00Z')
  const rest = await payments(
    sent({ ...service, number: 'F-51' }, { payments: [{ at: earlier, amounts: [{ rate: '20', amount: '5.00' }] }, { at }, { at }] }),
    sent({ ...service, customer: consumer, lines: [line({ unitPrice: '1000.00' })], prepaidAmount: '300.00' }, { payments: [{ at }] }),
    sent({ ...service, customer: consumer, prepaidAmount: '7.00' }, { payments: [{ at: new Date('2026-03-16T08:00:00Z') }] }),
    sent({ ...service, customer: consumer, lines: [line({})], prepaidAmount: '12.00' }, {
      payments: [{ at: new Date('2026-03-17T08:00:00Z') }]
    })
  )
  t.strictSame(rest.invoices.map(({ payment }) => payment), [{
    date: '2026-03-15',
    parts: [{ rate: '20', amount: '7.00' }, { rate: '5.5', amount: '10.55' }]
  }], 'what came in before is taken off, and nothing comes in twice')
  t.strictSame(rest.days, [
    { date: '2026-03-15', parts: [{ rate: '20', amount: '900.00' }] },
    { date: '2026-03-16', parts: [{ rate: '20', amount: '8.27' }, { rate: '5.5', amount: '7.28' }] },
    { date: '2026-03-17', parts: [{ rate: '20', amount: '12.00' }] }
  ], 'what was prepaid is taken off')
  const none: [string, SentInvoice][] = [
    ['goods', sent({}, { payments: [{ at }] })],
    ['nature_mixed', sent({ operationNature: 'MIXED' }, { payments: [{ at }] })],
    ['taxed_when_invoiced', sent({ ...service, taxPointCode: '5' }, { payments: [{ at }] })],
    ['not_taxed', sent({ ...service, lines: [line({ taxCategory: 'AE', taxRate: 0 })] }, { payments: [{ at }] })],
    ['refund', sent(service, { payments: [{ at, amounts: [{ rate: '20', amount: '-5.00' }] }] })],
    ['broken_rules', sent({ ...service, number: 'F/#2' }, { payments: [{ at }] })]
  ]
  for (const [reason, one] of none) t.strictSame(why((await payments(one)).left), [reason])
  t.strictSame(await payments(sent(service)), { kind: 'payments', invoices: [], days: [], left: [], assumed: [], counted: [] })
})

await t.test('a report that breaks a rule is not written, and the rule is named with its place', async (t) => {
  const { invoices: [invoice] } = await transactions(sent({}))
  const { days: [day] } = await transactions(sent({ customer: consumer }))
  if (invoice === undefined || day === undefined) throw new Error('Nothing was gathered.')
  const whole: EReport = { ...head, kind: 'transactions', invoices: [invoice], days: [day] }
  t.strictSame(checkReport(whole), [])
  const [tax] = invoice.taxes
  const [part] = day.taxes
  if (tax === undefined || part === undefined) throw new Error('There is no VAT.')
  const ofInvoice = (more: Partial<ReportedInvoice>): EReport => ({ ...whole, invoices: [{ ...invoice, ...more }] })
  const ofPayment = (amount: string): EReport => ({
    ...head,
    kind: 'payments',
    invoices: [{ number: 'F-1', date: '2026-03-01', payment: { date: '2026-03-12', parts: [{ rate: '20', amount }] } }],
    days: [{ date: '2026-13-12', parts: [{ rate: '21', amount: '1' }] }]
  })
  const cases: [readonly string[], EReport][] = [
    [['G1.104 /id'], { ...whole, id: 'a  b' }],
    [['G7.53 /issued'], { ...whole, issued: '2026-03-21' }],
    [['G6.22 /sender/id'], { ...whole, sender: { id: '12345', name: 'P' } }],
    [['G6.26 /declarant/siren'], { ...whole, declarant: { ...head.declarant, siren: '1' } }],
    [['G6.25 /period/end'], { ...whole, period: { start: '2026-03-11', end: '2026-03-11' } }],
    [['G1.09 /invoices/0/date'], ofInvoice({ date: '2026-02-30' })],
    [['G1.05 /invoices/0/number'], ofInvoice({ number: 'F'.repeat(36) })],
    [['G1.01 /invoices/0/type'], ofInvoice({ type: '262' })],
    [['G1.02 /invoices/0/process'], ofInvoice({ process: 'B8' })],
    [['G1.60 /invoices/0/type'], ofInvoice({ process: 'B4', type: '386' })],
    [['P1.11 /invoices/0/taxPointCode'], ofInvoice({ taxPointCode: '4' })],
    [['G6.21 /invoices/0/taxes'], ofInvoice({ taxes: [{ ...tax, reasonCode: 'VATEX-FR-CNWVAT' }] })],
    [['G1.32 /invoices/0/preceding'], ofInvoice({ type: '384' })],
    [['G1.32 /invoices/0/preceding'], ofInvoice({ type: '381' })],
    [['G6.28 /invoices/0/customer/id'], ofInvoice({ customer: { country: 'ES' } })],
    [['G2.19 /invoices/0/customer/id'], ofInvoice({ customer: { id: { id: '1', scheme: '0009' } } })],
    [['G2.33 /invoices/0/customer/vatId'], ofInvoice({ customer: { id: { id: 'ES1', scheme: '0223' } } })],
    [['G2.01 /invoices/0/customer/country'], ofInvoice({ customer: { ...invoice.customer, country: 'Spain' } })],
    [['G2.33 /invoices/0/seller/vatId'], ofInvoice({ seller: { id: { id: siren, scheme: '0002' } } })],
    [['G1.102 /invoices/0/seller/vatId'], ofInvoice({
      seller: { id: { id: 'a', scheme: '0227' } },
      taxes: [{ ...tax, category: 'E', reason: 'a', reasonCode: 'b' }]
    })],
    [['G1.10 /invoices/0/currency'], ofInvoice({ currency: 'euro' })],
    [['G2.31 /invoices/0/taxes/0/category'], ofInvoice({ taxes: [{ ...tax, category: 'L' }] })],
    [['G1.24 /invoices/0/taxes/0/rate'], ofInvoice({ taxes: [{ ...tax, rate: '19' }] })],
    [['G1.40 /invoices/0/taxes/0/reason'], ofInvoice({ taxes: [{ ...tax, category: 'E' }] })],
    [['G1.14 /invoices/0/taxes/0/amount'], ofInvoice({ taxes: [{ ...tax, amount: '4.000' }] })],
    [['G1.53 /invoices/0/base'], ofInvoice({ base: '20.02' })],
    [['G1.53 /invoices/0/tax'], ofInvoice({ tax: '3.98' })],
    [['G1.15 /invoices/0/lines/0/quantity'], ofInvoice({ lines: [{ quantity: '0.12345' }] })],
    [['G1.16 /invoices/0/lines/0/price'], ofInvoice({ lines: [{ price: '-1' }] })],
    [['G1.68 /days/0/category'], { ...whole, days: [{ ...day, category: 'XXX' as 'TLB1' }] }],
    [['G1.53 /days/0/tax'], { ...whole, days: [{ ...day, tax: '4.02' }] }],
    [['G1.24 /days/0/taxes/0/rate'], { ...whole, days: [{ ...day, taxes: [{ ...part, rate: '7.5' }] }] }],
    [['G1.16 /invoices/0/payment/parts/0/amount', 'G1.09 /days/0/date', 'G1.24 /days/0/parts/0/rate'], ofPayment('-1')]
  ]
  for (const [expected, report] of cases) {
    t.strictSame(checkReport(report).map(({ code, path }) => `${code} ${path}`), expected, expected.join(', '))
    t.throws(() => writeReport(report), BrokenReport)
  }
})

void t.test('the periods of each way to declare VAT, and until when they are reported', (t) => {
  const of = (...given: Parameters<typeof reportPeriod>): string => Object.values(reportPeriod(...given)).join(' ')
  t.equal(of('NORMAL_MONTHLY', 'transactions', '2026-02-10'), '2026-02-01 2026-02-10 2026-02-20')
  t.equal(of('NORMAL_MONTHLY', 'transactions', '2026-02-11'), '2026-02-11 2026-02-20 2026-03-02')
  t.equal(of('NORMAL_MONTHLY', 'transactions', '2028-02-29'), '2028-02-21 2028-02-29 2028-03-10')
  t.equal(of('NORMAL_MONTHLY', 'payments', '2026-12-31'), '2026-12-01 2026-12-31 2027-01-10')
  t.equal(of('NORMAL_QUARTERLY', 'transactions', '2026-01-31'), '2026-01-01 2026-01-31 2026-02-10')
  t.equal(of('SIMPLIFIED', 'payments', '2026-01-31'), '2026-01-01 2026-01-31 2026-02-28')
  t.equal(of('SIMPLIFIED', 'payments', '2026-12-01'), '2026-12-01 2026-12-31 2027-01-30')
  t.equal(of('EXEMPT', 'transactions', '2026-02-01'), '2026-01-01 2026-02-28 2026-03-30')
  t.equal(of('EXEMPT', 'payments', '2026-11-30'), '2026-11-01 2026-12-31 2027-01-30')
  t.end()
})

void t.test('a French business without a SIREN is no consumer, and VAT of another country of the union is not French', async (t) => {
  const business = { ...consumer, registration: { id: '12345', scheme: '0225' } }
  const { left, days } = await transactions(
    sent({ number: 'F-1', customer: business }),
    sent({ number: 'F-2', customer: { name: 'Ada', city: 'Bonn', country: 'DE' }, lines: [line({ taxRate: 19 })] }),
    sent({ number: 'F-3', lines: [line({ taxRate: 19 })] })
  )
  t.strictSame(why(left), ['customer_unidentified', 'broken_rules'])
  t.strictSame(days.map(({ category, tax, taxes }) => [category, tax, taxes.map(({ rate }) => rate)]), [['TNT1', '0.00', ['0']]])
})
