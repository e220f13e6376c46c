import t from 'tap'
import { contains, has, matches } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const validate = (body: unknown): Promise<Answer> => service.send('POST', '/api/invoicing/validate', { body })
const dispatch = (body: unknown): Promise<Answer> => service.send('POST', '/api/invoicing', { body })

/** The paths and codes of an answer's problems. */
const reported = ({ body }: Answer): string[] =>
  (body.details as { path: string, code: string }[]).map(({ path, code }) => `${path} ${code}`)

const without = (request: Record<string, unknown>, field: string): object =>
  Object.fromEntries(Object.entries(request).filter(([name]) => name !== field))

await t.test('a request of one service is answered with exactly the fields of the contract', async (t) => {
  const { status, body } = await dispatch(
    invoiceRequest({ number: 'F-1' }, { metadata: { orderId: 'A-1' }, settings: { includePaymentCollectionLink: true } })
  )
  t.equal(status, 200)
  t.same(Object.keys(body), ['success', 'dispatchId', 'status', 'service', 'providerName', 'providerResponse', 'generatedDocument',
    'metadata', 'executionTime'])
  has(t, body, {
    success: true,
    dispatchId: /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    status: 'succeeded',
    service: 'invoicing',
    providerName: 'simulator',
    providerResponse: { id: /^sim-/, status: 'created', url: /^https:/, documentType: 'INVOICE', number: 'F-1', paymentUrl: /^https:/ },
    generatedDocument: {
      id: /^[0-9a-f-]{36}$/,
      url: /^https:\/\/dispatch\.example\.com\/d\/[\w-]{48}$/,
      filename: 'Invoice-F-1.pdf',
      contentType: 'application/pdf',
      size: 14,
      sha256: /^[0-9a-f]{64}$/,
      pages: 1,
      expiresAt: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
    },
    metadata: { orderId: 'A-1' }
  })
  t.type(body.executionTime, 'number')
})

await t.test('a validation is answered with exactly the fields of the contract', async (t) => {
  const { status, body } = await validate(invoiceRequest({}, { metadata: { orderId: 'A-1' } }))
  t.equal(status, 200)
  t.strictSame(body, {
    success: true,
    result: 'success',
    warnings: [],
    plan: [{ service: 'invoicing', providerName: 'simulator', chosenBy: 'company', documentType: 'INVOICE', credits: 1 }],
    metadata: { orderId: 'A-1' }
  })
})

await t.test('since version 1.1.0 a validation tells the recipient', async (t) => {
  const sending = { body: invoiceRequest(), headers: { 'x-api-version': '1.1.0' } }
  t.equal((await service.send('POST', '/api/invoicing/validate', sending)).body.recipient, 'Ada Lovelace')
})

await t.test('metadata that was not given is echoed as empty', async (t) => {
  t.strictSame((await validate(invoiceRequest())).body.metadata, {})
  t.strictSame((await dispatch(invoiceRequest())).body.metadata, {})
})

await t.test('an error has word, message and request id; validation says besides that it is one', async (t) => {
  for (const [path, more] of [['/api/invoicing', {}], ['/api/invoicing/validate', { result: 'error' }]] as const) {
    const { status, body, headers } = await service.send('POST', path, { body: { template: { id: 1 } } })
    t.equal(status, 400)
    const detail = { path: String, code: String, message: String }
    matches(t, body, {
      error: 'validation_error',
      message: String,
      requestId: headers.get('x-request-id'),
      details: [detail, detail],
      ...more
    })
  }
})

await t.test('all faults of the shape are told together, each with its pointer and before anything else', async (t) => {
  const answer = await validate({
    documentType: 'INVOICES',
    providerName: 'Not A Code',
    template: { id: 'one', data: [], extra: 1 },
    metadata: { deep: { a: 1 } },
    callbackUrl: 'http://example.com',
    sendByMail: true,
    invoicing: { dueDate: 'tomorrow', refrence: 'x' },
    settings: 'none'
  })
  t.equal(answer.status, 400)
  t.equal(answer.body.error, 'validation_error')
  t.same(reported(answer).sort(), ['/callbackUrl format', '/documentType enum', '/invoicing/dueDate format',
    '/invoicing/refrence unknown_field', '/metadata/deep type', '/providerName pattern', '/sendByMail unknown_field', '/settings type',
    '/template/data type', '/template/extra unknown_field', '/template/id type'])
  contains(t, answer.body.message, /And 10 more/)
})

