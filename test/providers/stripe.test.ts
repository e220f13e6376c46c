import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import type { JsonObject, Problem } from '../../core/packages/common/json.ts'
import type { VendorReply } from '../../core/packages/conformance/vendor/vendor.ts'
import { problemsForeseen } from '../../core/packages/host/call/foresee.ts'
import { checkSettings, splitSecrets } from '../../core/packages/host/settings/settings.ts'
import type { InvoicingDispatch, InvoicingFields } from '../../core/packages/services/invoicing/index.ts'
import { invoice } from '../fixtures/providers/call.ts'
import { contains, has } from '../support/matching.ts'
import { describesAll, type More, type Stage, stageOf } from '../support/provider-stage.ts'

const settings = {
  secretKey: 'sk_live_0123456789',
  taxRates: [{ percent: 20, id: 'txr_20' }, { percent: 5.5, id: 'txr_055' }],
  quoteProduct: 'prod_1'
}
const data: JsonObject = {
  number: 'F-1',
  date: '2026-03-14',
  dueDate: '2026-04-13',
  currency: 'EUR',
  customer: {
    name: 'Müller & Söhne GmbH',
    email: 'rechnung@mueller.example',
    address: 'Lange Straße 27',
    city: 'Berlin',
    postalCode: '10115',
    country: 'DE',
    vatId: 'DE136695976'
  },
  lines: [
    { description: 'Workshop', quantity: 2, unitPrice: '980.00', total: '1960.00' },
    { description: 'Migration', quantity: 12.5, unitPrice: '38.40', taxRate: 5.5, total: '480.00' }
  ],
  taxRate: 20,
  total: '2858.40',
  paymentTerms: '30 days',
  notes: 'Thank you',
  conditions: 'No discount'
}
const request = (
  documentType: InvoicingFields['documentType'],
  more: { invoicing?: Partial<InvoicingFields>, data?: JsonObject } = {}
): InvoicingDispatch =>
  invoice({
    invoicing: { documentType, ...more.invoicing },
    data: { ...data, ...(documentType === 'CREDIT' && { invoiceNumber: 'F-0' }), ...more.data }
  })

const metadata = { dispatch_reference: 'step-1', document_number: 'F-1' }
const draft = {
  id: 'in_1',
  object: 'invoice',
  status: 'draft',
  number: null,
  total: 285840,
  amount_remaining: 285840,
  hosted_invoice_url: null,
  invoice_pdf: null,
  metadata
}
const open = {
  ...draft,
  status: 'open',
  number: '0759376C-0001',
  hosted_invoice_url: 'https://invoice.stripe.com/i/acct_1/a',
  invoice_pdf: 'https://pay.stripe.com/invoice/acct_1/a/pdf'
}
const quote = { id: 'qt_1', object: 'quote', status: 'draft', number: null, amount_total: 285840, metadata }
const note = {
  id: 'cn_1',
  object: 'credit_note',
  status: 'issued',
  number: '0759376C-0001-CN-01',
  total: 285840,
  pdf: 'https://pay.stripe.com/credit_notes/acct_1/a/pdf',
  metadata
}

const accepted = { id: 'in_1', status: 'open', number: '0759376C-0001', url: open.hosted_invoice_url }
const error = (status: number, fields: JsonObject): VendorReply => ({ status, json: { error: fields } })

/** A Stripe that accepts everything; every call is by method and path. */
const answers: Record<string, VendorReply> = {
  'GET /v1/customers': { json: { object: 'list', data: [] } },
  'POST /v1/customers': { json: { id: 'cus_1', object: 'customer' } },
  'POST /v1/invoices': { json: draft },
  'POST /v1/invoiceitems': { json: { id: 'ii_1', object: 'invoiceitem' } },
  'GET /v1/invoices/in_1': { json: draft },
  'POST /v1/invoices/in_1/finalize': { json: open },
  'POST /v1/quotes': { json: quote },
  'POST /v1/quotes/qt_1/finalize': { json: { ...quote, status: 'open', number: 'QT-1' } },
  'GET /v1/quotes/qt_1': { json: quote },
  'GET /v1/invoices/search': { json: { object: 'search_result', data: [open] } },
  'GET /v1/credit_notes/preview': { json: { object: 'credit_note', total: 285840 } },
  'POST /v1/credit_notes': { json: note },
  'GET /v1/credit_notes': { json: { object: 'list', data: [{ ...note, id: 'cn_0', metadata: {} }, note] } }
}

type Changes = Record<string, VendorReply | [VendorReply, ...VendorReply[]]>

/** What is issued comes to what its draft, or its preview, has come to. */
function issuedAs (changes: Changes): Changes {
  const comesTo = (what: string): JsonObject => {
    const reply = [changes[what] ?? []].flat().at(-1)
    const { total, amount_total: whole } = reply !== undefined && 'json' in reply ? reply.json as JsonObject : {}
    return { ...(total !== undefined && { total }), ...(whole !== undefined && { amount_total: whole }) }
  }
  const issued = (answer: JsonObject, draftOf: string): VendorReply => ({ json: { ...answer, ...comesTo(draftOf) } })
  return {
    'POST /v1/invoices/in_1/finalize': issued(open, 'GET /v1/invoices/in_1'),
    'POST /v1/invoices/in_1/send': issued(open, 'GET /v1/invoices/in_1'),
    'POST /v1/quotes/qt_1/finalize': issued({ ...quote, status: 'open', number: 'QT-1' }, 'POST /v1/quotes'),
    'POST /v1/credit_notes': issued(note, 'GET /v1/credit_notes/preview')
  }
}

async function stripe (t: Test, changes: Changes = {}): Promise<Stage> {
  const stage = await stageOf(t, 'stripe', settings)
  for (const [what, answer] of Object.entries({ ...answers, ...issuedAs(changes), ...changes })) stage.vendor.on(what, answer)
  return stage
}

/** What is known to be refused before anything is sent. */
const foreseen = async (
  { provider }: Stage,
  { invoicing, data, metadata }: InvoicingDispatch,
  { requestSettings = {}, settings: own = settings }: { requestSettings?: JsonObject, settings?: JsonObject } = {}
): Promise<Problem[]> =>
  await problemsForeseen(provider, 'invoicing', { invoicing, data, metadata }, {
    settings: splitSecrets(provider.manifest.settings, own).plain,
    requestSettings,
    sandbox: false,
    now: new Date('2026-03-14T09:30:00.000Z')
  })

const sentBy = ({ vendor }: Stage): string[] => vendor.requests.map(({ method, path }) => `${method} ${path.slice(4)}`)
const formOf = ({ vendor }: Stage, path: string): Record<string, string> | undefined =>
  vendor.requests.findLast((request) => request.method === 'POST' && request.path === `/v1/${path}`)?.form

