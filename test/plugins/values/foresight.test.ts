import fc from 'fast-check'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { contains, has } from '../../support/matching.ts'
import { readingOf } from '../../support/reading.ts'
import { type Answer, startService } from '../../support/service.ts'
import { accepts, testProviders } from '../support/providers.ts'

const providers = await testProviders(t)
await providers.add('short', { of: 'sms', service: 'maxSegments: 2, idempotency: { kind: \'none\' }' }, accepts)
await providers.add('thin', { of: 'postal', service: 'maxPages: 1, idempotency: { kind: \'none\' }' }, accepts)
await providers.add('light', { of: 'email', service: 'maxSize: 20000, idempotency: { kind: \'none\' }' }, accepts)
const service = await startService(t, { config: { providerDirectories: providers.directories } })
for (const code of ['short', 'thin', 'light']) await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
const { outbox } = readingOf(service)

const ownYaml = `name: Own
service: file
locale: en-GB
header: [{ paragraph: "{{ head | default: '' }}" }]
body:
  - address: { window: din-5008-b, sender: "{{ head | default: '' }}", text: "{{ street | default: '' }}", beside: [{ paragraph: x }] }
  - if: logo
    then: [{ image: { value: logo, height: 10, alt: x } }]
  - paragraph: "{{ text }}"
`
const text = { type: 'string' }
const own = await service.send('POST', '/api/v1/templates', {
  body: {
    source: ownYaml,
    schema: { type: 'object', required: ['text'], properties: { head: text, street: text, text, logo: text } },
    sample: { head: 'Head', street: 'Street', text: 'Text' }
  }
})
if (own.status !== 201) throw new Error(JSON.stringify(own.body))
await service.send('POST', `/api/v1/templates/${own.body.id}/publish`, { body: { version: 1 } })

const sampleOf = async (folder: string): Promise<Record<string, any>> =>
  JSON.parse(await readFile(new URL(`../../../templates/${folder}/sample.json`, import.meta.url), 'utf8')) as Record<string, any>
const samples = Object.fromEntries(await Promise.all(
  ['invoice', 'e-invoice', 'postal-letter', 'reminder-letter', 'email-reminder', 'sms-notice', 'service-contract'].map(async (folder) =>
    [folder, await sampleOf(folder)] as const
  )
))
const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
const mail = { from: 'demo@example.com', to: 'ada@example.com', subject: 'Hello' }

/** One request of each kind of content: its path, its body for data, and usual data. */
const kinds: { path: string, body: (data: object) => object, data: Record<string, any> }[] = [
  { path: '/api/file', body: (data) => ({ template: { id: 1, data } }), data: samples['invoice']! },
  {
    path: '/api/invoicing',
    body: (data) => ({ documentType: 'E_INVOICE', template: { id: 4, data }, invoicing: { eInvoiceFormat: 'FACTUR_X' } }),
    data: samples['e-invoice']!
  },
  { path: '/api/postal', body: (data) => ({ template: { id: 30, data }, postal: { recipient } }), data: samples['postal-letter']! },
  {
    path: '/api/postal',
    body: (data) => ({ providerName: 'thin', template: { id: 31, data }, postal: { recipient } }),
    data: samples['reminder-letter']!
  },
  {
    path: '/api/email',
    body: (data) => ({ providerName: 'light', ...mail, template: { id: 11, data } }),
    data: samples['email-reminder']!
  },
  {
    path: '/api/sms',
    body: (data) => ({ providerName: 'short', template: { id: 20, data }, sms: { phoneNumber: '+33612345678' } }),
    data: samples['sms-notice']!
  },
  {
    path: '/api/file',
    body: (data) => ({ template: { id: own.body.id, data } }),
    data: { head: 'Head', street: 'Street', text: 'Text', logo: '' }
  },
  {
    path: '/api/file/email',
    body: (data) => ({ template: { id: 1, data }, email: { providerName: 'light', ...mail, body: 'Here it is.' } }),
    data: samples['invoice']!
  },
  {
    path: '/api/file/postal',
    body: (data) => ({ template: { id: 31, data }, postal: { providerName: 'thin', recipient } }),
    data: samples['reminder-letter']!
  }
]

