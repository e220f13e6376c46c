import t from 'tap'
import type { JsonObject } from '../../common/json.ts'
import { checkInvoice, readInvoice, writeInvoice } from '../index.ts'
import { pageDataOf } from '../write/write.ts'
import { plain as unpaid } from './support.ts'

const plain: JsonObject & Pick<typeof unpaid, 'seller' | 'customer'> = { ...unpaid, currency: 'EUR' }
const line = (id: string, more: JsonObject): JsonObject => ({ id, description: `Line ${id}`, taxRate: 20, ...more })
const kit = line('1', { lineType: 'GROUP' })
const nested: JsonObject = {
  ...plain,
  eInvoiceProfile: 'EXTENDED',
  lines: [
    kit,
    line('1.1', { parentLine: '1', quantity: 2, unitPrice: 10 }),
    line('1.2', { parentLine: '1', lineType: 'GROUP' }),
    line('1.2.1', { parentLine: '1.2', quantity: 1, unitPrice: 5 }),
    line('1.2.2', { parentLine: '1.2', lineType: 'INFORMATION' }),
    line('2', { quantity: 1, unitPrice: 100 })
  ]
}
const french = {
  ...plain.seller,
  registration: { id: '732829320', scheme: '0002' },
  electronicAddress: { id: '732829320', scheme: '0225' }
}
const domestic: JsonObject = {
  ...nested,
  eInvoiceProfile: 'EXTENDED_CTC_FR',
  operationNature: 'GOODS',
  seller: french,
  customer: { ...plain.customer, electronicAddress: { id: '123456783', scheme: '9957' } },
  statements: ['PMT', 'PMD', 'AAB'].map((code) => ({ code, text: 'x' }))
}
const codes = (data: JsonObject, profile: 'EXTENDED' | 'EXTENDED_CTC_FR' | 'EN16931', format: 'CII' | 'UBL'): string[] =>
  checkInvoice(data, profile, format).problems.map(({ code, path }) => `${code} ${path}`)

void t.test('a group has the sum of the lines below it, and counts in none of the sums of the invoice', (t) => {
  for (const [profile, format, data] of [
    ['EXTENDED', 'CII', nested],
    ['EXTENDED_CTC_FR', 'CII', domestic],
    ['EXTENDED_CTC_FR', 'UBL', domestic]
  ] as const) {
    t.strictSame(codes(data, profile, format), [], `${profile} ${format}`)
    const xml = writeInvoice(data, profile, format)
    const { data: read, totals, problems, lost } = readInvoice(Buffer.from(xml))
    t.strictSame([problems, lost], [[], []])
    const { lines } = read as { lines: { id: string, parentLine?: string, lineType?: string, total?: string }[] }
    t.strictSame(lines.map(({ id, parentLine = '', lineType = '', total = '' }) => [id, parentLine, lineType, total].join(' ').trim()), [
      '1  GROUP 25.00',
      '1.1 1 DETAIL 20.00',
      '1.2 1 GROUP 5.00',
      '1.2.1 1.2 DETAIL 5.00',
      format === 'UBL' ? '1.2.2 1.2 INFORMATION 0.00' : '1.2.2 1.2 INFORMATION',
      '2   100.00'
    ])
    t.strictSame([totals.subtotal, totals.taxAmount], ['125.00', '25.00'])
    t.equal(writeInvoice(read, profile, format), xml, 'read and written again')
  }
  t.end()
})

void t.test('a profile that has no lines below lines refuses them, also where none is named', (t) => {
  t.ok(codes(nested, 'EN16931', 'CII').includes('not_in_profile /lines/0/lineType'))
  const { eInvoiceProfile: _, ...unnamed } = nested
  t.ok(checkInvoice(unnamed, 'EN16931', 'UBL').problems.some(({ path }) => path === '/lines/1/parentLine'))
  t.end()
})