await t.test('an invoice is a draft with its lines, checked, then finalized', async (t) => {
  const stage = await stripe(t)
  t.strictSame(await stage.dispatch('invoicing', request('INVOICE'), { idempotencyKey: 'key' }), {
    outcome: 'accepted',
    response: accepted
  })
  t.strictSame(sentBy(stage), ['GET customers', 'POST customers', 'POST invoices', 'POST invoiceitems', 'POST invoiceitems',
    'GET invoices/in_1', 'POST invoices/in_1/finalize'])
  t.strictSame(stage.vendor.requests[0]?.query, { email: 'rechnung@mueller.example', limit: '100' })
  t.strictSame(stage.checkpoints, ['in_1'])
  t.strictSame(formOf(stage, 'customers'), {
    name: 'Müller & Söhne GmbH',
    email: 'rechnung@mueller.example',
    'address[line1]': 'Lange Straße 27',
    'address[city]': 'Berlin',
    'address[postal_code]': '10115',
    'address[country]': 'DE',
    'metadata[dispatch_reference]': 'step-1'
  })
  t.strictSame(formOf(stage, 'invoices'), {
    customer: 'cus_1',
    currency: 'eur',
    collection_method: 'send_invoice',
    auto_advance: 'false',
    pending_invoice_items_behavior: 'exclude',
    effective_at: '1773446400',
    due_date: '1776124799',
    'custom_fields[0][name]': 'Number',
    'custom_fields[0][value]': 'F-1',
    'custom_fields[1][name]': 'VAT ID',
    'custom_fields[1][value]': 'DE136695976',
    description: 'Thank you',
    footer: '30 days\nNo discount',
    'metadata[dispatch_reference]': 'step-1',
    'metadata[document_number]': 'F-1'
  })
  t.strictSame(stage.vendor.requests.filter(({ path }) => path.endsWith('invoiceitems')).map(({ form }) => form), [
    {
      customer: 'cus_1',
      invoice: 'in_1',
      currency: 'eur',
      description: 'Workshop',
      quantity: '2',
      unit_amount_decimal: '98000',
      'tax_rates[0]': 'txr_20'
    },
    {
      customer: 'cus_1',
      invoice: 'in_1',
      currency: 'eur',
      description: 'Migration (12.5 × 38.4)',
      quantity: '1',
      unit_amount_decimal: '48000',
      'tax_rates[0]': 'txr_055'
    }
  ])
  for (const { headers, host } of stage.vendor.requests) {
    t.equal(host, 'api.stripe.com')
    has(t, headers, { 'stripe-version': '2023-08-16', authorization: 'Bearer sk_live_0123456789' })
  }
  const keys = stage.vendor.requests.flatMap(({ headers, method }) => method === 'POST' ? [headers['idempotency-key']] : [])
  t.strictSame(keys, ['key:customer', 'key:invoice', 'key:line-0', 'key:line-1', 'key:finalize'])
})

await t.test('what the request says comes before the data', async (t) => {
  const stage = await stripe(t)
  await stage.dispatch('invoicing',
    request('INVOICE', { invoicing: { customerId: 'cus_9', dueDate: '2026-05-01', paymentTerms: 'at once' } }))
  has(t, formOf(stage, 'invoices'), { customer: 'cus_9', due_date: '1777679999', footer: 'at once\nNo discount' })
  t.notOk(sentBy(stage).some((what) => what.endsWith(' customers')))
  await stage.dispatch('invoicing',
    invoice({ data: { number: 1, currency: 'EUR', total: 2858.4, lines: [{ quantity: 1, unitPrice: 2858.4 }] } }))
  has(t, formOf(stage, 'invoices'), {
    days_until_due: '30',
    due_date: undefined,
    description: undefined,
    footer: undefined,
    'custom_fields[0][value]': '1',
    'custom_fields[1][name]': undefined
  })
})

await t.test('sendByEmail is Stripe\'s own sending, which finalizes too; only invoices can be sent', async (t) => {
  const stage = await stripe(t)
  has(t, await stage.dispatch('invoicing', request('INVOICE', { invoicing: { sendByEmail: true } })), { outcome: 'accepted' })
  t.equal(sentBy(stage).at(-1), 'POST invoices/in_1/send')
  t.notOk(sentBy(stage).includes('POST invoices/in_1/finalize'))
  t.same(stage.provider.manifest.services.invoicing?.capabilities.sendByEmail, ['INVOICE'])
})

await t.test('a quote is a draft of prices of one product, then finalized', async (t) => {
  const stage = await stripe(t)
  t.strictSame(await stage.dispatch('invoicing', request('QUOTE')), {
    outcome: 'accepted',
    response: { id: 'qt_1', status: 'open', number: 'QT-1' }
  })
  t.strictSame(sentBy(stage), ['GET customers', 'POST customers', 'POST quotes', 'POST quotes/qt_1/finalize'])
  t.strictSame(stage.checkpoints, ['qt_1'])
  t.strictSame(formOf(stage, 'quotes'), {
    customer: 'cus_1',
    collection_method: 'send_invoice',
    'invoice_settings[days_until_due]': '30',
    header: 'F-1',
    description: '2 × Workshop\n1 × Migration (12.5 × 38.4)',
    footer: '30 days\nNo discount\nThank you',
    expires_at: '1776124799',
    'line_items[0][price_data][currency]': 'eur',
    'line_items[0][price_data][product]': 'prod_1',
    'line_items[0][price_data][unit_amount_decimal]': '98000',
    'line_items[0][quantity]': '2',
    'line_items[0][tax_rates][0]': 'txr_20',
    'line_items[1][price_data][currency]': 'eur',
    'line_items[1][price_data][product]': 'prod_1',
    'line_items[1][price_data][unit_amount_decimal]': '48000',
    'line_items[1][quantity]': '1',
    'line_items[1][tax_rates][0]': 'txr_055',
    'metadata[dispatch_reference]': 'step-1',
    'metadata[document_number]': 'F-1'
  })
})

await t.test('a credit note is issued at once, for an invoice of Stripe\'s', async (t) => {
  const credited = { invoiceNumber: 'F "0"', reason: 'One session less' }
  const stage = await stripe(t)
  t.strictSame(await stage.dispatch('invoicing', request('CREDIT', { data: credited })), {
    outcome: 'accepted',
    response: { id: 'cn_1', status: 'issued', number: note.number }
  })
  t.strictSame(sentBy(stage), ['GET invoices/search', 'GET invoices/in_1', 'GET credit_notes/preview', 'POST credit_notes'])
  t.equal(stage.vendor.requests[0]?.query['query'], 'metadata["document_number"]:"F \\"0\\"" OR number:"F \\"0\\""')
  t.strictSame(stage.checkpoints, ['credit:in_1'])
  has(t, formOf(stage, 'credit_notes'), {
    invoice: 'in_1',
    effective_at: '1773446400',
    'lines[0][type]': 'custom_line_item',
    'lines[0][description]': 'Workshop',
    'lines[0][quantity]': '2',
    'lines[0][unit_amount_decimal]': '98000',
    'lines[1][tax_rates][0]': 'txr_055',
    memo: 'F-1\nOne session less\nThank you',
    'metadata[dispatch_reference]': 'step-1',
    out_of_band_amount: undefined
  })

  await t.test('named by its id it need not be searched for', async (t) => {
    const stage = await stripe(t)
    has(t, await stage.dispatch('invoicing', request('CREDIT', { invoicing: { reference: 'in_1' } })), { outcome: 'accepted' })
    t.strictSame(sentBy(stage), ['GET invoices/in_1', 'GET credit_notes/preview', 'POST credit_notes'])
  })

  await t.test('what has been paid of it goes back outside of Stripe', async (t) => {
    for (const [remaining, paid] of [[0, '285840'], [200000, '85840'], [285840, undefined]] as const) {
      const stage = await stripe(t, { 'GET /v1/invoices/in_1': { json: { ...open, amount_remaining: remaining } } })
      await stage.dispatch('invoicing', request('CREDIT', { invoicing: { reference: 'in_1' } }))
      t.equal(formOf(stage, 'credit_notes')?.['out_of_band_amount'], paid)
    }
  })

  await t.test('it must be one invoice', async (t) => {
    for (const data of [[], [open, open]]) {
      const stage = await stripe(t, { 'GET /v1/invoices/search': { json: { data } } })
      has(t, await stage.dispatch('invoicing', request('CREDIT', { data: credited })), {
        outcome: 'rejected',
        error: { code: 'unknown_invoice' }
      })
    }
  })
})

