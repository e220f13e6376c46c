import t from 'tap'
import type { JsonObject } from '../../common/json.ts'
import { BrokenStatus, buyerCodes, type BuyerSaying, buyerStatus, checkStatus, type InvoiceStatus, readStatus, reasonsOf, type Saying,
  sellerStatus, type StatusCode, statusCodes, UnreadableInvoice, writeStatus } from '../index.ts'
import { factsOf, reasonedStatuses } from '../lifecycle/status-codes.ts'
import { plain } from './support.ts'

const siren = (id: string): { id: string, scheme: string } => ({ id, scheme: '0002' })
const seller = { role: 'SE', id: siren('732829320'), name: 'Atelier Boréal', address: { id: '732829320_STATUTS', scheme: '0225' } }
const buyer = { role: 'BY', id: siren('404833048'), name: 'Létang & Fils', address: { id: '404833048', scheme: '0225' } }

/** What the seller says who has got the money. */
const collected: InvoiceStatus = {
  id: 'F-1_212_20260802100000',
  process: 'REGULATED',
  code: '212',
  name: 'Encaissée',
  issued: '2026-08-02T10:05:00',
  at: '2026-08-02T10:00:00',
  invoice: { number: 'F-1', type: '380', date: '2026-07-01', received: '2026-07-01T15:10:00', seller: siren('732829320') },
  sender: { role: 'WK' },
  issuer: { role: 'SE', id: siren('732829320'), name: 'Atelier Boréal' },
  recipients: [buyer, { role: 'DFH', id: { id: '9998', scheme: '0238' }, name: 'PPF' }],
  details: [{ amounts: [{ kind: 'MEN', amount: '12000.00', currency: 'EUR', rate: '20.00' }] }]
}

const wrongRate = { kind: 'DIV', of: 'BT-152', rate: '9', isChanged: true }

/** The same invoice in another status, as its phase is told. */
function inStatus (code: string, more: Partial<InvoiceStatus> = {}): InvoiceStatus {
  const { phase, name } = statusCodes[code as unknown as keyof typeof statusCodes]
  return {
    ...collected,
    id: `F-1_${code}`,
    code,
    name,
    issuer: phase === '305' ? { role: 'WK' } : { role: buyer.role, id: buyer.id },
    recipients: [seller],
    details: [],
    ...more
  }
}

void t.test('each status of the life cycle is written, and read as it was', (t) => {
  for (const code of Object.keys(statusCodes)) {
    const [reasonCode] = factsOf(code as StatusCode).reasons ?? []
    const details = code === '212'
      ? collected.details
      : reasonedStatuses.has(code) && reasonCode !== undefined
      ? [{ reasonCode, reason: 'Why', actionCode: 'NIN', action: 'What', amounts: [wrongRate] }]
      : []
    const status = inStatus(code, { details })
    t.strictSame(checkStatus(status), [], code)
    t.strictSame(readStatus(Buffer.from(writeStatus(status))), [status], code)
  }
  t.end()
})

void t.test('what is paid stands in the message with its rate, and when', (t) => {
  const xml = writeStatus(collected)
  for (const part of [
    '<ram:ID>urn.cpro.gouv.fr:1p0:CDV:invoice</ram:ID>',
    '<ram:TypeCode>23</ram:TypeCode>',
    '<ram:ProcessConditionCode>212</ram:ProcessConditionCode><ram:ProcessCondition>Encaissée</ram:ProcessCondition>',
    '<ram:ValueAmount currencyID="EUR">12000.00</ram:ValueAmount><ram:ValuePercent>20.00</ram:ValuePercent>',
    '<udt:DateTimeString format="204">20260802100500</udt:DateTimeString>',
    '<qdt:DateTimeString format="102">20260701</qdt:DateTimeString>'
  ]) t.ok(xml.includes(part), part)
  t.end()
})

