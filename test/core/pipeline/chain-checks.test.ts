import t from 'tap'
import { linkLength, sampleLink } from '../../../core/packages/accounts/access/document-links.ts'
import type { JsonObject } from '../../../core/packages/common/json.ts'
import { chains } from '../../../core/packages/contract/request/chains.ts'
import { linkToken, withLink } from '../../../core/packages/services/link.ts'
import { needsProvider, services } from '../../../core/packages/services/lists.ts'
import type { ServiceName } from '../../../core/packages/services/names.ts'
import { chainBody, continuations } from '../../support/chains.ts'
import { contains, has } from '../../support/matching.ts'
import { judge, judgeChain, type Judgement, publicUrl, template, type World } from './support.ts'

const judged = (path: readonly ServiceName[], more: Record<string, unknown> = {}, world: World = {}): Judgement =>
  judgeChain(path, chainBody(path, template, more), world)
const own = (name: ServiceName, changes: object): Record<string, unknown> => ({
  [name]: { ...continuations[name]?.[name] as object, ...changes }
})

await t.test('every chain of the table is a plan: a provider where one is needed, a price and what is made for each step', (t) => {
  for (const path of chains) {
    const { plan, problems, warnings } = judged(path)
    t.strictSame([problems, warnings], [[], []], path.join('/'))
    t.strictSame(plan?.steps.map(({ service, price, by, template }) => [service, price, by?.code, template !== undefined]),
      path.map((name, index) => [name, services[name].price, needsProvider(name) ? 'acme' : undefined, index === 0]), path.join('/'))
    t.strictSame(plan?.deferred, [])
  }
  t.end()
})

await t.test('problems of several steps are told together, each in its own place', (t) => {
  const path = ['invoicing', 'postal', 'sms'] as const
  const { word, problems } = judged(path, {
    documentType: 'E_INVOICE',
    settings: { label: 1 },
    postal: {
      recipient: { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '7500', country: 'FR' },
      color: true,
      settings: { lable: 'x' }
    },
    sms: { phoneNumber: '+3361234', template: { id: 2, data: { number: 7 } } }
  }, { schema: { type: 'object', properties: { number: { type: 'string' } } } })
  t.equal(word, 'validation_failed')
  t.strictSame(problems, ['/settings/label type', '/postal/settings/lable unknown_field', '/documentType not_supported',
    '/documentType not_supported_by_provider', '/postal/recipient/postalCode format', '/postal/color not_supported_by_provider',
    '/sms/template/data/number type', '/sms/phoneNumber impossible_number'])
  t.end()
})

await t.test('a provider that is missing is told where the step would name one', (t) => {
  has(t, judged(['invoicing', 'esign', 'sms'], {}, { settings: null }), {
    word: 'configuration_missing',
    problems: [
      '/providerName configuration_missing',
      '/esign/providerName configuration_missing',
      '/sms/providerName configuration_missing'
    ]
  })
  has(t, judged(['file', 'email'], {}, { settings: null }), {
    word: 'configuration_missing',
    problems: ['/providerName configuration_missing']
  })
  t.end()
})

await t.test('an e-mail that may not be sent is an expectation that failed, in a chain too', (t) => {
  has(t, judged(['file', 'email'], own('email', { from: 'other@example.net' })), {
    word: 'expectation_failed',
    problems: ['/email/from sender_not_allowed']
  })
  has(t, judged(['file', 'email'], own('email', { to: [] })), { word: 'expectation_failed', problems: ['/email/to no_recipient'] })
  t.end()
})

await t.test('the provider and a step do not both send the e-mail', (t) => {
  const world = { byService: { invoicing: { sendByEmail: true } } }
  has(t, judged(['invoicing', 'email'], { sendByEmail: true }, world), {
    word: 'validation_failed',
    problems: ['/sendByEmail mailed_twice']
  })
  has(t, judged(['invoicing', 'sms', 'email'], { invoicing: { sendByEmail: true } }, world), {
    problems: ['/invoicing/sendByEmail mailed_twice']
  })
  t.strictSame(judged(['invoicing', 'email'], { sendByEmail: false }, world).problems, [])
  t.strictSame(judged(['invoicing', 'sms'], { sendByEmail: true }, world).problems, [])
  t.end()
})

await t.test('nobody knows where to sign in a document that the provider makes', (t) => {
  const theirs = { byService: { invoicing: { document: 'theirs' } } }
  const { word, problems, details } = judged(['invoicing', 'sms', 'esign'], {}, theirs)
  has(t, { word, problems }, { word: 'validation_failed', problems: ['/esign no_places_to_sign'] })
  contains(t, details[0]?.message, 'The provider "acme" makes the document of "invoicing" itself')
  t.strictSame(judged(['invoicing', 'esign'], {}, { byService: { invoicing: { document: 'ours' } } }).problems, [])
  t.strictSame(judged(['invoicing', 'postal', 'email'], {}, theirs).problems, [], 'it can be posted and attached')
  t.strictSame(judged(['file', 'esign'], {}, theirs).problems, [])
  t.end()
})