/** The customer of the data, as Stripe lists it; it writes what is not set in several ways. */
const known = {
  id: 'cus_5',
  object: 'customer',
  name: 'Müller & Söhne GmbH',
  email: 'rechnung@mueller.example',
  address: { line1: 'Lange Straße 27', line2: '', city: 'Berlin', postal_code: '10115', state: null, country: 'DE' },
  preferred_locales: [],
  balance: 0,
  currency: null,
  discount: null,
  invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
  metadata: {},
  phone: null,
  shipping: null,
  tax_exempt: 'none'
}
const others: Record<string, JsonObject> = {
  'another name': { name: 'Müller GmbH' },
  'no name': { name: null },
  'another spelling of the address': { email: 'Rechnung@mueller.example' },
  'another street': { address: { ...known.address, line1: 'Kurze Straße 2' } },
  'a further line': { address: { ...known.address, line2: 'Haus B' } },
  'no address': { address: null },
  'another language': { preferred_locales: ['de'] },
  'a balance': { balance: -500 },
  'another currency': { currency: 'usd' },
  'a discount': { discount: { id: 'di_1' } },
  'a phone number': { phone: '+4930123456' },
  'another place of delivery': { shipping: { name: 'Lager', address: { city: 'Hamburg' } } },
  'no tax': { tax_exempt: 'reverse' },
  'a footer': { invoice_settings: { ...known.invoice_settings, footer: 'Danke' } },
  'fields of its own': { invoice_settings: { ...known.invoice_settings, custom_fields: [{ name: 'Order', value: '7' }] } },
  'another clock': { test_clock: 'clock_1' }
}
const listed = (...customers: JsonObject[]): VendorReply => ({ json: { object: 'list', data: customers } })

await t.test('a customer whom Stripe has just as the data say is taken, and nobody else', async (t) => {
  const customerOf = async (reply: VendorReply, asked = request('INVOICE')): Promise<string | undefined> => {
    const stage = await stripe(t, { 'GET /v1/customers': reply })
    await stage.dispatch('invoicing', asked)
    t.notOk(stage.vendor.requests.some(({ method, path }) => method !== 'GET' && /customers\/./.test(path)), 'nobody is changed')
    return formOf(stage, 'invoices')?.['customer']
  }
  t.equal(await customerOf(listed(known)), 'cus_5')
  t.equal(await customerOf(listed({ ...known, currency: 'eur', address: { ...known.address, line2: null }, preferred_locales: null })),
    'cus_5')
  t.equal(await customerOf(listed({ id: 'cus_6', name: known.name, email: known.email, address: known.address })), 'cus_6')
  for (const [what, change] of Object.entries(others)) t.equal(await customerOf(listed({ ...known, ...change })), 'cus_1', what)
  t.equal(await customerOf(listed(...Object.values(others).map((change) => ({ ...known, ...change })), known)), 'cus_5')

  const inGerman = request('INVOICE', { data: { language: 'de' } })
  t.equal(await customerOf(listed(known), inGerman), 'cus_1')
  t.equal(await customerOf(listed({ ...known, preferred_locales: ['de'] }), inGerman), 'cus_5')
  t.equal(await customerOf(listed({ ...known, preferred_locales: ['de', 'en'] }), inGerman), 'cus_1')

  const quoted = await stripe(t, { 'GET /v1/customers': listed(known) })
  has(t, await quoted.dispatch('invoicing', request('QUOTE')), { outcome: 'accepted' })
  has(t, formOf(quoted, 'quotes'), { customer: 'cus_5' })
})

await t.test('a repeated attempt comes to the customer of the first one', async (t) => {
  const taken = async (...customers: JsonObject[]): Promise<string | undefined> => {
    const stage = await stripe(t, { 'GET /v1/customers': listed(...customers) })
    await stage.dispatch('invoicing', request('INVOICE'))
    return formOf(stage, 'invoices')?.['customer']
  }
  const older = { ...known, id: 'cus_4' }
  t.equal(await taken(known, older), 'cus_4', 'the oldest, whoever was added since')
  t.equal(await taken({ ...known, id: 'cus_7' }, known, older), 'cus_4')
  const made = { ...known, id: 'cus_8', metadata: { dispatch_reference: 'step-1' } }
  t.equal(await taken(known, made, older), 'cus_8', 'whom it made itself')
  t.equal(await taken(known, { ...made, metadata: { dispatch_reference: 'step-2' } }), 'cus_8', 'whom another dispatch made')

  const cut = await stripe(t, { 'POST /v1/customers': [{ cut: 'after-body' }, answers['POST /v1/customers']!] })
  has(t, await cut.dispatch('invoicing', request('INVOICE'), { idempotencyKey: 'key' }), { outcome: 'unavailable' })
  has(t, await cut.dispatch('invoicing', request('INVOICE'), { idempotencyKey: 'key' }), { outcome: 'accepted' })
  const keys = cut.vendor.requests.filter(({ method, path }) => method === 'POST' && path === '/v1/customers')
  t.strictSame(keys.map(({ headers }) => headers['idempotency-key']), ['key:customer', 'key:customer'])
})

await t.test('a credit note that Stripe adds up to another total is not issued', async (t) => {
  for (const total of [285839, 285841, 0]) {
    const stage = await stripe(t, { 'GET /v1/credit_notes/preview': { json: { total } } })
    has(t, await stage.dispatch('invoicing', request('CREDIT', { invoicing: { reference: 'in_1' } })), {
      outcome: 'rejected',
      error: { code: 'total_differs', message: /285840: nothing was issued/ }
    })
    t.notOk(sentBy(stage).includes('POST credit_notes'))
  }
  const stage = await stripe(t, { 'GET /v1/invoices/in_1': { json: { ...open, amount_remaining: 0 } } })
  const lines = [{ description: 'Workshop in three parts', quantity: 1, unitPrice: '2382.00', total: '2382.00' }]
  await stage.dispatch('invoicing', request('CREDIT', { invoicing: { reference: 'in_1' }, data: { lines } }))
  t.strictSame(stage.vendor.requests.find(({ path }) => path.endsWith('preview'))?.query, {
    invoice: 'in_1',
    effective_at: '1773446400',
    out_of_band_amount: '285840',
    'lines[0][type]': 'custom_line_item',
    'lines[0][description]': 'Workshop in three pa',
    'lines[0][quantity]': '1',
    'lines[0][unit_amount_decimal]': '238200',
    'lines[0][tax_rates][0]': 'txr_20'
  }, 'what it would be made of, with the beginnings of its texts')
  has(t, formOf(stage, 'credit_notes'), { 'lines[0][description]': 'Workshop in three parts', out_of_band_amount: '285840' })

  const failing: [VendorReply, string][] = [[{ cut: 'after-body' }, 'unavailable'], [error(400, { code: 'invoice_not_open' }), 'rejected']]
  for (const [failure, outcome] of failing) {
    const left = await stripe(t, { 'GET /v1/credit_notes/preview': failure })
    has(t, await left.dispatch('invoicing', request('CREDIT', { invoicing: { reference: 'in_1' } })), { outcome })
    t.notOk(sentBy(left).includes('POST credit_notes'))
  }
})