await t.test('an unknown field is refused with the nearest known name', async (t) => {
  const cases: [Record<string, unknown>, string, string | undefined][] = [
    [{ metdata: {} }, '/metdata', 'metadata'],
    [{ ProviderName: 'simulator' }, '/ProviderName', 'providerName'],
    [{ callbackURL: 'https://a.example' }, '/callbackURL', 'callbackUrl'],
    [{ invoicing: { duedate: '2026-04-13' } }, '/invoicing/duedate', 'dueDate'],
    [{ invoicing: { custmerId: 'C' } }, '/invoicing/custmerId', 'customerId'],
    [{ esign: {} }, '/esign', undefined],
    [{ signers: [] }, '/signers', undefined],
    [{ fileContent: {} }, '/fileContent', undefined]
  ]
  for (const [more, path, nearest] of cases) {
    const answer = await validate(invoiceRequest({}, more))
    t.equal(answer.status, 400, path)
    t.same(reported(answer), [`${path} unknown_field`])
    if (nearest !== undefined) contains(t, answer.body.message, `did you mean "${nearest}"?`)
  }
})

await t.test('the fields that must be there are each asked for', async (t) => {
  t.same(reported(await validate({})).sort(), ['/documentType required', '/template required'])
  t.same(reported(await validate({ documentType: 'INVOICE', template: {} })).sort(), ['/template/data required', '/template/id required'])
  for (const body of ['null', '[]', '"x"', '1', 'true']) {
    const answer = await service.send('POST', '/api/invoicing/validate', { body })
    t.equal(answer.status, 400, body)
    t.same(reported(answer), [' type'])
  }
})

await t.test('documentType and sendByEmail may stand at the top, inside, or in both places alike', async (t) => {
  const request = without(invoiceRequest(), 'documentType')
  const accepted = [
    { documentType: 'QUOTE', sendByEmail: true },
    { invoicing: { documentType: 'QUOTE', sendByEmail: true } },
    { documentType: 'QUOTE', invoicing: { documentType: 'QUOTE' } },
    { documentType: 'QUOTE', sendByEmail: false, invoicing: { sendByEmail: false } }
  ]
  for (const fields of accepted) {
    const answer = await validate({ ...request, ...fields })
    t.equal(answer.status, 200, JSON.stringify(fields))
    t.equal(answer.body.plan[0].documentType, 'QUOTE')
  }
})

await t.test('documentType and sendByEmail that say two things are refused', async (t) => {
  const contradicting = [
    [{ documentType: 'QUOTE', invoicing: { documentType: 'INVOICE' } }, '/invoicing/documentType contradiction'],
    [{ documentType: 'QUOTE', sendByEmail: true, invoicing: { sendByEmail: false } }, '/invoicing/sendByEmail contradiction']
  ] as const
  for (const [fields, problem] of contradicting) {
    const answer = await validate({ ...invoiceRequest(), ...fields })
    t.equal(answer.status, 400)
    t.same(reported(answer), [problem])
  }
})

await t.test('a field given inside does the same as at the top', async (t) => {
  const inside = await dispatch({ ...without(invoiceRequest(), 'documentType'), invoicing: { documentType: 'CREDIT', sendByEmail: true } })
  has(t, inside.body.providerResponse, { documentType: 'CREDIT', status: 'sent' })
  const top = await dispatch(invoiceRequest({}, { documentType: 'CREDIT', sendByEmail: true }))
  has(t, top.body.providerResponse, { documentType: 'CREDIT', status: 'sent' })
})

