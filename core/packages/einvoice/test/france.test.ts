import t from 'tap'
import type { JsonObject } from '../../common/json.ts'
import type { EInvoiceFormat } from '../model/profiles.ts'
import { checkEInvoice } from '../rules/check.ts'
import { frenchRules } from '../rules/france.ts'
import { pageDataOf } from '../write/write.ts'
import { plain, ublText } from './support.ts'
import { all, readXml, textAt } from './xml.ts'

const [tea] = plain.lines
const party = (siren: string, vatId: string): JsonObject => ({ ...plain.seller, vatId, registration: { id: siren, scheme: '0002' } })
const [seller, customer] = [party('732829320', 'FR44732829320'), party('404833048', 'FR83404833048')]
const statements = [{ code: 'PMT', text: '40 €' }, { code: 'PMD', text: '3 ×' }, { code: 'AAB', text: 'Néant' }]
/** What a French platform takes. */
const french: JsonObject = { ...plain, eInvoiceProfile: 'EXTENDED_CTC_FR', seller, customer, statements, operationNature: 'SERVICES' }

function reported (data: JsonObject, format: EInvoiceFormat, rules?: 'FRANCE'): { problems: string[], warnings: string[] } {
  const { problems, warnings } = checkEInvoice(data, { format, currency: 'EUR', rules }, '')
  const of = ({ code, path }: { code: string, path: string }): string => `${code} ${path}`
  return { problems: problems.map(of), warnings: warnings.map(of) }
}

const said = (code: string, text: string): JsonObject => ({ statements: [...statements, { code, text }] })
const line = (change: JsonObject): JsonObject => ({ lines: [{ ...tea, ...change }] })
const between = said('BAR', 'B2B')
const paid = { dueDate: undefined, businessProcess: 'S2' } as unknown as JsonObject

/** What breaks one rule of the platforms, as their validator 1.4.0.03 says of the XML that is made of it. */
const breaches: readonly (readonly [string, JsonObject])[] = [
  ['BR-FR-01 /number', { number: 'X'.repeat(36) }],
  ['BR-FR-02 /number', { number: 'F 1' }],
  ['BR-FR-02 /precedingInvoices/0/number', { precedingInvoices: [{ number: 'F.0' }] }],
  ['BR-FR-03 /dueDate', { dueDate: '2100-01-01' }],
  ['BR-FR-04 /type', { type: 326 }],
  ['BR-FR-05 /statements', { statements: statements.slice(1) }],
  ['BR-FR-06 /statements', said('PMT', '40 €')],
  ['BR-FR-08 /businessProcess', { businessProcess: 'X1' }],
  ['BR-FR-09 /seller/id/id', { seller: { ...seller, id: { id: '11111111100011', scheme: '0009' } } }],
  ['BR-FR-09 /customer/id/id', { customer: { ...customer, id: { id: '404833048', scheme: '0009' } } }],
  ['BR-FR-10 /seller/registration', { seller: plain.seller, ...said('x', '') }],
  ['BR-FR-11 /customer/registration', { ...between, customer: { ...plain.customer, electronicAddress: { id: '1', scheme: '0225' } } }],
  ['BR-FR-12 /customer/electronicAddress', { customer: plain.customer }],
  ['BR-FR-13 /seller/electronicAddress', { seller: { ...seller, registration: { id: '73282932000074', scheme: '0009' } } }],
  ['BR-FR-15 /lines/0/taxCategory', line({ taxCategory: 'L', taxRate: 20 })],
  ['BR-FR-16 /lines/0/taxRate', line({ taxRate: 21 })],
  ['BR-FR-17 /attachments/0/description', { attachments: [{ id: '1', description: 'plan' }] }],
  ['BR-FR-18 /attachments', { attachments: ['1', '2'].map((id) => ({ id, description: 'LISIBLE' })) }],
  ['BR-FR-20 /statements/3/text', said('BAR', 'B2Z')],
  ['BR-FR-21 /customer/electronicAddress', {
    ...between,
    customer: { ...customer, electronicAddress: { id: 'a@b.example', scheme: 'EM' } }
  }],
  ['BR-FR-22 /seller/electronicAddress', { ...between, type: 389, seller: { ...seller, electronicAddress: { id: '1', scheme: '0225' } } }],
  ['BR-FR-23 /customer/electronicAddress/id', { customer: { ...customer, electronicAddress: { id: '404833048 A', scheme: '0225' } } }],
  ['BR-FR-24 /seller/id/id', { seller: { ...seller, id: { id: 'a b', scheme: '0224' } } }],
  ['BR-FR-25 /customer/electronicAddress/id', { customer: { ...customer, electronicAddress: { id: '4'.repeat(126), scheme: '0225' } } }],
  ['BR-FR-26 /seller/id/id', { seller: { ...seller, id: { id: 'a'.repeat(101), scheme: '0224' } } }],
  ['BR-FR-31 /statements', { statements: [...statements, { code: 'BAR', text: 'B2C' }, { code: 'BAR', text: 'B2C' }] }],
  ['BR-FR-32 /payee/registration/id', { payee: { name: 'P', registration: { id: '1', scheme: '0002' } } }],
  ['BR-FR-CO-03 /contractReference', { type: 262, precedingInvoices: [{ number: 'F-0', date: '2026-01-01' }] }],
  ['BR-FR-CO-04 /precedingInvoices', { type: 384 }],
  ['BR-FR-CO-05 /precedingInvoices', { type: 381, precedingInvoices: [{ number: 'F-0' }] }],
  ['BR-FR-CO-07 /dueDate', { dueDate: '2026-03-01' }],
  ['BR-FR-CO-08 /businessProcess', { type: 386, businessProcess: 'S4' }],
  ['BR-FR-CO-09 /prepaidAmount', { businessProcess: 'S2', prepaidAmount: 1 }],
  ['BR-FR-CO-09 /dueDate', { ...paid, prepaidAmount: 24 }],
  ['BR-FR-CO-10 /seller/id', { seller: { ...seller, id: [{ id: 'a', scheme: '0224' }, { id: 'b', scheme: '0224' }] } }],
  ['BR-FR-CO-12 /taxCurrencyAmount', { currency: 'USD' }],
  ['BR-FR-CO-14 /statements', { seller: { ...seller, id: { id: '732829320', scheme: '0231' } } }],
  ['BR-FR-CO-15 /taxRepresentative', { seller: { ...seller, id: { id: '732829320', scheme: '0231' } } }],
  ['BR-FR-DEC-02 /lines/0/quantity', line({ quantity: '1.12345' })],
  ['BR-FR-DEC-02 /lines/0/priceQuantity', line({ priceQuantity: '1.12345' })],
  ['BR-FR-DEC-03 /lines/0/unitPrice', line({ unitPrice: '1.1234567' })],
  ['BR-FR-DEC-03 /lines/0/priceDiscount', line({ priceDiscount: -1 })],
  ['BR-FR-DEC-04 /lines/0/taxRate', line({ taxRate: '5.555' })],
  ['BR-FR-MV-02 /businessProcess', { businessProcess: 'S8' }],
  ['BR-FR-BD-02 /businessProcess', { businessProcess: 'M9' }]
]