await t.test('settings of the payment', async (t) => {
  const stage = await stripe(t)
  const { requestSettings: form } = stage.provider.manifest
  has(t, await stage.dispatch('invoicing', request('INVOICE'), {
    requestSettings: { includePaymentCollectionLink: true, paymentCollectionLabel: 'Rent 3/26' }
  }), { response: { paymentUrl: open.hosted_invoice_url } })
  has(t, formOf(stage, 'invoices'), { description: 'Rent 3/26\nThank you' })
  t.same(checkSettings(form, { includePaymentCollectionLink: true, paymentCollectionLabel: 'Rent' }), [])
  has(t, checkSettings(form, { paymentCollectionBeneficiaryName: 'Ada' }), [{
    path: '/paymentCollectionBeneficiaryName',
    message: /Stripe names the business of the account/
  }])
  for (const type of ['QUOTE', 'CREDIT'] as const) {
    for (const requestSettings of [{ includePaymentCollectionLink: true }, { paymentCollectionLabel: 'Rent' }] as JsonObject[]) {
      has(t, await foreseen(stage, request(type), { requestSettings }), [{
        path: `/settings/${Object.keys(requestSettings)[0] ?? ''}`,
        message: /a page to pay on for invoices alone/
      }])
    }
    t.same(await foreseen(stage, request(type), { requestSettings: { includePaymentCollectionLink: false } }), [])
    has(t, await stage.dispatch('invoicing', request(type, { invoicing: { reference: 'in_1' } }), {
      requestSettings: { includePaymentCollectionLink: false }
    }), { outcome: 'accepted' })
  }
})

await t.test('nothing is issued that Stripe and the data do not agree about, or that Stripe has no place for', async (t) => {
  const cases: [string, InvoicingDispatch, string, Record<string, VendorReply>?, More?][] = [
    ['another total', request('INVOICE'), 'total_differs', { 'GET /v1/invoices/in_1': { json: { ...draft, total: 285841 } } }],
    ['another total of a quote', request('QUOTE'), 'total_differs', { 'POST /v1/quotes': { json: { ...quote, amount_total: 285839 } } }],
    ['a tax rate that the settings do not have', request('INVOICE', { data: { taxRate: 19 } }), 'unknown_tax_rate'],
    ['a total of less than a cent', request('INVOICE', { data: { total: '1.005' } }), 'total_differs'],
    ['a total that is no number', request('INVOICE', { data: { total: '1e3' } }), 'invalid_amount'],
    ['a line without a price', request('INVOICE', { data: { lines: [{ description: 'x', quantity: 1 }] } }), 'invalid_amount'],
    [
      'thousandths of a dinar',
      request('INVOICE', {
        data: { currency: 'KWD', taxRate: 0, lines: [{ description: 'x', quantity: 1, unitPrice: '5.124' }], total: '5.124' }
      }),
      'too_fine'
    ],
    [
      'a quote whose tax is no whole krona',
      request('QUOTE', {
        data: { currency: 'ISK', taxRate: 5.5, lines: [{ description: 'x', quantity: 1, unitPrice: 999 }], total: 1054 }
      }),
      'cannot_round'
    ],
    ['a tax rate that is no number', request('INVOICE', { data: { taxRate: 'full' } }), 'invalid_amount'],
    ['a credit note of no invoice', request('CREDIT', { data: { invoiceNumber: '' } }), 'no_invoice'],
    [
      'a quote without a product',
      request('QUOTE'),
      'no_product',
      {},
      { settings: { secretKey: settings.secretKey, taxRates: settings.taxRates } }
    ]
  ]
  for (const [name, asked, code, changes, more] of cases) {
    const stage = await stripe(t, changes)
    has(t, await stage.dispatch('invoicing', asked, more), { outcome: 'rejected', error: { word: 'provider_error', code } }, name)
    t.notOk(sentBy(stage).some((what) => /finalize|send/.test(what)), name)
    t.same(stage.checkpoints, [], name)
  }
})

await t.test('what Stripe has no room for is refused by validation, at its place, with nothing sent', async (t) => {
  const long = (length: number): string => 'x'.repeat(length)
  const cases: [string, InvoicingDispatch, string, string, JsonObject?][] = [
    ['a number of 31 characters', request('INVOICE', { data: { number: long(31) } }), '/data/number', 'not_supported_by_provider'],
    [
      'a VAT ID of 31 characters',
      request('INVOICE', { data: { customer: { name: 'Ada', email: 'a@b.example', vatId: long(31) } } }),
      '/data/customer/vatId',
      'not_supported_by_provider'
    ],
    ['a quote\'s number of 51 characters', request('QUOTE', { data: { number: long(51) } }), '/data/number', 'not_supported_by_provider'],
    ['a memo of 1501 characters', request('INVOICE', { data: { notes: long(1501) } }), '/data/notes', 'too_long'],
    ['a footer of 5001 characters', request('INVOICE', { data: { conditions: long(4995) } }), '/data/conditions', 'too_long'],
    [
      'a line of 4995 characters that becomes longer',
      request('INVOICE', { data: { lines: [{ description: long(4995), quantity: 0.5, unitPrice: '4764.00', total: '2382.00' }] } }),
      '/data/lines/0/description',
      'too_long'
    ],
    ['an order of 31 characters', request('INVOICE', { data: { orderReference: long(31) } }), '/data/orderReference',
      'not_supported_by_provider'],
    ['a credit note\'s memo of 5001 characters', request('CREDIT', { data: { notes: long(4997) } }), '/data/notes', 'too_long'],
    ['a quote\'s footer of 501 characters', request('QUOTE', { data: { conditions: long(500) } }), '/data/conditions', 'too_long'],
    [
      'lines of a quote of 501 characters',
      request('QUOTE', { data: { lines: [{ description: long(501), quantity: 1, unitPrice: '2382.00' }] } }),
      '/data/lines',
      'too_long'
    ],
    [
      'a tax rate that the settings do not have',
      request('INVOICE', { data: { taxRate: 19, total: '2838.80' } }),
      '/data/lines/0',
      'unknown_tax_rate'
    ],
    ['a total that the lines do not come to', request('INVOICE', { data: { total: '2858.50' } }), '/data/total', 'total_differs'],
    ['more paid than is due', request('INVOICE', { data: { prepaidAmount: '3000.00' } }), '/data/prepaidAmount', 'nothing_due'],
    ['a prepayment of a quote', request('QUOTE', { data: { prepaidAmount: '100.00' } }), '/data/prepaidAmount', 'not_for_invoices'],
    ['a due date that has passed', request('INVOICE', { data: { dueDate: '2026-03-13' } }), '/data/dueDate', 'due_date_in_the_past'],
    ['the same in the request', request('INVOICE', { invoicing: { dueDate: '2026-03-13' } }), '/invoicing/dueDate', 'due_date_in_the_past'],
    ['a credit note of no invoice', request('CREDIT', { data: { invoiceNumber: '' } }), '/invoicing/reference', 'no_invoice'],
    ['a quote without a product', request('QUOTE'), '', 'no_product', { secretKey: settings.secretKey, taxRates: settings.taxRates }],
    [
      'an allowance larger than what it is taken off',
      request('QUOTE', { data: { allowances: [{ amount: '2000.00', taxRate: 20, reason: 'Gift' }], total: '458.40' } }),
      '/data/allowances',
      'no_line_to_reduce'
    ]
  ]
  const stage = await stripe(t)
  for (const [name, asked, path, code, own] of cases) {
    has(t, await foreseen(stage, asked, own === undefined ? {} : { settings: own }), [{ path, code }], name)
  }
  for (const type of ['INVOICE', 'QUOTE', 'CREDIT'] as const) {
    t.same(await foreseen(stage, request(type, { data: { number: long(30) } })), [], type)
  }
  t.same(await foreseen(stage, request('INVOICE', { data: { total: '2858.41' } })), [], 'what rounding can do is Stripe\'s to say')
  t.same((await foreseen(stage, request('INVOICE', { data: { total: '2858.42' } }))).map(({ code }) => code), ['total_differs'],
    'two cents are no rounding of two lines')
})