void t.test('a group whose lines stand below each other ends, and the page shows the sums of groups', (t) => {
  const circle = {
    ...nested,
    lines: [line('1', { lineType: 'GROUP', parentLine: '2' }), line('2', { lineType: 'GROUP', parentLine: '1' })]
  }
  t.strictSame(codes(circle, 'EXTENDED', 'CII').filter((code) => code.startsWith('circle')), [
    'circle_of_lines /lines/0/parentLine',
    'circle_of_lines /lines/1/parentLine'
  ])
  const { lines } = pageDataOf(nested, { format: 'FACTUR_X', currency: 'EUR' }) as { lines: JsonObject[] }
  t.strictSame(lines.map(({ total, unitPrice }) => [total, unitPrice]), [
    ['25.00', undefined],
    ['20.00', '10'],
    ['5.00', undefined],
    ['5.00', '5'],
    [undefined, undefined],
    ['100.00', '100']
  ])
  t.end()
})

void t.test('an extended invoice may be paid in several ways, each with its accounts', (t) => {
  const data: JsonObject = {
    ...plain,
    eInvoiceProfile: 'EXTENDED',
    payment: { means: 58, reference: 'F-1' },
    bankDetails: [{ iban: 'FR7630006000011234567890189' }, { iban: 'DE02120300000000202051' }],
    otherPayments: [
      { card: { number: '1234' } },
      { means: 59, text: 'SEPA', mandate: { account: 'DE02120300000000202051' } },
      { means: 30, bankDetails: { account: '12345678', accountHolder: 'A' } }
    ]
  }
  t.strictSame(codes(data, 'EXTENDED', 'CII'), [])
  t.strictSame(codes(data, 'EN16931', 'CII'), ['not_in_profile /otherPayments'])
  const xml = writeInvoice(data, 'EXTENDED')
  t.strictSame([...xml.matchAll(/<ram:SpecifiedTradeSettlementPaymentMeans><ram:TypeCode>(\d+)</g)].map(([, code]) => code), [
    '58',
    '58',
    '48',
    '59',
    '30'
  ])
  const read = readInvoice(Buffer.from(xml))
  t.strictSame([read.problems, read.lost], [[], []])
  t.strictSame(read.data['otherPayments'], [
    { means: '48', card: { number: '1234' } },
    { means: '59', text: 'SEPA', mandate: { account: 'DE02120300000000202051' } },
    { means: '30', bankDetails: { account: '12345678', accountHolder: 'A' } }
  ])
  t.equal(writeInvoice(read.data, 'EXTENDED'), xml)
  t.end()
})

void t.test('in UBL what several accounts have in common stands once, as its validators ask', (t) => {
  const data: JsonObject = {
    ...plain,
    payment: { means: 1, text: 'Bank', reference: 'F-1', card: { number: '1234' }, mandate: { reference: 'M', account: '1' } },
    bankDetails: [{ iban: 'FR7630006000011234567890189' }, { iban: 'DE02120300000000202051' }]
  }
  const xml = writeInvoice(data, 'EN16931', 'UBL')
  for (const once of ['name="Bank"', '<cac:CardAccount>', '<cac:PaymentMandate>']) t.equal(xml.split(once).length, 2, once)
  t.equal(xml.split('<cac:PaymentMeans>').length, 3)
  const read = readInvoice(Buffer.from(xml))
  t.strictSame([read.problems, read.lost], [[], []])
  t.equal(writeInvoice(read.data, 'EN16931', 'UBL'), xml)
  t.end()
})

void t.test('ten thousand groups, each below the one before, are summed and checked', (t) => {
  const max = 10_000
  const lines = Array.from({ length: max }, (_, index) => {
    const above = index === 0 ? {} : { parentLine: String(index - 1) }
    return line(String(index), index === max - 1 ? { ...above, quantity: 1, unitPrice: 5 } : { ...above, lineType: 'GROUP' })
  })
  t.strictSame(codes({ ...nested, lines }, 'EXTENDED', 'CII'), [])
  const [first, ...others] = lines
  const circle = [{ ...first, parentLine: String(max - 2) }, ...others]
  t.equal(codes({ ...nested, lines: circle }, 'EXTENDED', 'CII').filter((code) => code.startsWith('circle')).length > 0, true)
  t.end()
})