void t.test('a status that breaks a rule of the platforms is not written, and the rule is named', (t) => {
  const cases: [string, InvoiceStatus][] = [
    ['BR-FR-04 /invoice/type', { ...collected, invoice: { ...collected.invoice, type: '326' } }],
    ['BR-FR-CDV-03 /id', { ...collected, id: '' }],
    ['BR-FR-CDV-07 /issuer/id', { ...collected, issuer: { role: 'SE' } }],
    ['BR-FR-CDV-07 /issuer/id', inStatus('200', { issuer: { role: 'WK', id: siren('1') } })],
    ['BR-FR-CDV-08 /recipients', { ...collected, recipients: [{ role: 'BY' }] }],
    ['BR-FR-CDV-10 /invoice/number', { ...collected, invoice: { ...collected.invoice, number: '' } }],
    ['BR-FR-CDV-11 /invoice/date', { ...collected, invoice: { number: 'F-1', type: '380', seller: siren('732829320') } }],
    ['BR-FR-CDV-13 /invoice/seller', { ...collected, invoice: { number: 'F-1', type: '380', date: '2026-07-01' } }],
    ['BR-FR-CDV-14 /details', { ...collected, details: [] }],
    ['BR-FR-CDV-14 /details', { ...collected, details: [{ amounts: [{ kind: 'MEN', amount: '1' }] }] }],
    ['BR-FR-CDV-15 /details', inStatus('210')],
    ['BR-FR-CDV-CL-01 /process', { ...collected, process: 'S1' }],
    ['BR-FR-CDV-CL-02 /sender/role', inStatus('200', { sender: { role: 'SE' } })],
    ['BR-FR-CDV-CL-03 /issuer/role', inStatus('205', { issuer: { role: 'XX', id: siren('1') } })],
    ['BR-FR-CDV-CL-04 /recipients', inStatus('205', { recipients: [{ ...seller, role: 'XX' }] })],
    ['BR-FR-CDV-CL-09 /details', inStatus('208', { details: [{ reasonCode: 'DOUBLON' }] })],
    ['BR-FR-CDV-CL-10 /details', inStatus('205', { details: [{ actionCode: 'XXX' }] })],
    ['BR-FR-CDV-CL-11 /details', inStatus('205', { details: [{ amounts: [{ kind: 'XXX' }] }] })]
  ]
  for (const [expected, status] of cases) {
    t.strictSame(checkStatus(status).map(({ code, path }) => `${code} ${path}`), [expected])
    t.throws(() => writeStatus(status), BrokenStatus)
  }
  t.end()
})

void t.test('a message about several invoices has a status of each, and one of nothing is told', (t) => {
  const xml = writeStatus(collected)
  const reference = /<ram:ReferenceReferencedDocument>.*<\/ram:ReferenceReferencedDocument>/s.exec(xml)?.[0] ?? ''
  const both = xml.replace(reference, reference + reference.replace('>F-1<', '>F-2<').replace('>212<', '>299<'))
  t.strictSame(readStatus(Buffer.from(both)).map(({ code, invoice }) => [code, invoice.number]), [['212', 'F-1'], ['299', 'F-2']])
  for (const bytes of ['<a/>', 'x', '<!DOCTYPE a><a/>', xml.replaceAll('ExchangedDocument>', 'Other>'), ' '.repeat(6_000_000)]) {
    t.throws(() => readStatus(Buffer.from(bytes)), UnreadableInvoice)
  }
  t.end()
})

const french = {
  ...plain,
  currency: 'EUR',
  customer: { name: 'Létang', city: 'Paris', country: 'FR', registration: { id: '404833048', scheme: '0002' } },
  lines: [
    { description: 'Tea', quantity: 2, unitPrice: '10.00', taxRate: 20 },
    { description: 'Book', quantity: 1, unitPrice: '10.00', taxRate: 5.5 }
  ]
}
const saying = (more: Partial<Saying> = {}): Saying => ({ code: '212', at: '2026-08-02T10:00:00.000Z', ...more })
const made = { id: 'message-1', issued: '2026-08-02T10:05:00.000Z', reading: { format: 'CII', currency: undefined } } as const