await t.test('what is due is asked for, and why; tax is due on the whole', async (t) => {
  const due = (sum: number): Record<string, VendorReply> => ({
    'GET /v1/invoices/in_1': { json: { ...draft, total: sum, amount_due: sum } }
  })
  const itemsOf = ({ vendor }: Stage): unknown[] =>
    vendor.requests.filter(({ path }) => path.endsWith('invoiceitems')).slice(2).map(({ form }) =>
      form && [form['description'], form['unit_amount_decimal'], form['tax_rates[0]']]
    )
  const cases: [JsonObject, number, unknown[]][] = [
    [{ prepaidAmount: '858.40' }, 200000, [['Already paid (2858.40 EUR)', '-85840', undefined]]],
    [{ amountDue: 2000 }, 200000, [['Already paid (2858.40 EUR)', '-85840', undefined]]],
    [
      { prepaidAmount: '858.42', roundingAmount: '0.02', amountDue: '2000.00' },
      200000,
      [
        [
          'Already paid (2858.40 EUR)',
          '-85842',
          undefined
        ],
        ['Rounding (2858.40 EUR)', '2', undefined]
      ]
    ],
    [{ prepaidAmount: '2858.40' }, 0, [['Already paid (2858.40 EUR)', '-285840', undefined]]],
    [{ prepaidAmount: 0, amountDue: '2858.40' }, 285840, []]
  ]
  for (const [more, sum, items] of cases) {
    const stage = await stripe(t, due(sum))
    has(t, await stage.dispatch('invoicing', request('INVOICE', { data: more })), { outcome: 'accepted' }, JSON.stringify(more))
    t.strictSame(itemsOf(stage), items)
  }
  const named = await stripe(t, due(200000))
  await named.dispatch('invoicing', request('INVOICE', { data: { amountDue: 2000 } }), {
    settings: { ...settings, prepaidText: 'Anzahlung' }
  })
  has(t, itemsOf(named), [['Anzahlung (2858.40 EUR)', '-85840', undefined]])
})

await t.test('a customer\'s balance at Stripe changes no sum unseen', async (t) => {
  const stage = await stripe(t, { 'GET /v1/invoices/in_1': { json: { ...draft, amount_due: 285740 } } })
  has(t, await stage.dispatch('invoicing', request('INVOICE', { invoicing: { customerId: 'cus_9' } })), {
    outcome: 'rejected',
    error: { code: 'amount_due_differs', message: /has a balance at Stripe/ }
  })
  t.same(sentBy(stage).at(-1), 'DELETE invoices/in_1')
})

await t.test('allowances and charges are lines with the rates that they have', async (t) => {
  const discounted = {
    lines: [
      {
        description: 'Workshop',
        quantity: 2,
        unitPrice: '980.00',
        allowances: [{ percent: 10, reason: 'Early booking' }],
        total: '1764.00'
      },
      { description: 'Migration', quantity: 12.5, unitPrice: '38.40', taxRate: 5.5, total: '480.00' },
      { description: 'Paper', quantity: 200, unitPrice: '9.00', priceQuantity: 100, total: '18.00' }
    ],
    allowances: [{ amount: '82.00', reason: 'Loyalty' }, { percent: 50, base: 100, reasonCode: '95', taxRate: 5.5 }],
    charges: [{ amount: '30.00', reason: 'Freight' }],
    // 1764 + 18 - 82 + 30 at 20 %, 480 - 50 at 5.5 %.
    total: '2529.65'
  }
  const made = { ...draft, total: 252965, amount_due: 252965 }
  const stage = await stripe(t, { 'GET /v1/invoices/in_1': { json: made } })
  has(t, await stage.dispatch('invoicing', request('INVOICE', { data: discounted })), { outcome: 'accepted' })
  const sent = stage.vendor.requests.filter(({ path }) => path.endsWith('invoiceitems')).map(
    ({ form = {} }) => [form['description'], form['quantity'], form['unit_amount_decimal'], form['tax_rates[0]']]
  )
  t.strictSame(sent, [
    ['Workshop (2 × 980, with its allowances and charges)', '1', '176400', 'txr_20'],
    ['Migration (12.5 × 38.4)', '1', '48000', 'txr_055'],
    ['Paper (200 × 9, with its allowances and charges)', '1', '1800', 'txr_20'],
    ['Loyalty', '1', '-8200', 'txr_20'],
    ['95 (50 %)', '1', '-5000', 'txr_055'],
    ['Freight', '1', '3000', 'txr_20']
  ])

  await t.test('a quote and a credit note take no negative line: it is taken off the largest of its rate', async (t) => {
    const stage = await stripe(t, { 'POST /v1/quotes': { json: { ...quote, amount_total: 252965 } } })
    has(t, await stage.dispatch('invoicing', request('QUOTE', { data: discounted })), { outcome: 'accepted' })
    has(t, formOf(stage, 'quotes'), {
      'line_items[0][price_data][unit_amount_decimal]': '168200',
      'line_items[1][price_data][unit_amount_decimal]': '43000',
      'line_items[2][price_data][unit_amount_decimal]': '1800',
      'line_items[3][price_data][unit_amount_decimal]': '3000'
    })
    contains(t, formOf(stage, 'quotes')?.['description'],
      /^1 × Workshop \(2 × 980, with its allowances and charges\) \(Loyalty: -82\.00\)\n/)
    const credit = await stripe(t, { 'GET /v1/credit_notes/preview': { json: { total: 252965 } } })
    has(t, await credit.dispatch('invoicing', request('CREDIT', { data: discounted })), { outcome: 'accepted' })
    has(t, formOf(credit, 'credit_notes'), {
      'lines[0][unit_amount_decimal]': '168200',
      'lines[1][unit_amount_decimal]': '43000',
      'lines[4][unit_amount_decimal]': undefined
    })
  })
})