await t.test('every link is as long as the sample, with which texts are measured', (t) => {
  t.equal(sampleLink(publicUrl), `${publicUrl}/d/${'0'.repeat(linkLength)}`)
  t.equal(withLink(`a ${linkToken} b ${linkToken}`, 'https://x.example/$&'), 'a https://x.example/$& b https://x.example/$&')
  t.equal(withLink(`a ${linkToken}`, undefined), `a ${linkToken}`)
  t.end()
})

await t.test('a text message is measured with its links', (t) => {
  const { length } = sampleLink(publicUrl)
  const judgeText = (rest: number, links = 1): Judgement =>
    judged(['file', 'sms'], own('sms', { message: 'a'.repeat(rest) + linkToken.repeat(links) }), { byService: { sms: { maxSegments: 1 } } })
  t.strictSame(judgeText(160 - length).problems, [])
  t.strictSame(judgeText(161 - length).problems, ['/sms/message not_supported_by_provider'])
  t.strictSame(judgeText(161 - 2 * length, 2).problems, ['/sms/message not_supported_by_provider'])
  const max = (rest: number): string[] => judged(['file', 'sms'], own('sms', { message: 'a'.repeat(rest) + linkToken })).problems
  t.strictSame(max(1530 - length), [])
  t.strictSame(max(1531 - length), ['/sms/message too_long'])
  t.strictSame(judged(['file', 'sms'], own('sms', { message: 'a'.repeat(4 * 153 - length + 1) + linkToken })).warnings, [
    '/sms/message many_segments'
  ])
  t.end()
})

await t.test('an e-mail is measured with its links', (t) => {
  const { length } = sampleLink(publicUrl)
  const judgeBody = (rest: number): string[] =>
    judged(['file', 'email'], own('email', { body: 'a'.repeat(rest) + linkToken }), { byService: { email: { maxSize: 1000 } } }).problems
  t.strictSame(judgeBody(1000 - length), [])
  t.strictSame(judgeBody(1001 - length), ['/email/body not_supported_by_provider'])
  t.end()
})

await t.test('a link needs a chain: alone there is no document to link to', (t) => {
  has(t, judge('sms', { sms: { phoneNumber: '+33612345678', message: linkToken } }), {
    word: 'validation_failed',
    problems: ['/sms/message no_document']
  })
  has(t, judge('email', { from: 'demo@example.com', to: 'ada@example.com', subject: 'Hi', body: linkToken }), {
    word: 'validation_failed',
    problems: ['/body no_document']
  })
  t.end()
})

await t.test('any other expression in a client\'s text is sent as it is, which is worth a warning', (t) => {
  for (const text of ['Hello {{ name }}', '{{generatedDocument.url}}', `${linkToken} {% if x %}`]) {
    has(t, judged(['file', 'sms'], own('sms', { message: text })), { problems: [], warnings: ['/sms/message static_text'] }, text)
    has(t, judged(['file', 'email'], own('email', { body: text })), { problems: [], warnings: ['/email/body static_text'] }, text)
  }
  t.end()
})

await t.test('what waits for an event of which the provider never tells is refused', (t) => {
  const reported = (statuses: JsonObject, on: string): object => {
    const { problems, details } = judge('esign', chainBody(['esign'], template, { deferred: [{ on, service: 'upload' }] }), {
      byService: { esign: { statuses } }
    })
    return { problems, message: details[0]?.message }
  }
  const open = { sent: 'started', done: 'completed' }
  t.strictSame(reported(open, 'esign.completed'), { problems: [], message: undefined })
  t.strictSame(reported(open, 'esign.viewed'), {
    problems: ['/deferred/0/on not_supported_by_provider'],
    message: 'The provider "acme" never tells of the event "esign.viewed": it tells of started, completed alone.'
  })
  has(t, reported({}, 'esign.completed'), { message: /it tells of nothing that becomes of it/ })
  t.end()
})

await t.test('deferred steps are planned with the others: a provider, a price, and the event', (t) => {
  const deferred = [
    { on: 'esign.completed', service: 'upload' },
    {
      on: 'esign.declined',
      service: 'email',
      from: 'demo@example.com',
      to: 'ada@example.com',
      subject: 'Declined',
      template: { id: 2, data: {} }
    },
    { on: 'esign.completed', service: 'sms', phoneNumber: '+33612345678', message: linkToken }
  ]
  const { plan } = judge('esign', chainBody(['esign'], template, { deferred }), { prices: { upload: 2 } })
  has(t, plan?.steps, [{ service: 'esign' }])
  has(t, plan?.deferred, [
    { service: 'upload', deferredOn: 'esign.completed', price: 2, by: { code: 'acme' } },
    { service: 'email', deferredOn: 'esign.declined', price: 0, template: { data: {} } },
    { service: 'sms', deferredOn: 'esign.completed', fields: { message: linkToken } }
  ])
  t.end()
})