for (const [expected, change] of breaches) {
  void t.test(`${expected} is told for what breaks it`, (t) => {
    for (const format of ['CII', 'UBL'] as const) {
      const found = reported({ ...french, ...change }, format).problems.filter((one) => one.startsWith('BR-FR'))
      t.ok(found.includes(expected), found.join(', '))
    }
    t.end()
  })
}

void t.test('each rule of the platforms is broken here, and an invoice that breaks none passes', (t) => {
  const tested = new Set(breaches.map(([expected]) => expected.split(' ')[0]))
  t.strictSame(frenchRules.filter(({ id }) => !tested.has(id)).map(({ id }) => id), [])
  for (const format of ['FACTUR_X', 'CII', 'UBL'] as const) t.strictSame(reported(french, format), { problems: [], warnings: [] })
  const selfBilled = { ...french, type: 389, ...between }
  t.strictSame(reported(selfBilled, 'UBL'), { problems: [], warnings: [] })
  t.equal(textAt(readXml(ublText(selfBilled)), 'InvoiceTypeCode'), '389')
  const id = { id: '1' }
  const unschemed: JsonObject = {
    ...french,
    seller: { ...seller, id },
    customer: { ...customer, id: [{ id: '2', scheme: '0224' }, id] },
    payee: { name: 'P', id: { id: '3' } },
    delivery: { location: id }
  }
  t.strictSame(reported(unschemed, 'UBL').problems,
    ['/seller/id', '/customer/id/1', '/payee/id', '/delivery/location'].map((at) => `BR-FR-CO-10 ${at}/scheme`))
  t.strictSame(reported(unschemed, 'CII').problems, [])
  const noted = readXml(ublText({ ...french, ...between, notes: 'Thank you' }))
  t.equal(all(noted, 'Note').at(-1)?.text, '#BAR#B2B', 'platforms would read a note behind it as a part of it')
  const corrected = { ...french, type: 384, precedingInvoices: [{ number: 'F-0', date: '2026-01-01' }] }
  t.strictSame(reported(corrected, 'UBL'), { problems: [], warnings: [] })
  t.end()
})

void t.test('the rules are errors of the French profile and of French platforms, and advice for others between French parties', (t) => {
  const { eInvoiceProfile: _, ...other } = { ...french, number: 'F 1' } as JsonObject
  const abroad = { ...other, customer: plain.customer }
  const refused = 'BR-FR-02 /number'
  for (const format of ['CII', 'FACTUR_X'] as const) {
    t.ok(reported(other, format).warnings.includes(refused))
    t.notOk(reported(other, format).problems.includes(refused))
    t.ok(reported(other, format, 'FRANCE').problems.includes(refused))
    t.strictSame(reported(abroad, format, 'FRANCE'), { problems: [], warnings: [] }, 'a customer abroad')
  }
  t.ok(reported({ ...french, ...abroad, eInvoiceProfile: 'EXTENDED_CTC_FR' }, 'CII').problems.includes(refused))
  const { eInvoiceProfile: __, ...unnamed } = french
  t.ok(reported(unnamed, 'UBL').warnings.includes('BR-FR-08 /businessProcess'), 'Peppol fixes the business process')
  t.end()
})

void t.test('the kind of the invoice follows from what it is about and what is paid; what the data say themselves wins', (t) => {
  const kind = (change: JsonObject, format: EInvoiceFormat = 'CII'): unknown =>
    pageDataOf({ ...french, ...change }, { format, currency: 'EUR' })['businessProcess']
  const earlier = { precedingInvoices: [{ number: 'F-0', date: '2026-01-01' }] }
  t.strictSame([
    kind({}),
    kind({ operationNature: 'GOODS' }),
    kind({ operationNature: 'MIXED', prepaidAmount: 24 }),
    kind({ ...earlier, prepaidAmount: 10 }),
    kind({ ...earlier, prepaidAmount: 10, type: 386 }),
    kind({ prepaidAmount: 10 }),
    kind({ businessProcess: 'B7' }),
    kind({ seller: plain.customer })
  ], ['S1', 'B1', 'M2', 'S4', 'S1', 'S1', 'B7', undefined])
  t.equal(textAt(readXml(ublText(french)), 'ProfileID'), 'S1')
  t.end()
})