await t.test('an invoice can be paid until the end of its day, in the time zone of the account', async (t) => {
  const dueAt = async (dueDate: string, timezone?: string): Promise<string | undefined> => {
    const stage = await stripe(t)
    await stage.dispatch('invoicing', request('INVOICE', { data: { dueDate } }), {
      settings: { ...settings, ...(timezone !== undefined && { timezone }) }
    })
    return formOf(stage, 'invoices')?.['due_date']
  }
  t.equal(await dueAt('2026-03-14'), '1773532799', 'due today')
  t.equal(await dueAt('2026-03-14', 'Europe/Paris'), '1773529199')
  t.equal(await dueAt('2026-03-14', 'America/Los_Angeles'), '1773557999')
  t.equal(await dueAt('2026-03-29', 'Europe/Paris'), '1774821599', 'a day of 23 hours')
  t.equal(await dueAt('2026-03-14T00:00:00+01:00', 'Europe/Paris'), await dueAt('2026-03-14', 'Europe/Paris'), 'a time is its day')
  const stage = await stripe(t)
  await stage.dispatch('invoicing', request('INVOICE'), { settings: { ...settings, timezone: 'America/Los_Angeles' } })
  t.equal(formOf(stage, 'invoices')?.['effective_at'], '1773471600', 'it is issued when its day begins there')
  has(t, await foreseen(stage, request('INVOICE', { data: { dueDate: '2026-03-14' } }), {
    settings: { ...settings, timezone: 'Pacific/Kiritimati' }
  }), [], 'still today there')
  const { settings: form } = stage.provider.manifest
  t.same(checkSettings(form, { ...settings, timezone: 'Europe/Berlin' }), [])
  for (const timezone of ['Europe/Atlantis', '+01:00', '']) {
    has(t, checkSettings(form, { ...settings, timezone }), [{ path: '/timezone', code: 'format' }], timezone)
  }
})

await t.test('what was made for a dispatch that Stripe refuses is taken back; a customer stays, for other documents', async (t) => {
  const no = error(400, { type: 'invalid_request_error', code: 'parameter_invalid_empty', message: 'No' })
  const gone = (changes: Record<string, VendorReply>): Record<string, VendorReply> => ({
    'DELETE /v1/invoices/in_1': { json: { id: 'in_1', deleted: true } },
    'POST /v1/quotes/qt_1/cancel': { json: { id: 'qt_1' } },
    ...changes
  })
  const takenBack = (stage: Stage): string[] => sentBy(stage).filter((what) => /^DELETE|cancel$/.test(what))
  const cases: [InvoicingFields['documentType'], string, string[]][] = [
    ['INVOICE', 'POST /v1/customers', []],
    ['INVOICE', 'POST /v1/invoices', []],
    ['INVOICE', 'POST /v1/invoiceitems', ['DELETE invoices/in_1']],
    ['INVOICE', 'POST /v1/invoices/in_1/finalize', ['DELETE invoices/in_1']],
    ['QUOTE', 'POST /v1/quotes', []],
    ['QUOTE', 'POST /v1/quotes/qt_1/finalize', ['POST quotes/qt_1/cancel']]
  ]
  for (const [type, refusing, expected] of cases) {
    const stage = await stripe(t, gone({ [refusing]: no }))
    has(t, await stage.dispatch('invoicing', request(type)), { outcome: 'rejected', error: { code: 'parameter_invalid_empty' } }, refusing)
    t.strictSame(takenBack(stage), expected, refusing)
  }
  const resumed = await stripe(t, gone({ 'POST /v1/invoices/in_1/finalize': no }))
  await resumed.dispatch('invoicing', request('INVOICE'), { checkpointed: 'in_1' })
  t.strictSame(takenBack(resumed), ['DELETE invoices/in_1'], 'the draft of an earlier attempt')
  const left = await stripe(t, gone({ 'POST /v1/invoiceitems': no, 'DELETE /v1/invoices/in_1': { cut: 'after-body' } }))
  has(t, await left.dispatch('invoicing', request('INVOICE')), { outcome: 'rejected', error: { code: 'parameter_invalid_empty' } },
    'a refusal stays one where that fails')
  for (const script of [{ status: 500 }, error(429, { code: 'lock_timeout' })] as VendorReply[]) {
    const again = await stripe(t, gone({ 'POST /v1/invoiceitems': script }))
    has(t, await again.dispatch('invoicing', request('INVOICE')), { outcome: 'unavailable' })
    t.strictSame(takenBack(again), [], 'the next attempt goes on with what there is, under the same keys')
  }
})

await t.test('what becomes of it is asked after', async (t) => {
  const { provider } = await stripe(t)
  const { statuses } = provider.manifest.services.invoicing ?? {}
  for (const [word, status] of Object.entries({ open: 'open', paid: 'paid', void: 'void', uncollectible: 'uncollectible' })) {
    const stage = await stripe(t, { 'GET /v1/invoices/in_1': { json: { ...open, status: word } } })
    t.same(await stage.ask('invoicing', 'status', { id: 'in_1' }), { status: word })
    t.equal(statuses?.[word], status)
  }
  has(t, statuses, { accepted: 'accepted', canceled: 'void', issued: 'accepted' })
})

await t.test('an object that is locked is tried again: nothing was done', async (t) => {
  for (const status of [400, 409, 429]) {
    for (const step of ['POST /v1/customers', 'POST /v1/invoices/in_1/finalize']) {
      const stage = await stripe(t, { [step]: error(status, { type: 'invalid_request_error', code: 'lock_timeout', message: 'Locked' }) })
      has(t, await stage.dispatch('invoicing', request('INVOICE')), { outcome: 'unavailable' }, `${status} ${step}`)
    }
  }
})

await t.test('amounts are exact in every currency', async (t) => {
  const priceOf = async (currency: string, unitPrice: string | number, total: string | number): Promise<string | undefined> => {
    const stage = await stripe(t)
    await stage.dispatch('invoicing',
      request('INVOICE', { data: { currency, taxRate: 0, total, lines: [{ description: 'x', quantity: 1, unitPrice }] } }))
    return formOf(stage, 'invoiceitems')?.['unit_amount_decimal']
  }
  const prices: [string, string | number, string, total?: string][] = [
    ['EUR', 0.1, '10'],
    ['EUR', '19.99', '1999'],
    ['EUR', 1.005, '100.5', '1.01'],
    ['EUR', '0.0000000001', '0.00000001', '0.00'],
    ['EUR', '999999999999999.99', '99999999999999999'],
    ['JPY', 500, '500'],
    ['JPY', '0.5', '0.5', '1'],
    ['KWD', '5.12', '5120'],
    ['ISK', 5, '500'],
    ['UGX', '5', '500'],
    // Of payouts alone Stripe says that these have no decimals.
    ['HUF', '5.25', '525'],
    ['TWD', '5.25', '525'],
    ['MGA', 500, '500'],
    ['CLP', 500, '500'],
    ['BHD', '5.12', '5120']
  ]
  for (const [currency, price, expected, total = price] of prices) {
    t.equal(await priceOf(currency, price, total), expected, `${price} ${currency}`)
  }
})