void t.test('a seller who is paid says how much with each rate: of all of the invoice, unless told', (t) => {
  const { status, problems } = sellerStatus(french, saying(), made)
  t.strictSame(problems, [])
  t.strictSame(readStatus(Buffer.from(writeStatus(status))), [status])
  t.strictSame(status, {
    id: 'message-1',
    process: 'REGULATED',
    code: '212',
    name: 'Encaissée',
    issued: '2026-08-02T10:05:00',
    at: '2026-08-02T10:00:00',
    invoice: { number: 'F-1', type: '380', date: '2026-03-14', seller: siren('732829320') },
    sender: { role: 'WK' },
    issuer: { role: 'SE', id: siren('732829320'), name: 'Müller & Söhne' },
    recipients: [
      { role: 'BY', id: siren('404833048'), name: 'Létang', address: { id: '404833048', scheme: '0225' } },
      { role: 'DFH', id: { id: '9998', scheme: '0238' }, name: 'PPF' }
    ],
    details: [{
      amounts: [
        { kind: 'MEN', rate: '20.00', amount: '24.00', currency: 'EUR' },
        { kind: 'MEN', rate: '5.50', amount: '10.55', currency: 'EUR' }
      ]
    }]
  })
  const part = sellerStatus(french, saying({ amounts: [{ rate: '5.5', amount: '4.00' }], reason: 'By card' }), made)
  t.strictSame([part.problems, part.status.details], [[], [{
    reason: 'By card',
    amounts: [{ kind: 'MEN', rate: '5.5', amount: '4.00', currency: 'EUR' }]
  }]])
  t.strictSame(sellerStatus(french, saying({ code: '209', amounts: [{ rate: '1', amount: '1' }] }), made).status.details, [])
  t.end()
})

void t.test('a consumer, a customer abroad, and what cannot be said', (t) => {
  const process = (customer: JsonObject): string => sellerStatus({ ...french, customer }, saying(), made).status.process
  t.strictSame([process({ name: 'Ada', country: 'FR' }), process(plain.customer)], ['B2C', 'B2BINT'])
  const reported = (data: JsonObject, more: Partial<Saying> = {}): string[] =>
    sellerStatus({ ...french, ...data }, saying(more), made).problems.map(({ code, path }) => `${code} ${path}`)
  t.strictSame(reported({}, { amounts: [{ rate: '20', amount: '1' }, { rate: '10', amount: '1' }] }), ['unknown_rate /amounts/1/rate'])
  t.strictSame(reported({ seller: { name: 'Acme', country: 'FR' } }), ['BR-FR-CDV-07 ', 'BR-FR-CDV-13 '])
  t.strictSame(reported({ type: '326' }), ['BR-FR-04 '])
  t.end()
})

void t.test('a buyer approves, refuses or pays, by messages that are read as they were', (t) => {
  const says = (saying: Omit<BuyerSaying, 'at'>, data: JsonObject = {}) =>
    buyerStatus({ ...french, ...data }, { at: '2026-08-02T10:00:00.000Z', ...saying }, made)
  for (const code of buyerCodes) {
    const [reasonCode] = reasonedStatuses.has(code) ? reasonsOf(code) : []
    const { status, problems } = says({ code, ...(reasonCode !== undefined && { reasonCode, reason: 'Why' }) })
    t.strictSame(problems, [], code)
    t.strictSame(readStatus(Buffer.from(writeStatus(status))), [status], code)
    t.equal(status.recipients.some(({ role }) => role === 'DFH'), code === '210', 'the portal hears of a refusal alone')
  }
  t.strictSame(says({ code: '211', amount: '24.00' }).status, {
    id: 'message-1',
    process: 'REGULATED',
    code: '211',
    name: 'Paiement transmis',
    issued: '2026-08-02T10:05:00',
    at: '2026-08-02T10:00:00',
    invoice: { number: 'F-1', type: '380', date: '2026-03-14', seller: siren('732829320') },
    sender: { role: 'WK' },
    issuer: { role: 'BY', id: siren('404833048'), name: 'Létang' },
    recipients: [{ role: 'SE', id: siren('732829320'), name: 'Müller & Söhne', address: { id: '732829320', scheme: '0225' } }],
    details: [{ amounts: [{ kind: 'MPA', amount: '24.00', currency: 'EUR' }] }]
  })
  const reported = (saying: Omit<BuyerSaying, 'at'>, data: JsonObject = {}): string[] =>
    says(saying, data).problems.map(({ code, path }) => `${code} ${path}`)
  t.strictSame(reported({ code: '210' }), ['BR-FR-CDV-15 /reasonCode'])
  t.strictSame(reported({ code: '210', reasonCode: 'JUSTIF_ABS' }), ['BR-FR-CDV-CL-09 /reasonCode'], 'a reason of another status')
  t.strictSame(reported({ code: '205', reasonCode: 'DOUBLON', amount: '1' }), [
    'not_of_this_status /reasonCode',
    'not_of_this_status /amount'
  ])
  t.strictSame(reported({ code: '205' }, { customer: { name: 'Ada', country: 'FR' } }), ['BR-FR-CDV-07 '], 'a buyer without a number')
  t.end()
})