await t.test('metadata holds 20 pairs, keys of 50 and values of 500 characters, and not one more', async (t) => {
  const pairs = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'v']))
  const accepted: object[] = [
    {},
    pairs(20),
    { ['k'.repeat(50)]: 'v'.repeat(500) },
    { empty: '' },
    { ['🙂'.repeat(50)]: '🙂'.repeat(500) },
    { 'a/b~c d': 'é' }
  ]
  for (const metadata of accepted) {
    const { status, body } = await validate(invoiceRequest({}, { metadata }))
    t.equal(status, 200)
    t.strictSame(body.metadata, metadata)
  }
  for (const metadata of [null, { k: null }]) {
    const { status, body } = await validate(invoiceRequest({}, { metadata }))
    t.same({ status, metadata: body.metadata }, { status: 200, metadata: {} }, 'null is absence')
  }
  const refused: [unknown, string][] = [
    [pairs(21), '/metadata too_many'],
    [{ ['k'.repeat(51)]: 'v' }, `/metadata/${'k'.repeat(51)} key_too_long`],
    [{ '': 'v' }, '/metadata/ key_too_short'],
    [{ k: 'v'.repeat(501) }, '/metadata/k too_long'],
    [{ k: 1 }, '/metadata/k type'],
    [{ k: { nested: 'v' } }, '/metadata/k type'],
    [{ k: ['v'] }, '/metadata/k type'],
    [['v'], '/metadata type']
  ]
  for (const [metadata, problem] of refused) {
    const answer = await validate(invoiceRequest({}, { metadata }))
    t.equal(answer.status, 400, problem.slice(0, 40))
    t.same(reported(answer), [problem])
  }
})

await t.test('a callbackUrl of the wrong shape is a 400', async (t) => {
  const wrong = [
    '',
    'example.com',
    'http://example.com/x',
    'https://',
    'https://user:word@example.com',
    'https://example.com/a b',
    'ftp://example.com',
    1,
    `https://example.com/${'x'.repeat(2048)}`
  ]
  for (const callbackUrl of wrong) {
    const answer = await validate(invoiceRequest({}, { callbackUrl }))
    t.equal(answer.status, 400, String(callbackUrl).slice(0, 40))
    t.equal(answer.body.details[0].path, '/callbackUrl')
  }
})

await t.test('a callbackUrl is warned about where the answer tells the end, and taken where it does not', async (t) => {
  const request = invoiceRequest({}, { callbackUrl: 'https://example.com:8443/hook?a=1#b' })
  const answer = await validate(request)
  has(t, answer, { status: 200, body: { result: 'warning', warnings: [{ path: '/callbackUrl', code: 'unused_field' }] } })
  has(t, await service.send('POST', '/api/invoicing/validate?async=true', { body: request }), { status: 200, body: { result: 'success' } })
  t.equal((await dispatch(request)).status, 200)
})

await t.test('what an e-invoice misses is a 422 by the ids of the rules, wherever it is asked for', async (t) => {
  for (const fields of [{ documentType: 'E_INVOICE' }, { documentType: undefined, invoicing: { documentType: 'E_INVOICE' } }]) {
    const answer = await dispatch(invoiceRequest({}, fields))
    t.equal(answer.status, 422)
    t.equal(answer.body.error, 'validation_failed')
    t.ok(
      ['BR-06 /template/data/seller/name', 'BR-09 /template/data/seller/country'].every((rule) =>
        reported(answer).includes(rule.split(' ').reverse().join(' '))
      ),
      reported(answer).join('; ')
    )
  }
})

await t.test('all 422 problems are told together', async (t) => {
  const answer = await validate(invoiceRequest({ total: 1, dueDate: '2026-03-13', customer: { email: 'nobody' }, bankDetails: 'none' }, {
    documentType: 'E_INVOICE',
    callbackUrl: 'https://example.com',
    settings: { includePaymentLink: true, paymentCollectionLabel: '' }
  }))
  t.equal(answer.status, 422)
  t.equal(answer.body.error, 'validation_failed')
  t.same(reported(answer).filter((problem) => !problem.includes(' BR-')).sort(), [
    '/settings/includePaymentLink unknown_field',
    '/settings/paymentCollectionLabel too_short',
    '/template/data/bankDetails type',
    '/template/data/customer/email format',
    '/template/data/customer/name required'
  ])
  t.ok(reported(answer).includes('/template/data/total BR-CO-15'), 'the rules of e-invoices are among them')
})

await t.test('data that does not fit the template\'s schema is a 422 with pointers into the data', async (t) => {
  const answer = await validate(invoiceRequest({ number: 7, lines: [{ description: '', quantity: 'two', unitPrice: 1, total: 1 }] }))
  t.equal(answer.status, 422)
  t.ok(reported(answer).includes('/template/data/number type'))
  t.ok(reported(answer).includes('/template/data/lines/0/description too_short'))
})