const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQ9esEAAGAAPXyUV94AAAAAElFTkSuQmCC'
const awkward = fc.oneof(
  fc.constantFrom('王伟', '한국어', 'ข้อมูลทั่วไป', 'हिन्दी', '🍕 Pizza', 'မြန်မာ', 'ܫܠܡܐ', 'x\u0304', '₿', 'a\u0001b', '\ud800', 'ﬁ ㈱ ￥', png,
    png.slice(0, 60), 'x'.repeat(2000), 'word '.repeat(500), 'word '.repeat(150), 'line\n'.repeat(300), 'É'.repeat(80),
    '"\'<b>{{ x }}</b>'),
  fc.string({ unit: 'grapheme', maxLength: 30 })
)

/** The ways to the texts in data. */
function textsIn (value: unknown, way: string[] = []): string[][] {
  if (typeof value === 'string') return [way]
  return typeof value !== 'object' || value === null ? [] : Object.entries(value).flatMap(([name, part]) => textsIn(part, [...way, name]))
}

function changed (data: Record<string, any>, way: readonly string[], value: string): Record<string, any> {
  const copy = structuredClone(data)
  let at = copy
  for (const name of way.slice(0, -1)) at = at[name]
  at[way.at(-1)!] = value
  return copy
}

const change = fc.record({ where: fc.nat(), value: awkward })
const requests = fc.tuple(fc.nat({ max: kinds.length - 1 }), fc.array(change, { minLength: 1, maxLength: 3 }),
  fc.constantFrom('', '?async=true'))

const faults = ({ body }: Answer): string[] =>
  (body.details ?? []).map(({ path, code }: { path: string, code: string }) => `${path} ${code}`)

await t.test('dispatch refuses what validation does, waited for or not, and nothing else that needs no vendor', async (t) => {
  let count = 0
  await fc.assert(fc.asyncProperty(requests, async ([kind, changes, mode]) => {
    const { path, body, data: usual } = kinds[kind]!
    const data = changes.reduce<Record<string, any>>((data, { where, value }) => {
      const ways = textsIn(data)
      return changed(data, ways[where % ways.length]!, value)
    }, { ...usual, ...'number' in usual ? { number: `F-${count++}` } : {} })
    const request = { body: body(data) }
    const validated = await service.send('POST', `${path}/validate`, request)
    const dispatched = await service.send('POST', path + mode, request)
    // On a machine that is very busy a validation says that it could not check all.
    if (validated.status === 200 && !validated.body.warnings.some(({ code }: { code: string }) => code === 'not_checked')) {
      if (dispatched.status === 422) t.fail(`${path}${mode}: ${JSON.stringify(dispatched.body)} of ${JSON.stringify(changes)}`)
      return dispatched.status !== 422
    }
    return validated.status === 200 || (dispatched.status === validated.status && faults(validated).join() === faults(dispatched).join())
  }), {
    numRuns: 150,
    // The header of a company's own template, of which the samples are short, in the window of an envelope.
    examples: [[[6, [{ where: 0, value: 'x'.repeat(2000) }], '?async=true']]]
  })
})

await t.test('characters without a font are told by validation, and by the answer to an asynchronous dispatch', async (t) => {
  const wide = {
    details: [{ path: '/template/data/customer/name', code: 'unsupported_characters', message: /npm install --ignore-scripts/ }]
  }
  for (const { path, body, data } of kinds.slice(0, 2)) {
    const request = { body: body({ ...data, number: `W-${path}`, customer: { ...data['customer'], name: '王伟' } }) }
    has(t, await service.send('POST', `${path}/validate`, request), { status: 422, body: wide })
    has(t, await service.send('POST', `${path}?async=true`, request), { status: 422, body: wide })
  }
  t.equal((await service.send('GET', '/api/v1/dispatches?status=queued')).body.data.length, 0)
})

await t.test('what only the fields say is foreseen: the recipient on a letter, the name under a signature', async (t) => {
  const { recipient: _, ...letter } = samples['postal-letter']!
  const wide = { status: 422, body: { details: [{ code: 'unsupported_characters', message: /noto-sans-/ }] } }
  const signers = [1, 2, 3].map((place) => ({ email: `s${place}@example.com`, firstName: 'Ada', lastName: place === 3 ? '王' : 'L' }))
  for (const [path, body] of [
    ['/api/postal', { template: { id: 30, data: letter }, postal: { recipient: { ...recipient, name: '王伟' } } }],
    ['/api/esign', { template: { id: 40, data: samples['service-contract'] }, signers }]
  ] as const) {
    for (const way of ['/validate', '', '?async=true']) has(t, await service.send('POST', path + way, { body }), wide, path + way)
  }
})