await t.test('what takes over the signed document needs a provider that hands it out', (t) => {
  const judgeDeferred = (...deferred: object[]): Judgement =>
    judge('esign', chainBody(['esign'], template, { deferred }), { byService: { esign: { document: 'ours' } } })
  const email = { service: 'email', from: 'demo@example.com', to: 'ada@example.com', subject: 'Signed', body: 'Hi' }
  const sms = { service: 'sms', phoneNumber: '+33612345678' }
  const waits = (step: object, on = 'esign.completed'): object => ({ on, ...step })
  has(t,
    judgeDeferred(waits({ service: 'upload' }), waits(email), waits({ ...sms, message: linkToken }),
      waits({ ...email, attachGenerated: false, body: linkToken })), {
    word: 'validation_failed',
    problems: [0, 1, 2, 3].map((index) => `/deferred/${index}/on no_signed_document`),
    details: ['upload', 'email', 'sms', 'email'].map((service) => ({
      message: `"${service}" takes over the signed document on esign.completed, and the provider "acme" hands out none: choose another ` +
        'provider for "esign", or an event on which the document is taken as it was sent, such as esign.signed.'
    }))
  })
  t.strictSame(
    judgeDeferred(waits({ ...email, attachGenerated: false }), waits({ ...sms, message: 'Signed.' }),
      waits({ service: 'upload' }, 'esign.signed'), waits(email, 'esign.declined')).problems,
    []
  )
  t.end()
})

await t.test('nothing is joined with a signed document', (t) => {
  const recipient = { name: 'Ada', address: '1 Road', city: 'Paris', postalCode: '75002', country: 'FR' }
  const documents = [{ fileId: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90' }]
  const judgeOn = (on: string): string[] =>
    judge('esign', chainBody(['esign'], template, { deferred: [{ on, service: 'postal', recipient, documents }] })).problems
  t.strictSame(judgeOn('esign.completed'), ['/deferred/0/documents signed_pdf'])
  t.strictSame(judgeOn('esign.signed'), [])
  t.end()
})

await t.test('what is wrong with a deferred step is told before anything is done', (t) => {
  const judgeDeferred = (entry: object, world?: World): Judgement =>
    judge('esign',
      chainBody(['esign'], template, { deferred: [{ on: 'esign.completed', service: 'upload' }, { on: 'esign.completed', ...entry }] }),
      world)
  const email = { service: 'email', from: 'demo@example.com', to: 'ada@example.com', subject: 'Signed' }
  has(t, judgeDeferred({ service: 'sms', phoneNumber: '+3361234', message: 'Hi' }), {
    word: 'validation_failed',
    problems: ['/deferred/1/phoneNumber impossible_number']
  })
  has(t, judgeDeferred({ ...email, body: 'Hi', from: 'other@example.net' }), {
    word: 'expectation_failed',
    problems: ['/deferred/1/from sender_not_allowed']
  })
  has(t, judgeDeferred({ ...email, template: { id: 1, data: { number: 7 } } }, {
    schema: { type: 'object', properties: { number: { type: 'string' } } }
  }), { problems: ['/deferred/1/template/data/number type'] })
  has(t, judgeDeferred({ service: 'upload', settings: { lable: 'x' } }), { problems: ['/deferred/1/settings/lable unknown_field'] })
  has(t, judgeDeferred({ service: 'upload' }, { settings: null }), {
    word: 'configuration_missing',
    problems: [
      '/providerName configuration_missing',
      '/deferred/0/providerName configuration_missing',
      '/deferred/1/providerName configuration_missing'
    ]
  })
  t.end()
})

await t.test('a document that is signed or posted is a PDF; others may be of any format', (t) => {
  for (const outputFormat of ['DOCX', 'XLSX']) {
    for (const path of [['file', 'esign'], ['file', 'postal', 'email'], ['file', 'email', 'esign']] as const) {
      has(t, judged(path, { file: { outputFormat } }), { word: 'validation_failed', problems: ['/file/outputFormat format_not_taken'] },
        path.join('/'))
    }
    for (const path of [['file', 'email'], ['file', 'sms', 'upload'], ['file', 'upload']] as const) {
      t.strictSame(judged(path, { file: { outputFormat } }).problems, [], path.join('/'))
    }
  }
  has(t, judged(['file', 'esign'], { file: { outputFormat: 'XLSX' } }).details, [{
    message: '"esign" takes PDF documents, and "file" makes XLSX here.'
  }])
  t.strictSame(judged(['file', 'esign'], { file: { outputFormat: 'PDF' } }).problems, [])
  t.end()
})