await t.test('a tax that Stripe counts in hundredths of a currency without any is rounded by a last line of an invoice', async (t) => {
  const made = (total: number): VendorReply => ({ json: { ...draft, total, amount_due: total } })
  const stage = await stripe(t, { 'GET /v1/invoices/in_1': [made(105395), made(105400)] })
  const kronur = request('INVOICE', {
    data: {
      currency: 'ISK',
      taxRate: 5.5,
      taxAmount: 55,
      total: 1054,
      lines: [{ description: 'x', quantity: 1, unitPrice: 999, total: 999 }]
    }
  })
  t.same(await foreseen(stage, kronur), [])
  has(t, await stage.dispatch('invoicing', kronur, { idempotencyKey: 'key' }), { outcome: 'accepted' })
  has(t, formOf(stage, 'invoiceitems'), {
    description: 'Rounding (1054 ISK)',
    quantity: '1',
    unit_amount_decimal: '5',
    'tax_rates[0]': undefined
  })
  const far = await stripe(t, { 'GET /v1/invoices/in_1': made(105200) })
  has(t, await far.dispatch('invoicing', kronur), { outcome: 'rejected', error: { code: 'total_differs' } })
})

await t.test('Stripe gets what it can carry: the whole address, names of lines, references, the language', async (t) => {
  const stage = await stripe(t)
  const customer = { ...data['customer'] as JsonObject, addressLine2: 'Haus B', addressLine3: '3. Stock', region: 'BE' }
  const lines = [{ name: 'Workshop', description: 'two days', quantity: 1, unitPrice: '2382.00', total: '2382.00' }]
  await stage.dispatch('invoicing',
    request('INVOICE', { data: { customer, lines, language: 'fr-CH', orderReference: 'PO-9', reference: 'REF-77' } }))
  has(t, formOf(stage, 'customers'), {
    'address[line2]': 'Haus B\n3. Stock',
    'address[state]': 'BE',
    'preferred_locales[0]': 'fr'
  })
  has(t, formOf(stage, 'invoices'), {
    'custom_fields[2][name]': 'Order',
    'custom_fields[2][value]': 'PO-9',
    'custom_fields[3][name]': 'Reference',
    'custom_fields[3][value]': 'REF-77'
  })
  has(t, formOf(stage, 'invoiceitems'), { description: 'Workshop\ntwo days' })
})

const word = (outcome: string): { outcome: string } => ({ outcome })
const steps: Record<string, { type: InvoicingFields['documentType'], before: string[], last: string }> = {
  invoice: {
    type: 'INVOICE',
    before: ['GET /v1/customers', 'POST /v1/customers', 'POST /v1/invoices', 'POST /v1/invoiceitems', 'GET /v1/invoices/in_1'],
    last: 'POST /v1/invoices/in_1/finalize'
  },
  quote: { type: 'QUOTE', before: ['GET /v1/customers', 'POST /v1/customers', 'POST /v1/quotes'], last: 'POST /v1/quotes/qt_1/finalize' },
  'credit note': { type: 'CREDIT', before: ['GET /v1/invoices/search'], last: 'POST /v1/credit_notes' }
}
const failures: [string, VendorReply, before: string, last: string][] = [
  ['cut off before it is sent', { cut: 'before-body' }, 'unavailable', 'uncertain'],
  ['cut off once it is sent', { cut: 'after-body' }, 'unavailable', 'uncertain'],
  ['cut off in the answer', { cut: 'in-reply' }, 'unavailable', 'uncertain'],
  ['answered with another shape', { json: { object: 'surprise' } }, 'unavailable', 'uncertain'],
  ['answered with 500', error(500, { type: 'api_error', message: 'Sorry' }), 'unavailable', 'uncertain'],
  ['answered with 429', error(429, { type: 'invalid_request_error', code: 'rate_limit' }), 'unavailable', 'unavailable'],
  [
    'answered with 400',
    error(400, { type: 'invalid_request_error', code: 'parameter_invalid_empty', message: 'No' }),
    'rejected',
    'rejected'
  ],
  ['answered with 401', error(401, { type: 'invalid_request_error', message: 'Invalid API Key provided' }), 'rejected', 'rejected']
]
for (const [what, { type, before, last }] of Object.entries(steps)) {
  await t.test(`${what}: each request that fails counts for what it is`, async (t) => {
    for (const [name, script, early, late] of failures) {
      for (const step of [...before, last]) {
        const stage = await stripe(t, { [step]: script })
        has(t, await stage.dispatch('invoicing', request(type)), word(step === last ? late : early), `${step} ${name}`)
        t.equal(stage.checkpoints.length, step === last ? 1 : 0)
      }
    }
  })

  await t.test(`${what}: after a cut at the point of no return it is looked for, and goes on from its checkpoint`, async (t) => {
    const stage = await stripe(t, { [last]: [{ cut: 'after-body' }, answers[last]!] })
    has(t, await stage.dispatch('invoicing', request(type)), word('uncertain'))
    const [checkpoint = ''] = stage.checkpoints
    const isDraft = type !== 'CREDIT'
    has(t, await stage.ask('invoicing', 'lookup', { reference: 'step-1', checkpoint }),
      isDraft ? { found: 'draft' } : { found: 'accepted', response: { id: 'cn_1' } })

    const before = stage.vendor.requests.length
    has(t, await stage.dispatch('invoicing', request(type), { checkpointed: checkpoint }), word('accepted'))
    const again = sentBy(stage).slice(before)
    t.equal(again.filter((what) => what.startsWith('POST')).length, isDraft ? 1 : 0, 'nothing is made twice')
    if (isDraft) {
      t.equal(
        new Set(stage.vendor.requests.filter(({ path }) => path.endsWith('finalize')).map(({ headers }) => headers['idempotency-key']))
          .size,
        1,
        'under the same key'
      )
    }
  })
}

await t.test('a look-up', async (t) => {
  const lookup = async (
    checkpoint: string | undefined,
    changes: Record<string, VendorReply> = {},
    reference = 'step-1'
  ): Promise<unknown> =>
    await (await stripe(t, changes)).ask('invoicing', 'lookup', { reference, ...(checkpoint !== undefined && { checkpoint }) }, {
      reference
    })

  await t.test('finds what was finalized meanwhile', async (t) => {
    t.strictSame(await lookup('in_1', { 'GET /v1/invoices/in_1': { json: open } }), { found: 'accepted', response: accepted })
    t.strictSame(await lookup('qt_1', { 'GET /v1/quotes/qt_1': { json: { ...quote, status: 'accepted', number: 'QT-1' } } }), {
      found: 'accepted',
      response: { id: 'qt_1', status: 'accepted', number: 'QT-1' }
    })
    has(t, await lookup('credit:in_1'), { found: 'accepted', response: { id: 'cn_1' } })
  })

  await t.test('finds nothing before the checkpoint, of a draft that is gone, of another step', async (t) => {
    const gone = error(404, { type: 'invalid_request_error', code: 'resource_missing', message: 'No such invoice' })
    t.strictSame(await lookup(undefined), { found: 'absent' })
    t.strictSame(await lookup('in_1', { 'GET /v1/invoices/in_1': gone }), { found: 'absent' })
    for (const checkpoint of ['in_1', 'qt_1', 'credit:in_1']) t.strictSame(await lookup(checkpoint, {}, 'step-2'), { found: 'absent' })
  })

  await t.test('that fails says nothing', async (t) => {
    for (const status of [401, 429, 500]) {
      has(t, await lookup('in_1', { 'GET /v1/invoices/in_1': { status } }), { outcome: status === 401 ? 'rejected' : 'unavailable' })
    }
  })
})

