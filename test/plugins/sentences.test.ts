import t from 'tap'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, operator, startService } from '../support/service.ts'
import { letter } from './support/templates.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const validate = (path: string, body: object): Promise<Answer> => service.send('POST', `/api/${path}/validate`, { body })
const { body: { id: draft } } = await service.send('POST', '/api/v1/templates', { body: letter({ name: 'Reminder' }) })

/** The problems of an answer: where, and what. */
const reported = ({ body }: Answer): string[] =>
  (body.details ?? body.warnings ?? []).map(({ path, message }: Record<string, string>) => `${path} ${message}`)
const email = { email: { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Hello', body: 'Hello' } }

const faults: [what: string, path: string, body: object, place: string, sentence: RegExp][] = [
  [
    'a field of a service at the top',
    'invoicing',
    invoiceRequest({}, { reference: 'A-1' }),
    '/reference',
    /belongs to "\/invoicing\/reference"/
  ],
  [
    'a field of the top in a service',
    'invoicing',
    invoiceRequest({}, { invoicing: { metadata: {} } }),
    '/invoicing/metadata',
    /belongs to "\/metadata"/
  ],
  [
    'a field of another service',
    'invoicing/email',
    invoiceRequest({}, { ...email, invoicing: { subject: 'x' } }),
    '/invoicing/subject',
    /belongs to "\/email\/subject"/
  ],
  [
    'the data of a template at the top',
    'invoicing',
    { documentType: 'INVOICE', template: { id: 1 }, data: {} },
    '/data',
    /belongs to "\/template\/data"/
  ],
  [
    'a service that is not in the path',
    'invoicing',
    invoiceRequest({}, email),
    '/email',
    /not in the path of the request: POST \/api\/invoicing\/email does both/
  ],
  [
    'a service that may not follow',
    'sms',
    { sms: { phoneNumber: '+33612345678', message: 'x' }, invoicing: {} },
    '/invoicing',
    /not in the path of the request\.$/
  ],
  [
    'several addresses in one text',
    'email',
    { ...email.email, to: 'ada@example.com; bob@example.com' },
    '/to',
    /Several addresses are an array of texts/
  ],
  ['a number with a comma', 'invoicing', invoiceRequest({ total: '1080,00' }), '/template/data/total', /decimals follow a point/],
  [
    'a tax rate that was meant as a share',
    'invoicing',
    invoiceRequest({ taxRate: 0.2 }),
    '/template/data/taxAmount',
    /0\.2 is read as 0\.2 %: 20 means 20 %/
  ],
  [
    'the code of a country that is used for another',
    'invoicing',
    invoiceRequest({ customer: { name: 'Ada', country: 'UK' } }),
    '/template/data/customer/country',
    /Did you mean GB\?/
  ],
  [
    'a country in small letters',
    'invoicing',
    invoiceRequest({ customer: { name: 'Ada', country: 'fr' } }),
    '/template/data/customer/country',
    /Did you mean FR\?/
  ]
]

for (const [what, path, body, place, sentence] of faults) {
  await t.test(`${what} is told with what would be right`, async (t) => {
    const found = reported(await validate(path, body)).filter((problem) => problem.startsWith(`${place} `))
    t.equal(found.length, 1)
    contains(t, found[0], sentence)
  })
}

await t.test('an e-invoice says the same of countries and rates', async (t) => {
  const { body: { sample } } = await service.send('GET', '/api/v1/templates/4')
  const invoice = {
    ...sample,
    seller: { ...sample.seller, country: 'UK' },
    lines: sample.lines.map((line: object) => ({ ...line, taxRate: 0.23 }))
  }
  const found = reported(await validate('invoicing', { documentType: 'E_INVOICE', template: { id: 4, data: invoice } }))
  contains(t, found.find((problem) => problem.startsWith('/template/data/seller/country ')), /GB for the United Kingdom/)
  contains(t, found.find((problem) => problem.startsWith('/template/data/taxAmount ')), /20 means 20 %/)
})

await t.test('a tax rate below one is a warning: rates are in percent', async (t) => {
  const answer = await validate('invoicing', invoiceRequest({
    lines: [{ description: 'A', quantity: 1, unitPrice: 1000, total: 1000 }],
    subtotal: 1000,
    taxRate: 0.2,
    taxAmount: 2,
    total: 1002
  }))
  t.equal(answer.body.result, 'warning')
  t.same(reported(answer), ['/template/data/taxRate 0.2 is read as 0.2 %: 20 means 20 %.'])
})

await t.test('a template that cannot be used is told with what to do', async (t) => {
  const message = async (path: string, body: object): Promise<string> => {
    const { status, body: { error, message } } = await validate(path, body)
    t.same([status, error], [404, 'template_not_found'])
    return message as string
  }
  const recipient = { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' }
  t.equal(await message('postal', { template: { id: draft, data: {} }, postal: { recipient } }),
    `The template ${draft} ("Reminder") is a draft: publish it with POST /api/v1/templates/${draft}/publish.`)
  const { body: { id: next } } = await service.send('POST', '/api/v1/templates', { body: letter({ name: 'Second reminder' }) })
  contains(t, await message('postal', { template: { id: next, data: {} }, postal: { recipient } }),
    `The template ${next} ("Second reminder")`)
  contains(t, await message('file', { fileContent: { templateName: 'Reminder', data: {} } }), /is a draft/)
  const { body: { data: [{ name }] } } = await service.send('GET', '/api/v1/templates?limit=1')
  contains(t, await message('file', { fileContent: { templateName: `${name}s`, data: {} } }), `(did you mean "${name}"?)`)
  contains(t, await message('postal', { template: { id: 999_999, data: {} }, postal: { recipient } }), /There is no template 999999: GET/)
})

await t.test('wrong addresses say what is right', async (t) => {
  const answer = await service.send('POST', '/api/v1/invoicing', { body: {} })
  t.same([answer.status, answer.body.message], [
    404,
    'There is no POST /api/v1/invoicing: dispatching is POST /api/invoicing, without "v1".'
  ])
  t.ok(answer.headers.get('x-api-version'), 'and carry the headers of every answer')
  contains(t, (await service.send('POST', '/api/v1/file/email/validate', { body: {} })).body.message,
    /dispatching is POST \/api\/file\/email\/validate, without "v1"/)
  contains(t, (await service.send('GET', '/d/abc', {}, null)).body.message, /There is no document for this link/)
})

await t.test('a disabled company is told so, to whoever has its credentials', async (t) => {
  const { companyId, admin } = await service.company('closed')
  await service.send('PUT', `/api/v1/companies/${companyId}`, { body: { disabled: true } }, operator)
  const { status, body } = await service.send('GET', '/api/v1/my/config', {}, admin)
  t.same([status, body.error], [403, 'forbidden'])
  contains(t, body.message, /company, is disabled/)
})

await t.test('an empty body with a JSON content type is none: only where one is needed it is missed', async (t) => {
  const empty = { body: '', headers: { 'content-type': 'application/json' } }
  t.equal((await service.send('POST', '/api/v1/providers/reload', empty, operator)).status, 200)
  t.equal((await service.send('POST', '/api/v1/company/callback-secret', empty)).status, 200)
  t.equal((await service.send('POST', '/api/sms', empty)).status, 400)
})

await t.test('what is strict refuses what would only be a warning, before anything is done', async (t) => {
  const misspelt = (): object => invoiceRequest({ custmer: 'Ada' })
  const warned = await service.send('POST', '/api/invoicing', { body: misspelt() })
  t.equal(warned.status, 200)
  contains(t, reported(warned).join(), '/template/data/custmer')
  const { body: { data: before } } = await service.send('GET', '/api/v1/dispatches')
  const prefer = { prefer: 'respond-async, handling=strict' }
  for (const [path, headers] of [['invoicing?strict=true', {}], ['invoicing', prefer], ['invoicing/validate?strict=true', {}], [
    'invoicing?async=true&strict=true',
    {}
  ]] as const) {
    const refused = await service.send('POST', `/api/${path}`, { body: misspelt(), headers })
    t.equal(refused.status, 422, path)
    t.equal(refused.body.error, 'validation_failed')
    t.same(reported(refused), reported(warned))
  }
  t.equal((await service.send('GET', '/api/v1/dispatches')).body.data.length, before.length)
  t.equal((await service.send('POST', '/api/invoicing/validate?strict=true', { body: invoiceRequest() })).status, 200)
})

await t.test('a capital in the query, and a slash at the end of a path, are told', async (t) => {
  const { status, body } = await service.send('POST', '/api/invoicing?async=True', { body: invoiceRequest() })
  t.equal(status, 400)
  t.equal(body.details[0].message, 'Expected true or false, got string. Write it in small letters: true.')
  for (const path of ['/api/invoicing/', '/api/v1/templates/']) {
    const answer = await service.send('POST', path, { body: invoiceRequest() })
    t.equal(answer.status, 404)
    contains(t, answer.body.message, `There is no POST ${path}: paths end without a slash, as ${path.slice(0, -1)}.`)
  }
  for (const path of ['/api/v1/templates/', '/api/v1/dispatches/?limit=1', '/api/v1/keys/']) {
    const answer = await service.send(path.includes('keys') ? 'DELETE' : 'GET', path)
    has(t, answer, { status: 404, body: { error: 'not_found', message: / paths end without a slash, as \/api\/v1\/\w+\.$/ } }, path)
  }
})

await t.test('a field that only a later version has is told with that version', async (t) => {
  const body = { ...invoiceRequest(), sendAt: '2099-01-01T10:00:00Z', senddAt: 1 }
  const { status, body: { details } } = await service.send('POST', '/api/invoicing', { body })
  t.equal(status, 400)
  t.same(details.map(({ path, code, message }: Record<string, string>) => `${path} ${code}: ${message}`).sort(), [
    '/sendAt unknown_field: Unknown field "sendAt" in version 1.0.1: with the header "X-API-Version: 1.1.0" it is there.',
    '/senddAt unknown_field: Unknown field "senddAt".'
  ])
  const latest = await service.send('POST', '/api/invoicing/validate', { body, headers: { 'x-api-version': '1.1.0' } })
  t.equal(latest.body.details[0].message, 'Unknown field "senddAt" (did you mean "sendAt"?).')
})