await t.test('the order is: permission, then shape, then template, then rules', async (t) => {
  const { member } = await service.company('order', { services: [] })
  const wrongEverything = { ...invoiceRequest({ total: 1 }), template: { id: 999, data: { total: 'x' } }, documentType: 'E_INVOICE' }
  const asMember = (body: unknown): Promise<Answer> => service.send('POST', '/api/invoicing', { body }, member)
  const refused = await asMember({ ...wrongEverything, documentType: 'NONE' })
  has(t, refused, { status: 403, body: { error: 'forbidden' } })
  t.notOk('details' in refused.body, 'the shape is told to nobody who may not ask')
  has(t, await dispatch({ ...wrongEverything, documentType: 'NONE' }), { status: 400 })
  const noTemplate = await dispatch(wrongEverything)
  has(t, noTemplate, { status: 404, body: { error: 'template_not_found' } })
  t.notOk('details' in noTemplate.body)
  has(t, await dispatch({ ...wrongEverything, template: { id: 1, data: {} } }), { status: 422, body: { error: 'validation_failed' } })
})

await t.test('nothing that was refused has left a dispatch or cost a credit', async (t) => {
  const { body: { balance, held } } = await service.send('GET', '/api/v1/credits')
  const { body: { data } } = await service.send('GET', '/api/v1/dispatches?limit=100')
  t.equal(held, 0)
  t.equal(balance, 100 - data.length)
  t.ok(data.every((dispatch: { status: string }) => dispatch.status === 'succeeded'))
})

await t.test('settings of the request are checked by the form of the chosen provider', async (t) => {
  t.equal(
    (await validate(
      invoiceRequest({}, {
        settings: { includePaymentCollectionLink: true, paymentCollectionBeneficiaryName: 'Ada', paymentCollectionLabel: 'F-1' }
      })
    )).status,
    200
  )
  const answer = await validate(
    invoiceRequest({}, { settings: { includePaymentCollectionLink: 'yes', paymentCollectionBeneficaryName: 'Ada' } })
  )
  t.equal(answer.status, 422)
  t.same(reported(answer).sort(), ['/settings/includePaymentCollectionLink type',
    '/settings/paymentCollectionBeneficaryName unknown_field'])
  contains(t, JSON.stringify(answer.body.details), /did you mean \\"paymentCollectionBeneficiaryName\\"/)
})

await t.test('an unknown query parameter is a 400 with the nearest name, on every route but the public ones', async (t) => {
  for (const [method, path] of [
    ['POST', '/api/invoicing'],
    ['POST', '/api/invoicing/validate'],
    ['POST', '/api/invoicing/email'],
    [
      'POST',
      '/api/v1/dispatches/0190a5c2-0000-7000-8000-000000000000/retry'
    ]
  ] as const) {
    const answer = await service.send(method, `${path}?asnyc=true`, { body: invoiceRequest() })
    t.equal(answer.status, 400, path)
    t.same(reported(answer), ['/query/asnyc unknown_field'], path)
    t.equal(answer.body.details[0].message, 'Unknown field "asnyc" (did you mean "async"?).', path)
  }
  for (const path of ['/api/v1/my/config', '/api/v1/dispatches', '/healthz', '/api/v1/providers']) {
    t.same(reported(await service.send('GET', `${path}?fresh=1`)), ['/query/fresh unknown_field'], path)
  }
  t.equal((await service.send('GET', '/livez?at=1')).status, 204)
  t.equal((await service.send('POST', '/api/webhooks/esign/providers/simulator/endpoint.json?utm=1', { body: {} })).status, 200)
})

await t.test('"async" is true or false: anything else is a 400 wherever it can stand, and nothing is dispatched', async (t) => {
  const before = (await service.send('GET', '/api/v1/credits')).body.balance
  for (const query of ['async', 'async=', 'async=1', 'async=yes', 'async=TRUE', 'async=true&async=false']) {
    for (const path of [
      '/api/invoicing',
      '/api/invoicing/validate',
      '/api/invoicing/email',
      '/api/invoicing/email/validate',
      '/api/upload'
    ]) {
      const answer = await service.send('POST', `${path}?${query}`, { body: invoiceRequest() })
      t.equal(answer.status, 400, `${path} ${query}`)
      t.same(reported(answer), ['/query/async type'], `${path} ${query}`)
    }
  }
  t.equal((await service.send('POST', '/api/invoicing?async=false', { body: invoiceRequest() })).status, 200)
  contains(t, (await service.send('POST', '/api/invoicing?async=1', { body: invoiceRequest() })).body.details[0].message,
    /^Expected true or false/)
  t.equal((await service.send('GET', '/api/v1/credits')).body.balance, before - 1)
})
