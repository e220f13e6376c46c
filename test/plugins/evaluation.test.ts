import { readFile } from 'node:fs/promises'
import t from 'tap'
import { has } from '../support/matching.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'

const { send } = await startService(t)

/** A published template of the company; unless told, its schema asks for nothing. */
async function own (source: string, sample: object, schema: object = { type: 'object' }): Promise<number> {
  const created = await send('POST', '/api/v1/templates', { body: { source, schema, sample } })
  const published = await send('POST', `/api/v1/templates/${created.body.id}/publish`, { body: { version: 1 } })
  if (published.status !== 200) throw new Error(JSON.stringify(created.body))
  return created.body.id
}

const problems = ({ body: { details = [] } }: Answer): string[] =>
  details.map(({ path, code }: { path: string, code: string }) => `${path} ${code}`)
const field = (data: unknown, path: string): unknown => path.split('/').slice(1).reduce<any>((value, name) => value?.[name], data)

await t.test('what a dispatch would find missing when it puts the data into a company\'s own template, a validation finds: ' +
  'at a place that exists', async (t) => {
  const id = await own(`name: Note
service: file
locale: en
body:
  - if: strict
    then: [{ paragraph: "{{ note }} {{ sender.name }}" }]
  - each: lines
    as: line
    do: [{ paragraph: "{{ line.reason | default: line.code }}" }, { button: { text: Pay, url: line.url } }]
`, { strict: false, lines: [] }, {
    type: 'object',
    properties: {
      strict: {},
      note: {},
      sender: { properties: { name: {} } },
      lines: { items: { properties: { reason: {}, code: {}, url: {} } } }
    }
  })
  const cases: [data: object, problem: string, at: string][] = [
    [{ strict: true, sender: { name: 'Ada' } }, '/template/data/note missing_value', '/template/data'],
    [{ strict: true, note: 'x', sender: {} }, '/template/data/sender/name missing_value', '/template/data/sender'],
    [{ lines: [{ reason: 'x' }, {}] }, '/template/data/lines/1/code missing_value', '/template/data/lines/1'],
    [{ lines: 'none' }, '/template/data/lines not_a_list', '/template/data/lines'],
    [{ lines: [{ reason: 'x', url: 'javascript:x' }] }, '/template/data/lines/0/url bad_link', '/template/data/lines/0/url']
  ]
  for (const [data, problem, at] of cases) {
    const body = { template: { id, data } }
    const [validated, dispatched] = [await send('POST', '/api/file/validate', { body }), await send('POST', '/api/file', { body })]
    t.equal(validated.status, 422, problem)
    t.strictSame(problems(validated), [problem])
    has(t, validated.body, { result: 'error', error: 'validation_failed' })
    t.strictSame([dispatched.status, problems(dispatched)], [422, [problem]])
    t.notOk(dispatched.body.dispatchId, 'nothing was recorded')
    t.not(field(body, at), undefined, `${at} is there`)
  }
  has(t, await send('POST', '/api/file/validate', { body: { template: { id, data: { strict: false, lines: [{ reason: 'x' }] } } } }), {
    status: 200
  })
})

await t.test('the place is that of the step whose template it is', async (t) => {
  const id = await own(
    'name: Text\nservice: sms\nlocale: en\nbody: [{ if: long, then: [{ paragraph: "{{ words }}" }], else: [{ paragraph: Hi }] }]\n',
    {}
  )
  const sms = { phoneNumber: '+33612345678', template: { id, data: { long: true } } }
  t.strictSame(problems(await send('POST', '/api/invoicing/sms/validate', { body: { ...invoiceRequest(), sms } })), [
    '/sms/template/data/words missing_value'
  ])
})

await t.test('an e-invoice that is XML alone has no page to put data into', async (t) => {
  const { total, ...data } = await eInvoice()
  const yaml =
    'name: Own e-invoice\nservice: invoicing\ndocumentType: E_INVOICE\nvocabulary: invoice\nlocale: en\nbody: [{ paragraph: "{{ ' +
    'total | money }} {{ hint }}" }]\n'
  const id = await own(yaml, { ...data, total, hint: 'x' }, { $ref: 'dispatch:invoice', properties: { hint: {} } })
  t.ok(total)
  const validate = (eInvoiceFormat: string, more: object = {}): Promise<Answer> =>
    send('POST', '/api/invoicing/validate', {
      body: { documentType: 'E_INVOICE', invoicing: { eInvoiceFormat }, template: { id, data: { ...data, ...more } } }
    })
  t.strictSame(problems(await validate('FACTUR_X')), ['/template/data/hint missing_value'])
  has(t, await validate('FACTUR_X', { hint: 'the sums are computed' }), { status: 200 })
  for (const format of ['UBL', 'CII']) has(t, await validate(format), { status: 200 }, format)
})

async function eInvoice (): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(new URL('../../templates/e-invoice/sample.json', import.meta.url), 'utf8'))
}

const ada = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }
const grace = { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }

await t.test('a template that has a place for more signers than the request names is refused, at once ' +
  'too where nobody waits', async (t) => {
  const sample = JSON.parse(await readFile(new URL('../../templates/service-contract/sample.json', import.meta.url), 'utf8'))
  const shared = { template: { id: 40, data: sample }, signers: [ada] }
  for (const path of ['esign/validate', 'esign', 'esign?async=true']) {
    const answer = await send('POST', `/api/${path}`, { body: shared })
    t.equal(answer.status, 422, path)
    t.strictSame(problems(answer), ['/signers too_few_signers'], path)
    has(t, answer.body, {
      error: 'validation_failed',
      details: [{ message: 'With these data, the template has a place for signer 2 to sign; the request has 1 signer.' }]
    })
  }
  t.strictSame(problems(await send('POST', '/api/file/esign/validate', { body: { template: shared.template, esign: { signers: [ada] } } })),
    ['/esign/signers too_few_signers'])
  has(t, await send('POST', '/api/esign/validate', { body: { ...shared, signers: [ada, grace] } }), { status: 200 })
})

await t.test('how many sign is counted with the data: conditions and loops have their say', async (t) => {
  const id = await own(`name: Deed
service: esign
locale: en
body:
  - signature: { signer: 1 }
  - if: witness
    then: [{ group: [{ columns: { items: [{ do: [{ signature: { signer: 2 } }] }] } }] }]
  - each: guarantors
    as: guarantor
    do: [{ paragraph: "{{ guarantor }}" }, { signature: { signer: 3 } }]
`, {})
  const validate = (data: object, signers: object[]): Promise<Answer> =>
    send('POST', '/api/esign/validate', { body: { template: { id, data }, esign: { signers } } })
  has(t, await validate({}, [ada]), { status: 200 })
  t.strictSame(problems(await validate({ witness: true }, [ada])), ['/esign/signers too_few_signers'])
  has(t, await validate({ witness: true }, [ada, grace]), { status: 200 })
  t.strictSame(problems(await validate({ guarantors: ['Cy'] }, [ada, grace])), ['/esign/signers too_few_signers'])
  has(t, await validate({ guarantors: [] }, [ada]), { status: 200 })
})
