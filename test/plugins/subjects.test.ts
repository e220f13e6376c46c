import t from 'tap'
import { until } from '../core/work/support.ts'
import { contains, has } from '../support/matching.ts'
import { readingOf } from '../support/reading.ts'
import { admin, type Answer, invoiceRequest, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const service = await startService(t)
const { outbox, dispatch: read } = readingOf(service)
const { open, signIn } = openConsole(service)

const yaml = `name: Order
service: email
locale: "{{ language | default: 'en' }}"
subject: "{{ t.subject }}"
texts:
  en: { subject: 'Your **order** {{ number }}, {{ name }}' }
  fr: { subject: 'Votre commande {{ number }}, {{ name }}' }
body:
  - paragraph: "{{ subject | default: 'No subject' }}"
`
const text = { type: 'string' }
const schema = { type: 'object', required: ['number'], properties: { number: text, name: text, language: text, subject: text } }
const sample = { number: '7', name: 'Ada' }
const order = { source: yaml, schema, sample }

/** A published template of the company. */
async function published (template: object): Promise<number> {
  const { body } = await service.send('POST', '/api/v1/templates', { body: template })
  if (body.id === undefined) throw new Error(JSON.stringify(body))
  await service.send('POST', `/api/v1/templates/${String(body.id)}/publish`, { body: { version: 1 } })
  return body.id
}

const [own, untitled] = [await published(order),
  await published({ ...order, source: yaml.replace('Order', 'Untitled').replace(/^subject.*\n/m, '') })]
const mail = { from: 'demo@example.com', to: ['ada@example.com'] }
const templateOf = (data: object = {}, id = own): object => ({ id, data: { ...sample, ...data } })
const post = (path: string, body: object, version = '1.1.0'): Promise<Answer> =>
  service.send('POST', path, { body, headers: { 'x-api-version': version } })
const lastSubject = async (): Promise<string> => (await outbox()).at(-1).email.subject

await t.test('an e-mail without a subject takes that of its template, in the language of the data', async (t) => {
  for (const [data, subject] of [
    [{}, 'Your order 7, Ada'],
    [{ language: 'fr' }, 'Votre commande 7, Ada'],
    [{ name: '**Ada** {{ number }}' }, 'Your order 7, **Ada** {{ number }}'],
    [{ name: ' Ada\r\nBcc: eve@example.com\n\n\u0007Lovelace\u2028 ' }, 'Your order 7,  Ada Bcc: eve@example.com \ufffdLovelace']
  ] as const) {
    for (const body of [{ ...mail, template: templateOf(data) }, { email: mail, template: templateOf(data) }]) {
      has(t, await post('/api/email', body), { status: 200 })
      t.equal(await lastSubject(), subject)
    }
  }
})

await t.test('the shared templates of e-mails have one', async (t) => {
  const { body: { sample: data } } = await service.send('GET', '/api/v1/templates/10')
  has(t, await post('/api/email', { ...mail, template: { id: 10, data: { ...data, language: 'de' } } }), { status: 200 })
  contains(t, await lastSubject(), /^Rechnung .* von /)
})

await t.test('the subject of the request comes first, also where the template could make none', async (t) => {
  const body = { ...mail, subject: 'Mine', template: templateOf({ name: undefined }) }
  for (const version of ['1.0.1', '1.1.0']) {
    has(t, await post('/api/email', body, version), { status: 200 })
    t.equal(await lastSubject(), 'Mine')
  }
})

await t.test('where neither has one, and in 1.0.1, it is required as before', async (t) => {
  const message = 'The field "subject" is required (here or in "email"), or "subject" in the data of a template that has it.'
  const required = { status: 400, body: { error: 'validation_error', details: [{ path: '/subject', code: 'required', message }] } }
  const body = { email: mail, template: templateOf() }
  const refused = await post('/api/email', body, '1.0.1')
  has(t, refused, required)
  t.strictSame((await post('/api/email', { ...body, template: templateOf({}, untitled) })).body.details, refused.body.details)
  has(t, await post('/api/email', { email: { ...mail, body: 'Hi' } }), required)
  for (const at of ['/api/email', '/api/email/validate']) {
    has(t, await post(at, { email: { ...mail, to: 7 }, template: templateOf() }, '1.0.1'), {
      status: 400,
      body: { details: [{ path: '/email/to' }, { path: '/subject', code: 'required' }] }
    })
  }
})

await t.test('the data\'s own subject stays that of a template without one, and is a field like any other where it has one', async (t) => {
  const data = { subject: 'Of the data' }
  for (const [version, id, subject] of [
    ['1.0.1', untitled, 'Of the data'],
    ['1.1.0', untitled, 'Of the data'],
    ['1.0.1', own, 'Of the data'],
    ['1.1.0', own, 'Your order 7, Ada']
  ] as const) {
    has(t, await post('/api/email', { ...mail, template: templateOf(data, id) }, version), { status: 200 }, `${version} ${id}`)
    t.equal(await lastSubject(), subject)
  }
  has(t, await post('/api/email', { ...mail, subject: 'Another', template: templateOf(data) }), {
    status: 422,
    body: { details: [{ code: 'contradiction' }, { code: 'contradiction' }] }
  })
})

await t.test('a subject that cannot be made is refused at its place in the data, by a validation too', async (t) => {
  for (const [data, path, code] of [
    [{ name: undefined }, '/template/data/name', 'missing_value'],
    [{ name: 'a'.repeat(500) }, '/template/data', 'too_long'],
    [{ name: 7 }, '/template/data/name', 'type']
  ] as const) {
    for (const at of ['/api/email', '/api/email/validate', '/api/email?async=true']) {
      has(t, await post(at, { ...mail, template: templateOf(data) }), {
        status: 422,
        body: { error: 'validation_failed', details: [{ path, code }] }
      }, `${at} ${code}`)
    }
  }
  has(t, await post('/api/email/validate', { ...mail, template: templateOf() }), { status: 200, body: { result: 'success' } })
  const blank = await published({ ...order, source: yaml.replace('Order', 'Blank').replace('{{ t.subject }}', '{{ name }}') })
  has(t, await post('/api/email/validate', { ...mail, template: templateOf({ name: ' \n ' }, blank) }), {
    status: 422,
    body: { details: [{ path: '/template/data', code: 'too_short' }] }
  })
})

await t.test('it is made for every way of sending: dry runs, queues, chains, deferred steps and retries', async (t) => {
  const settings = { host: 'mail.vendor.example', user: 'me', password: 'secret', allowedSenders: [mail.from] }
  await service.send('PUT', '/api/v1/company/providers/smtp', { body: { settings } })
  has(t, await post('/api/v1/company/providers/smtp/dry-run', { ...mail, template: templateOf() }), {
    status: 200,
    body: { requests: [{ method: 'SMTP', headers: { subject: 'Your order 7, Ada' } }] }
  })

  const queued = await post('/api/email?async=true', { ...mail, template: templateOf({ number: '8' }) })
  await until('it is sent', async () => (await read(queued.body.dispatchId)).status === 'succeeded')
  t.equal(await lastSubject(), 'Your order 8, Ada')

  const { template } = invoiceRequest()
  has(t, await post('/api/file/email', { template, email: { ...mail, template: templateOf({ number: '9' }) } }), { status: 200 })
  t.equal(await lastSubject(), 'Your order 9, Ada')

  const deferred = { on: 'esign.completed', service: 'email', ...mail }
  const signers = [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }]
  const signing = (id: number): object => ({ template, signers, deferred: [{ ...deferred, template: templateOf({ number: '10' }, id) }] })
  has(t, await post('/api/esign', signing(untitled)), {
    status: 400,
    body: { details: [{ path: '/deferred/0/subject', code: 'required' }] }
  })
  const { body: { dispatchId } } = await post('/api/esign', signing(own))
  await service.send('POST', '/api/v1/simulator/events', { body: { dispatchId, status: 'completed' } })
  await until('it is sent', async () => (await read(dispatchId)).steps.at(-1).status === 'accepted')
  t.equal(await lastSubject(), 'Your order 10, Ada')

  const failed = await post('/api/email', { ...mail, to: ['reject@example.com'], template: templateOf({ number: '11' }) })
  has(t, failed, { status: 422, body: { error: 'provider_error' } })
  const retry = (email: object): Promise<Answer> => post(`/api/v1/dispatches/${String(failed.body.dispatchId)}/retry`, { email })
  has(t, await retry({ to: ['grace@example.com'] }), { status: 400, body: { details: [{ path: '/email/from', code: 'required' }] } })
  has(t, await retry({ ...mail, to: ['grace@example.com'] }), { status: 200 })
  has(t, (await outbox()).at(-1).email, { to: ['grace@example.com'], subject: 'Your order 11, Ada' })
})

