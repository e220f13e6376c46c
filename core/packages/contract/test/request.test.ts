import t from 'tap'
import { type TObject, Type } from 'typebox'
import { judge, judgeRequest, template } from '../../../../test/core/pipeline/support.ts'
import { has } from '../../../../test/support/matching.ts'
import type { ProviderDefinition } from '../../host/manifest/definition.ts'
import { deriveManifest } from '../../host/manifest/derive.ts'
import { needsProvider, providedNames, services } from '../../services/lists.ts'
import { type ProvidedName, type ServiceContracts, serviceNames } from '../../services/names.ts'
import { requestSchema } from '../request/request-schema.ts'
import { createRequestReader } from '../request/request.ts'

/** A body of each service that is read from JSON, with what it cannot do without. */
const bodies = {
  invoicing: { template, documentType: 'INVOICE' },
  esign: { template, signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }] },
  postal: { template, postal: { recipient: { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' } } },
  sms: { sms: { phoneNumber: '+33612345678', message: 'Hello' } },
  email: { template, from: 'demo@example.com', to: ['ada@example.org'], subject: 'Hello' },
  file: { template },
  upload: {}
} as const
const named = Object.keys(bodies) as (keyof typeof bodies)[]
/** What of it stands in the object of the service. */
const fields: Partial<Record<string, object>> = { postal: bodies.postal.postal, sms: bodies.sms.sms }

await t.test('there are seven services, and only a file needs no provider', (t) => {
  t.same(serviceNames, ['invoicing', 'esign', 'postal', 'sms', 'email', 'file', 'upload'])
  t.same(providedNames, serviceNames.filter((name) => name !== 'file'))
  t.end()
})

for (const name of named) {
  await t.test(`${name}: a body with what it cannot do without is a plan`, (t) => {
    const { plan, problems } = judge(name, bodies[name])
    t.same(problems, [])
    has(t, plan?.steps, [{ service: name, price: services[name].price }])
    t.equal(plan?.steps[0]?.by?.code, needsProvider(name) ? 'acme' : undefined)
    t.end()
  })

  await t.test(`${name}: unknown fields are refused wherever they stand, with the nearest known name`, (t) => {
    has(t, judge(name, { ...bodies[name], metadatas: {} }).details, [{
      path: '/metadatas',
      message: 'Unknown field "metadatas" (did you mean "metadata"?).'
    }])
    has(t, judge(name, { ...bodies[name], [name]: { ...fields[name], unheard: 1 } }), {
      word: 'validation_error',
      problems: [`/${name}/unheard unknown_field`]
    })
    t.end()
  })

  await t.test(`${name}: the object of another service is refused`, (t) => {
    const other = name === 'sms' ? 'postal' : 'sms'
    has(t, judge(name, { ...bodies[name], [other]: {} }), { word: 'validation_error', problems: [`/${other} unknown_field`] })
    t.end()
  })

  await t.test(`${name}: a body that is no object is refused`, (t) => {
    for (const body of [null, [], 'text', 7]) has(t, judge(name, body), { word: 'validation_error' })
    t.end()
  })
}

await t.test('a template is required where nothing can take its place, and refused where there is none', (t) => {
  for (const name of ['invoicing', 'esign', 'postal'] as const) {
    const { template: _, ...rest } = bodies[name]
    has(t, judge(name, rest), { word: 'validation_error', problems: ['/template required'] }, name)
    // A letter and an envelope may have a document in its place.
    t.equal([requestSchema([name]).required].flat().includes('template'), name === 'invoicing', name)
  }
  has(t, judge('upload', { template }), { word: 'validation_error', problems: ['/template unknown_field'] })
  t.end()
})

await t.test('all problems of the shape are told together', (t) => {
  t.same(judge('sms', { providerName: 'ACME', metadata: { a: 1 }, sms: { phoneNumber: '0', sender: '!' } }).problems, [
    '/providerName pattern',
    '/metadata/a type',
    '/sms/phoneNumber pattern',
    '/sms/sender pattern',
    '/template required'
  ])
  t.end()
})

await t.test('an e-mail\'s fields are lifted only where the e-mail is all there is', (t) => {
  const read = createRequestReader(['file', 'email'])
  const { from, to, subject } = bodies.email
  t.same(read({ template, email: { from, to, subject, body: 'Hello' } }).steps[1]?.fields, { from, to, subject, body: 'Hello' })
  has(t, judgeRequest(() => read({ template, from, to, subject })), {
    word: 'validation_error',
    problems: ['/from unknown_field', '/to unknown_field', '/subject unknown_field', '/email/from required', '/email/to required',
      '/email/subject required', '/email/template required']
  })
  t.end()
})

await t.test('a provider cannot offer what needs none', (t) => {
  const services: ProviderDefinition<TObject, TObject>['services'] = {
    // @ts-expect-error file is done without a provider
    file: { idempotency: { kind: 'none' }, dispatch: () => Promise.resolve({ id: '1', status: 'sent' }) }
  }
  has(t, deriveManifest({ code: 'acme', name: 'Acme', settings: Type.Object({}), services }, '1.0.0'), {
    ok: false,
    problems: [{ path: '/services/file', code: 'unknown_field' }]
  })
  t.end()
})

await t.test('what each service asks of its provider is what its contract says', (t) => {
  // Compiles only while it holds: the pipeline needs no switch over services.
  const ask = (
    name: ProvidedName,
    ...given: Parameters<typeof services[ProvidedName]['request']>
  ): ServiceContracts[ProvidedName]['dispatch'] => services[name].request(...given)
  t.same(ask('sms', { phoneNumber: '+33612345678' }, { data: {}, metadata: {}, text: 'Hello' }), {
    sms: { phoneNumber: '+33612345678', message: 'Hello', encoding: 'GSM-7', segments: 1 },
    metadata: {}
  })
  t.end()
})