await t.test('what keeps the document of a chain from being made is told once, where its data stand', async (t) => {
  const data = { ...samples['postal-letter']!, subject: '王伟' }
  for (const given of [{ fileContent: { templateName: 'Letter', data } }, { template: { id: 30, data } }]) {
    for (const way of ['/validate', '', '?async=true']) {
      const { status, body } = await service.send('POST', `/api/file/email${way}`, { body: { ...given, email: { ...mail, body: 'x' } } })
      t.same({ status, places: body.details.map(({ path }: { path: string }) => path) }, {
        status: 422,
        places: [`/${Object.keys(given).join()}/data/subject`]
      })
    }
  }
})

await t.test('a text that becomes too long is refused before it is recorded, also where nobody waits for it', async (t) => {
  const recorded = async (): Promise<unknown> => (await service.send('GET', '/api/v1/dispatches?limit=1')).body.data[0]?.dispatchId
  const { path, body, data } = kinds.find(({ path }) => path === '/api/sms')!
  const before = await recorded()
  const long = { body: body({ ...data, message: 'word '.repeat(150) }) }
  for (const way of ['/validate', '?async=true']) {
    has(t, await service.send('POST', path + way, long), { status: 422, body: { details: [{ code: 'not_supported_by_provider' }] } }, way)
  }
  t.equal(await recorded(), before)
})

await t.test('what is made for a validation is not kept', async (t) => {
  const state = async (): Promise<unknown> => [
    await readdir(join(service.app.get('config').dataDirectory, 'files'), { recursive: true }),
    (await service.send('GET', '/api/v1/dispatches?limit=1')).body.data[0]?.dispatchId,
    (await service.send('GET', '/api/v1/credits')).body
  ]
  const before = await state()
  const { path, body, data } = kinds[0]!
  t.equal((await service.send('POST', `${path}/validate`, { body: body({ ...data, number: '🍕' }) })).status, 200)
  t.equal((await service.send('POST', `${path}/validate`, { body: body({ ...data, number: '王伟' }) })).status, 422)
  t.same(await state(), before)
})

await t.test('emoji, Thai and Hindi are invoiced as they are', async (t) => {
  const invoice = kinds[1]!
  const lines = invoice.data['lines'].map((line: object) => ({ ...line, description: 'Café ☕ 🧾 ข้อมูล हिन्दी ₿' }))
  const body = invoice.body({ ...invoice.data, number: 'EMO-1', lines })
  has(t, await service.send('POST', '/api/invoicing/validate', { body }), { status: 200 })
  has(t, await service.send('POST', '/api/invoicing', { body }), { status: 200 })
})

await t.test('validation counts the text of a template', async (t) => {
  const { path, body, data } = kinds.find(({ path }) => path === '/api/sms')!
  const request = body(data)
  const { body: { plan: [step] } } = await service.send('POST', `${path}/validate`, { body: { ...request, providerName: 'simulator' } })
  const { status } = await service.send('POST', path, { body: { ...request, providerName: 'simulator' } })
  t.equal(status, 200)
  const { sms } = (await outbox()).at(-1)
  has(t, step, { text: { encoding: sms.encoding, segments: sms.segments } })
  contains(t, sms.message, /./)
})

await t.test('the answer to a dispatch warns as validation does: of a misspelt field, whether the client waits or not', async (t) => {
  const { path, body, data } = kinds[0]!
  const later = { ...data, number: 'W-1', dueDate: '2099-01-01' }
  const request = { body: body({ ...later, custmer: { name: 'Ada' } }) }
  const warnings = [{ path: '/template/data/custmer', code: 'unused_field' }]
  has(t, await service.send('POST', `${path}/validate`, request), { status: 200, body: { warnings } })
  for (const query of ['', '?async=true']) {
    has(t, (await service.send('POST', path + query, request)).body, { success: true, warnings })
  }
  const plain = await service.send('POST', path, { body: body(later) })
  t.equal(plain.status, 200)
  t.notOk('warnings' in plain.body)
})