await t.test('a retry without a subject is refused where the template makes none', async (t) => {
  const failed = await post('/api/email', { ...mail, to: ['reject@example.com'], subject: 'Mine', template: templateOf({}, untitled) })
  has(t, await post(`/api/v1/dispatches/${String(failed.body.dispatchId)}/retry`, { email: mail }), {
    status: 400,
    body: { error: 'validation_error' }
  })
})

await t.test('a preview tells the subject, and the console shows it above the mail', async (t) => {
  const { headers } = await post(`/api/v1/templates/${own}/preview`, { format: 'TEXT', data: { number: '7', name: '<b>\u00c9lan</b>' } })
  t.equal(decodeURIComponent(headers.get('x-mail-subject') ?? ''), 'Your order 7, <b>\u00c9lan</b>')
  const { body } = await open(`/templates/${own}/preview`, await signIn(admin))
  contains(t, body, '<b>Subject</b>: Your order 7, Ada</p>')
  for (const source of [yaml.replace('{{ t.subject }}', '{{ nobody }}'), yaml.replace('{{ t.subject }}', '{{ name | nothing }}')]) {
    has(t, await service.send('POST', '/api/v1/templates/preview', { body: { ...order, source } }), {
      status: 422,
      body: { details: [{ path: '/source', line: 4 }] }
    })
  }
  has(t, await service.send('POST', '/api/v1/templates', { body: { ...order, sample: { number: '7' } } }), {
    status: 422,
    body: { details: [{ path: '/sample/name', code: 'missing_value' }] }
  })
})