await t.test('a step that comes back', async (t) => {
  await t.test('answers with what was issued, and issues nothing', async (t) => {
    const stage = await stripe(t, { 'GET /v1/invoices/in_1': { json: open } })
    t.strictSame(await stage.dispatch('invoicing', request('INVOICE', { invoicing: { sendByEmail: true } }), { checkpointed: 'in_1' }), {
      outcome: 'accepted',
      response: accepted
    })
    t.strictSame(sentBy(stage), ['GET invoices/in_1'])
  })

  await t.test('issues the credit note that is not there', async (t) => {
    const stage = await stripe(t, { 'GET /v1/credit_notes': { json: { data: [] } } })
    has(t, await stage.dispatch('invoicing', request('CREDIT', { invoicing: { reference: 'in_1' } }), { checkpointed: 'credit:in_1' }), {
      outcome: 'accepted'
    })
    t.strictSame(sentBy(stage), ['GET credit_notes', 'GET invoices/in_1', 'GET credit_notes/preview', 'POST credit_notes'])
    t.strictSame(stage.vendor.requests[0]?.query, { invoice: 'in_1', limit: '100' })
  })

  await t.test('waits while its first request is still at work', async (t) => {
    const stage = await stripe(t, {
      'POST /v1/invoices/in_1/finalize': error(409, { type: 'idempotency_error', code: 'idempotency_key_in_use', message: 'At work' })
    })
    has(t, await stage.dispatch('invoicing', request('INVOICE'), { checkpointed: 'in_1' }), {
      outcome: 'uncertain',
      error: { code: 'idempotency_key_in_use' }
    })
  })
})

await t.test('Stripe\'s codes become words of the service', async (t) => {
  const outcomes = {
    authentication_error: 'rejected',
    provider_error: 'rejected',
    provider_unavailable: 'unavailable',
    outcome_unknown: 'uncertain'
  } as Record<string, string>
  const { provider } = await stripe(t)
  for (const [code, mapped] of Object.entries({ ...provider.manifest.errors.map, tax_id_invalid: 'provider_error' })) {
    const stage = await stripe(t, { 'POST /v1/customers': error(400, { type: 'invalid_request_error', code, message: `It is ${code}.` }) })
    t.strictSame(await stage.dispatch('invoicing', request('INVOICE')), {
      outcome: outcomes[mapped],
      error: { word: mapped, code, message: `It is ${code}.`, host: 'api.stripe.com' }
    })
  }
  for (const code of ['api_key_expired', 'secret_key_required']) {
    has(t, await (await stripe(t, { 'POST /v1/customers': error(401, { code }) })).dispatch('invoicing', request('INVOICE')), {
      outcome: 'rejected',
      error: { word: 'authentication_error', code }
    })
  }
  const stage = await stripe(t, { 'POST /v1/customers': error(401, { type: 'invalid_request_error', message: 'Invalid API Key' }) })
  has(t, await stage.dispatch('invoicing', request('INVOICE')), {
    error: { word: 'authentication_error', code: 'invalid_request_error', message: 'Invalid API Key' }
  })
})

await t.test('the key belongs to the mode: nothing real from a sandbox, nothing pretended outside of it', async (t) => {
  const test = { ...settings, secretKey: 'rk_test_0123456789' }
  const stage = await stripe(t)
  has(t, await stage.dispatch('invoicing', request('INVOICE'), { sandbox: true, settings: test }), { outcome: 'accepted' })
  const before = stage.vendor.requests.length
  has(t, await stage.dispatch('invoicing', request('INVOICE'), { sandbox: true }), {
    outcome: 'rejected',
    error: { code: 'wrong_environment', message: /sandbox needs a test key/ }
  })
  has(t, await stage.dispatch('invoicing', request('INVOICE'), { settings: test }), {
    outcome: 'rejected',
    error: { code: 'wrong_environment', message: /This is a test key/ }
  })
  t.equal(stage.vendor.requests.length, before)
})

await t.test('the document is Stripe\'s own', async (t) => {
  const pdf = Buffer.from('%PDF-1.4 theirs')
  const file = { headers: { 'content-type': 'application/pdf' }, body: pdf }
  const stage = await stripe(t, {
    'GET /v1/invoices/in_1': { json: open },
    'GET /invoice/acct_1/a/pdf': file,
    'GET /v1/credit_notes/cn_1': { json: note },
    'GET /credit_notes/acct_1/a/pdf': file,
    'GET /v1/quotes/qt_1/pdf': file
  })
  has(t, stage.provider.manifest.services.invoicing, {
    capabilities: { document: 'theirs' },
    verbs: ['dispatch', 'lookup', 'status', 'document']
  })
  for (const [id, filename] of [['in_1', '0759376C-0001.pdf'], ['cn_1', '0759376C-0001-CN-01.pdf'], ['qt_1', 'qt_1.pdf']] as const) {
    has(t, await stage.ask('invoicing', 'document', { id }), { filename, contentType: 'application/pdf', size: pdf.length })
  }
  const { headers, host } = stage.vendor.requests.at(-1)!
  has(t, { host, ...headers }, { host: 'files.stripe.com', authorization: 'Bearer sk_live_0123456789' })
  for (const request of stage.vendor.requests.filter(({ host }) => host === 'pay.stripe.com')) {
    t.equal(request.headers['authorization'], undefined, 'the key is for the API alone')
  }
  stage.vendor.on('GET /v1/invoices/in_1', { json: draft })
  has(t, await stage.ask('invoicing', 'document', { id: 'in_1' }), { outcome: 'rejected', error: { code: 'no_document' } })
  stage.vendor.on('GET /v1/invoices/in_1', { json: { ...open, invoice_pdf: 'https://evil.example/pdf' } })
  has(t, await stage.ask('invoicing', 'document', { id: 'in_1' }), { outcome: /rejected|unavailable|uncertain/ })
  t.notOk(stage.vendor.requests.some(({ host }) => host === 'evil.example'))
})

await t.test('it requires what Stripe cannot do without, at validation', async (t) => {
  const { provider } = await stripe(t)
  t.same(provider.manifest.services.invoicing?.capabilities.requires, ['/number', '/currency', '/customer/name', '/customer/email',
    '/lines/0/quantity', '/lines/0/unitPrice', '/total'])
})

await t.test('its settings are a form; its README names every one of them', async (t) => {
  const { provider: { manifest: { settings: form, requestSettings } } } = await stripe(t)
  const readme = await readFile(new URL('../../providers/stripe/README.md', import.meta.url), 'utf8')
  for (const [name, field] of Object.entries({ ...form.properties, ...requestSettings.properties })) {
    has(t, field, { title: String, description: String }, name)
    contains(t, readme, `\`${name}\``)
  }
  t.same(checkSettings(form, settings), [])
  for (const secretKey of ['', 'pk_live_1', 'sk_1', 'sk_live_']) {
    t.same([...new Set(checkSettings(form, { ...settings, secretKey }).map(({ path }) => path))], ['/secretKey'], secretKey)
  }
})

await describesAll(t, 'stripe', { hosts: ['files.stripe.com'], links: ['pay.stripe.com'] })
