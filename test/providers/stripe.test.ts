import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import type { JsonObject } from '../../core/contract/json.ts'
import { checkSettings } from '../../core/host/settings.ts'
import type { InvoicingDispatch, InvoicingFields } from '../../core/services/invoicing.ts'
import type { Script } from '../../core/testing/vendor.ts'
import { invoice } from '../fixtures/providers/call.ts'
import { describesAll, stageOf, type More, type Stage } from '../support/provider-stage.ts'

const settings = { secretKey: 'sk_live_0123456789', taxRates: [{ percent: 20, id: 'txr_20' }, { percent: 5.5, id: 'txr_055' }], quoteProduct: 'prod_1' }
const data: JsonObject = {
  number: 'F-1',
  date: '2026-03-14',
  dueDate: '2026-04-13',
  currency: 'EUR',
  customer: { name: 'Müller & Söhne GmbH', email: 'rechnung@mueller.example', address: 'Lange Straße 27', city: 'Berlin', postalCode: '10115', country: 'DE', vatId: 'DE136695976' },
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
const request = (documentType: InvoicingFields['documentType'], more: { invoicing?: Partial<InvoicingFields>, data?: JsonObject } = {}): InvoicingDispatch =>
  invoice({ invoicing: { documentType, ...more.invoicing }, data: { ...data, ...(documentType === 'CREDIT' && { invoiceNumber: 'F-0' }), ...more.data } })

const metadata = { dispatch_reference: 'step-1', document_number: 'F-1' }
const draft = { id: 'in_1', object: 'invoice', status: 'draft', number: null, total: 285840, amount_remaining: 285840, hosted_invoice_url: null, invoice_pdf: null, metadata }
const open = { ...draft, status: 'open', number: '0759376C-0001', hosted_invoice_url: 'https://invoice.stripe.com/i/acct_1/a', invoice_pdf: 'https://pay.stripe.com/invoice/acct_1/a/pdf' }
const quote = { id: 'qt_1', object: 'quote', status: 'draft', number: null, amount_total: 285840, metadata }
const note = { id: 'cn_1', object: 'credit_note', status: 'issued', number: '0759376C-0001-CN-01', total: 285840, pdf: 'https://pay.stripe.com/credit_notes/acct_1/a/pdf', metadata }

const accepted = { id: 'in_1', status: 'open', number: '0759376C-0001', url: open.hosted_invoice_url }
const error = (status: number, fields: JsonObject): Script => ({ status, json: { error: fields } })

/** A Stripe that accepts everything; every call is by method and path. */
const answers: Record<string, Script> = {
  'POST /v1/customers': { json: { id: 'cus_1', object: 'customer' } },
  'POST /v1/invoices': { json: draft },
  'POST /v1/invoiceitems': { json: { id: 'ii_1', object: 'invoiceitem' } },
  'GET /v1/invoices/in_1': { json: draft },
  'POST /v1/invoices/in_1/finalize': { json: open },
  'POST /v1/invoices/in_1/send': { json: open },
  'POST /v1/quotes': { json: quote },
  'GET /v1/quotes/qt_1': { json: quote },
  'POST /v1/quotes/qt_1/finalize': { json: { ...quote, status: 'open', number: 'QT-1' } },
  'GET /v1/invoices/search': { json: { object: 'search_result', data: [open] } },
  'POST /v1/credit_notes': { json: note },
  'GET /v1/credit_notes': { json: { object: 'list', data: [{ ...note, id: 'cn_0', metadata: {} }, note] } }
}

async function stripe (t: Test, changes: Record<string, Script | [Script, ...Script[]]> = {}): Promise<Stage> {
  const stage = await stageOf(t, 'stripe', settings)
  for (const [what, answer] of Object.entries({ ...answers, ...changes })) stage.vendor.on(what, answer)
  return stage
}

const sentBy = ({ vendor }: Stage): string[] => vendor.requests.map(({ method, path }) => `${method} ${path.slice(4)}`)
const formOf = ({ vendor }: Stage, path: string): Record<string, string> | undefined => vendor.requests.findLast((request) => request.method === 'POST' && request.path === `/v1/${path}`)?.form

await t.test('an invoice is a draft with its lines, checked, then finalized', async (t) => {
  const stage = await stripe(t)
  t.strictSame(await stage.dispatch('invoicing', request('INVOICE'), { idempotencyKey: 'key' }), { outcome: 'accepted', response: accepted })
  t.strictSame(sentBy(stage), ['POST customers', 'POST invoices', 'POST invoiceitems', 'POST invoiceitems', 'GET invoices/in_1', 'POST invoices/in_1/finalize'])
  t.strictSame(stage.checkpoints, ['in_1'])
  t.strictSame(formOf(stage, 'customers'), {
    name: 'Müller & Söhne GmbH', email: 'rechnung@mueller.example', 'address[line1]': 'Lange Straße 27', 'address[city]': 'Berlin', 'address[postal_code]': '10115', 'address[country]': 'DE'
  })
  t.strictSame(formOf(stage, 'invoices'), {
    customer: 'cus_1',
    currency: 'eur',
    collection_method: 'send_invoice',
    auto_advance: 'false',
    pending_invoice_items_behavior: 'exclude',
    effective_at: '1773446400',
    due_date: '1776038400',
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
    { customer: 'cus_1', invoice: 'in_1', currency: 'eur', description: 'Workshop', quantity: '2', unit_amount_decimal: '98000', 'tax_rates[0]': 'txr_20' },
    { customer: 'cus_1', invoice: 'in_1', currency: 'eur', description: 'Migration (12.5 × 38.4)', quantity: '1', unit_amount_decimal: '48000', 'tax_rates[0]': 'txr_055' }
  ])
  for (const { headers, host } of stage.vendor.requests) {
    t.equal(host, 'api.stripe.com')
    t.match(headers, { 'stripe-version': '2023-08-16', authorization: 'Bearer sk_live_0123456789' })
  }
  const keys = stage.vendor.requests.flatMap(({ headers, method }) => method === 'POST' ? [headers['idempotency-key']] : [])
  t.strictSame(keys, ['key:customer', 'key:invoice', 'key:line-0', 'key:line-1', 'key:finalize'])
})

await t.test('what the request says comes before the data', async (t) => {
  const stage = await stripe(t)
  await stage.dispatch('invoicing', request('INVOICE', { invoicing: { customerId: 'cus_9', dueDate: '2026-05-01', paymentTerms: 'at once' } }))
  t.match(formOf(stage, 'invoices'), { customer: 'cus_9', due_date: '1777593600', footer: 'at once\nNo discount' })
  t.notOk(sentBy(stage).includes('POST customers'))
  await stage.dispatch('invoicing', invoice({ data: { number: 1, currency: 'EUR', total: 2858.4, lines: [{ quantity: 1, unitPrice: 1 }] } }))
  t.match(formOf(stage, 'invoices'), { days_until_due: '30', due_date: undefined, description: undefined, footer: undefined, 'custom_fields[0][value]': '1', 'custom_fields[1][name]': undefined })
})

await t.test('sendByEmail is Stripe\'s own sending, which finalizes too; only invoices can be sent', async (t) => {
  const stage = await stripe(t)
  t.match(await stage.dispatch('invoicing', request('INVOICE', { invoicing: { sendByEmail: true } })), { outcome: 'accepted' })
  t.equal(sentBy(stage).at(-1), 'POST invoices/in_1/send')
  t.notOk(sentBy(stage).includes('POST invoices/in_1/finalize'))
  t.same(stage.provider.manifest.services.invoicing?.capabilities.sendByEmail, ['INVOICE'])
})

await t.test('a quote is a draft of prices of one product, then finalized', async (t) => {
  const stage = await stripe(t)
  t.strictSame(await stage.dispatch('invoicing', request('QUOTE')), { outcome: 'accepted', response: { id: 'qt_1', status: 'open', number: 'QT-1' } })
  t.strictSame(sentBy(stage), ['POST customers', 'POST quotes', 'POST quotes/qt_1/finalize'])
  t.strictSame(stage.checkpoints, ['qt_1'])
  t.strictSame(formOf(stage, 'quotes'), {
    customer: 'cus_1',
    collection_method: 'send_invoice',
    'invoice_settings[days_until_due]': '30',
    header: 'F-1',
    description: '2 × Workshop\n1 × Migration (12.5 × 38.4)',
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
  t.strictSame(await stage.dispatch('invoicing', request('CREDIT', { data: credited })), { outcome: 'accepted', response: { id: 'cn_1', status: 'issued', number: note.number } })
  t.strictSame(sentBy(stage), ['GET invoices/search', 'GET invoices/in_1', 'POST credit_notes'])
  t.equal(stage.vendor.requests[0]?.query['query'], 'metadata["document_number"]:"F \\"0\\"" OR number:"F \\"0\\""')
  t.strictSame(stage.checkpoints, ['credit:in_1'])
  t.match(formOf(stage, 'credit_notes'), {
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
    t.match(await stage.dispatch('invoicing', request('CREDIT', { invoicing: { reference: 'in_1' } })), { outcome: 'accepted' })
    t.strictSame(sentBy(stage), ['GET invoices/in_1', 'POST credit_notes'])
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
      t.match(await stage.dispatch('invoicing', request('CREDIT', { data: credited })), { outcome: 'rejected', error: { code: 'unknown_invoice' } })
    }
  })
})

await t.test('settings of the payment', async (t) => {
  const stage = await stripe(t)
  const { requestSettings: form } = stage.provider.manifest
  t.match(await stage.dispatch('invoicing', request('INVOICE'), { requestSettings: { includePaymentCollectionLink: true, paymentCollectionLabel: 'Rent 3/26' } }), { response: { paymentUrl: open.hosted_invoice_url } })
  t.match(formOf(stage, 'invoices'), { description: 'Rent 3/26\nThank you' })
  t.same(checkSettings(form, { includePaymentCollectionLink: true, paymentCollectionLabel: 'Rent' }), [])
  t.match(checkSettings(form, { paymentCollectionBeneficiaryName: 'Ada' }), [{ path: '/paymentCollectionBeneficiaryName', message: /Stripe names the business of the account/ }])
  for (const type of ['QUOTE', 'CREDIT'] as const) {
    for (const requestSettings of [{ includePaymentCollectionLink: true }, { paymentCollectionLabel: 'Rent' }] as JsonObject[]) {
      t.match(await stage.dispatch('invoicing', request(type), { requestSettings }), { outcome: 'rejected', error: { code: 'no_payment_page' } })
    }
    t.match(await stage.dispatch('invoicing', request(type, { invoicing: { reference: 'in_1' } }), { requestSettings: { includePaymentCollectionLink: false } }), { outcome: 'accepted' })
  }
})

await t.test('nothing is issued that Stripe and the data do not agree about, or that Stripe has no place for', async (t) => {
  const cases: [string, InvoicingDispatch, string, Record<string, Script>?, More?][] = [
    ['another total', request('INVOICE'), 'total_differs', { 'GET /v1/invoices/in_1': { json: { ...draft, total: 285841 } } }],
    ['another total of a quote', request('QUOTE'), 'total_differs', { 'POST /v1/quotes': { json: { ...quote, amount_total: 285839 } } }],
    ['a tax rate that the settings do not have', request('INVOICE', { data: { taxRate: 19 } }), 'unknown_tax_rate'],
    ['a total of less than a cent', request('INVOICE', { data: { total: '1.005' } }), 'total_differs'],
    ['a total that is no number', request('INVOICE', { data: { total: '1e3' } }), 'invalid_amount'],
    ['a line without a price', request('INVOICE', { data: { lines: [{ description: 'x', quantity: 1 }] } }), 'invalid_amount'],
    ['a tax rate that is no number', request('INVOICE', { data: { taxRate: 'full' } }), 'invalid_amount'],
    ['a credit note of no invoice', request('CREDIT', { data: { invoiceNumber: '' } }), 'no_invoice'],
    ['a quote without a product', request('QUOTE'), 'no_product', {}, { settings: { secretKey: settings.secretKey, taxRates: settings.taxRates } }]
  ]
  for (const [name, asked, code, changes, more] of cases) {
    const stage = await stripe(t, changes)
    t.match(await stage.dispatch('invoicing', asked, more), { outcome: 'rejected', error: { word: 'provider_error', code } }, name)
    t.notOk(sentBy(stage).some((what) => /finalize|send/.test(what)), name)
    t.same(stage.checkpoints, [], name)
  }
})

await t.test('amounts are exact in every currency', async (t) => {
  const priceOf = async (currency: string, unitPrice: string | number): Promise<string | undefined> => {
    const stage = await stripe(t)
    await stage.dispatch('invoicing', request('INVOICE', { data: { currency, taxRate: 0, total: '0', lines: [{ description: 'x', quantity: 1, unitPrice }] } }))
    return formOf(stage, 'invoiceitems')?.['unit_amount_decimal']
  }
  const prices: [string, string | number, string][] = [
    ['EUR', 0.1, '10'], ['EUR', '19.99', '1999'], ['EUR', 1.005, '100.5'], ['EUR', '0.0000000001', '0.00000001'], ['EUR', '999999999999999.99', '99999999999999999'], ['EUR', -3, '-300'],
    ['JPY', 500, '500'], ['JPY', '0.5', '0.5'], ['KWD', '5.124', '5124'], ['ISK', 5, '500'], ['UGX', '5', '500']
  ]
  for (const [currency, price, expected] of prices) t.equal(await priceOf(currency, price), expected, `${price} ${currency}`)
})

const word = (outcome: string): { outcome: string } => ({ outcome })
const steps: Record<string, { type: InvoicingFields['documentType'], before: string[], last: string }> = {
  invoice: { type: 'INVOICE', before: ['POST /v1/customers', 'POST /v1/invoices', 'POST /v1/invoiceitems', 'GET /v1/invoices/in_1'], last: 'POST /v1/invoices/in_1/finalize' },
  quote: { type: 'QUOTE', before: ['POST /v1/customers', 'POST /v1/quotes'], last: 'POST /v1/quotes/qt_1/finalize' },
  'credit note': { type: 'CREDIT', before: ['GET /v1/invoices/search'], last: 'POST /v1/credit_notes' }
}
const failures: [string, Script, before: string, last: string][] = [
  ['cut off before it is sent', { cut: 'before-body' }, 'unavailable', 'uncertain'],
  ['cut off once it is sent', { cut: 'after-body' }, 'unavailable', 'uncertain'],
  ['cut off in the answer', { cut: 'in-reply' }, 'unavailable', 'uncertain'],
  ['answered with another shape', { json: { object: 'surprise' } }, 'unavailable', 'uncertain'],
  ['answered with 500', error(500, { type: 'api_error', message: 'Sorry' }), 'unavailable', 'uncertain'],
  ['answered with 429', error(429, { type: 'invalid_request_error', code: 'rate_limit' }), 'unavailable', 'unavailable'],
  ['answered with 400', error(400, { type: 'invalid_request_error', code: 'parameter_invalid_empty', message: 'No' }), 'rejected', 'rejected'],
  ['answered with 401', error(401, { type: 'invalid_request_error', message: 'Invalid API Key provided' }), 'rejected', 'rejected']
]
for (const [what, { type, before, last }] of Object.entries(steps)) {
  await t.test(`${what}: each request that fails counts for what it is`, async (t) => {
    for (const [name, script, early, late] of failures) {
      for (const step of [...before, last]) {
        const stage = await stripe(t, { [step]: script })
        t.match(await stage.dispatch('invoicing', request(type)), word(step === last ? late : early), `${step} ${name}`)
        t.equal(stage.checkpoints.length, step === last ? 1 : 0)
      }
    }
  })

  await t.test(`${what}: after a cut at the point of no return it is looked for, and goes on from its checkpoint`, async (t) => {
    const stage = await stripe(t, { [last]: [{ cut: 'after-body' }, answers[last]!] })
    t.match(await stage.dispatch('invoicing', request(type)), word('uncertain'))
    const [checkpoint = ''] = stage.checkpoints
    const isDraft = type !== 'CREDIT'
    t.match(await stage.ask('invoicing', 'lookup', { reference: 'step-1', checkpoint }), isDraft ? { found: 'draft' } : { found: 'accepted', response: { id: 'cn_1' } })

    const before = stage.vendor.requests.length
    t.match(await stage.dispatch('invoicing', request(type), { checkpointed: checkpoint }), word('accepted'))
    const again = sentBy(stage).slice(before)
    t.equal(again.filter((what) => what.startsWith('POST')).length, isDraft ? 1 : 0, 'nothing is made twice')
    if (isDraft) t.equal(new Set(stage.vendor.requests.filter(({ path }) => path.endsWith('finalize')).map(({ headers }) => headers['idempotency-key'])).size, 1, 'under the same key')
  })
}

await t.test('a look-up', async (t) => {
  const lookup = async (checkpoint: string | undefined, changes: Record<string, Script> = {}, reference = 'step-1'): Promise<unknown> =>
    await (await stripe(t, changes)).ask('invoicing', 'lookup', { reference, ...(checkpoint !== undefined && { checkpoint }) }, { reference })

  await t.test('finds what was finalized meanwhile', async (t) => {
    t.strictSame(await lookup('in_1', { 'GET /v1/invoices/in_1': { json: open } }), { found: 'accepted', response: accepted })
    t.strictSame(await lookup('qt_1', { 'GET /v1/quotes/qt_1': { json: { ...quote, status: 'accepted', number: 'QT-1' } } }), { found: 'accepted', response: { id: 'qt_1', status: 'accepted', number: 'QT-1' } })
    t.match(await lookup('credit:in_1'), { found: 'accepted', response: { id: 'cn_1' } })
  })

  await t.test('finds nothing before the checkpoint, of a draft that is gone, of another step', async (t) => {
    const gone = error(404, { type: 'invalid_request_error', code: 'resource_missing', message: 'No such invoice' })
    t.strictSame(await lookup(undefined), { found: 'absent' })
    t.strictSame(await lookup('in_1', { 'GET /v1/invoices/in_1': gone }), { found: 'absent' })
    for (const checkpoint of ['in_1', 'qt_1', 'credit:in_1']) t.strictSame(await lookup(checkpoint, {}, 'step-2'), { found: 'absent' })
  })

  await t.test('that fails says nothing', async (t) => {
    for (const status of [401, 429, 500]) t.match(await lookup('in_1', { 'GET /v1/invoices/in_1': { status } }), { outcome: status === 401 ? 'rejected' : 'unavailable' })
  })
})

await t.test('a step that comes back', async (t) => {
  await t.test('answers with what was issued, and issues nothing', async (t) => {
    const stage = await stripe(t, { 'GET /v1/invoices/in_1': { json: open } })
    t.strictSame(await stage.dispatch('invoicing', request('INVOICE', { invoicing: { sendByEmail: true } }), { checkpointed: 'in_1' }), { outcome: 'accepted', response: accepted })
    t.strictSame(sentBy(stage), ['GET invoices/in_1'])
  })

  await t.test('issues the credit note that is not there', async (t) => {
    const stage = await stripe(t, { 'GET /v1/credit_notes': { json: { data: [] } } })
    t.match(await stage.dispatch('invoicing', request('CREDIT', { invoicing: { reference: 'in_1' } }), { checkpointed: 'credit:in_1' }), { outcome: 'accepted' })
    t.strictSame(sentBy(stage), ['GET credit_notes', 'GET invoices/in_1', 'POST credit_notes'])
    t.strictSame(stage.vendor.requests[0]?.query, { invoice: 'in_1', limit: '100' })
  })

  await t.test('waits while its first request is still at work', async (t) => {
    const stage = await stripe(t, { 'POST /v1/invoices/in_1/finalize': error(409, { type: 'idempotency_error', code: 'idempotency_key_in_use', message: 'At work' }) })
    t.match(await stage.dispatch('invoicing', request('INVOICE'), { checkpointed: 'in_1' }), { outcome: 'uncertain', error: { code: 'idempotency_key_in_use' } })
  })
})

await t.test('Stripe\'s codes become words of the service', async (t) => {
  const outcomes = { authentication_error: 'rejected', provider_error: 'rejected', provider_unavailable: 'unavailable', outcome_unknown: 'uncertain' } as Record<string, string>
  const { provider } = await stripe(t)
  for (const [code, mapped] of Object.entries({ ...provider.manifest.errors.map, tax_id_invalid: 'provider_error' })) {
    const stage = await stripe(t, { 'POST /v1/customers': error(400, { type: 'invalid_request_error', code, message: `It is ${code}.` }) })
    t.strictSame(await stage.dispatch('invoicing', request('INVOICE')), { outcome: outcomes[mapped], error: { word: mapped, code, message: `It is ${code}.` } })
  }
  for (const code of ['api_key_expired', 'secret_key_required']) {
    t.match(await (await stripe(t, { 'POST /v1/customers': error(401, { code }) })).dispatch('invoicing', request('INVOICE')), { outcome: 'rejected', error: { word: 'authentication_error', code } })
  }
  const stage = await stripe(t, { 'POST /v1/customers': error(401, { type: 'invalid_request_error', message: 'Invalid API Key' }) })
  t.match(await stage.dispatch('invoicing', request('INVOICE')), { error: { word: 'authentication_error', code: 'invalid_request_error', message: 'Invalid API Key' } })
})

await t.test('the key belongs to the mode: nothing real from a sandbox, nothing pretended outside of it', async (t) => {
  const test = { ...settings, secretKey: 'rk_test_0123456789' }
  const stage = await stripe(t)
  t.match(await stage.dispatch('invoicing', request('INVOICE'), { sandbox: true, settings: test }), { outcome: 'accepted' })
  const before = stage.vendor.requests.length
  t.match(await stage.dispatch('invoicing', request('INVOICE'), { sandbox: true }), { outcome: 'rejected', error: { code: 'wrong_environment', message: /sandbox configuration needs a test key/ } })
  t.match(await stage.dispatch('invoicing', request('INVOICE'), { settings: test }), { outcome: 'rejected', error: { code: 'wrong_environment', message: /not real/ } })
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
  t.match(stage.provider.manifest.services.invoicing, { capabilities: { document: 'theirs' }, verbs: ['dispatch', 'lookup', 'document'] })
  for (const [id, filename] of [['in_1', '0759376C-0001.pdf'], ['cn_1', '0759376C-0001-CN-01.pdf'], ['qt_1', 'qt_1.pdf']] as const) {
    t.match(await stage.ask('invoicing', 'document', { id }), { filename, contentType: 'application/pdf', size: pdf.length })
  }
  const { headers, host } = stage.vendor.requests.at(-1)!
  t.match({ host, ...headers }, { host: 'files.stripe.com', authorization: 'Bearer sk_live_0123456789' })
  for (const request of stage.vendor.requests.filter(({ host }) => host === 'pay.stripe.com')) t.equal(request.headers['authorization'], undefined, 'the key is for the API alone')
  stage.vendor.on('GET /v1/invoices/in_1', { json: draft })
  t.match(await stage.ask('invoicing', 'document', { id: 'in_1' }), { outcome: 'rejected', error: { code: 'no_document' } })
  stage.vendor.on('GET /v1/invoices/in_1', { json: { ...open, invoice_pdf: 'https://evil.example/pdf' } })
  t.match(await stage.ask('invoicing', 'document', { id: 'in_1' }), { outcome: /rejected|unavailable|uncertain/ })
  t.notOk(stage.vendor.requests.some(({ host }) => host === 'evil.example'))
})

await t.test('it requires what Stripe cannot do without, at validation', async (t) => {
  const { provider } = await stripe(t)
  t.same(provider.manifest.services.invoicing?.capabilities.requires, ['/number', '/currency', '/customer/name', '/customer/email', '/lines/0/quantity', '/lines/0/unitPrice', '/total'])
})

await t.test('its settings are a form; its README names every one of them', async (t) => {
  const { provider: { manifest: { settings: form, requestSettings } } } = await stripe(t)
  const readme = await readFile(new URL('../../providers/stripe/README.md', import.meta.url), 'utf8')
  for (const [name, field] of Object.entries({ ...form.properties, ...requestSettings.properties })) {
    t.match(field, { title: String, description: String }, name)
    t.match(readme, `\`${name}\``)
  }
  t.same(checkSettings(form, settings), [])
  for (const secretKey of ['', 'pk_live_1', 'sk_1', 'sk_live_']) t.match(checkSettings(form, { ...settings, secretKey }), [{ path: '/secretKey' }], secretKey)
})

await describesAll(t, 'stripe', { hosts: ['files.stripe.com'], links: ['pay.stripe.com'] })
