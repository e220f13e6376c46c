import t from 'tap'
import { serviceNames } from '../../../core/packages/services/names.ts'
import { has } from '../../support/matching.ts'
import { judge, template } from './support.ts'

const sms = { phoneNumber: '+33612345678', message: 'Hello' }
const signers = [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }]
const recipient = { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' }
const callbackUrl = 'https://hooks.example.com/dispatch?a=b'

await t.test('a callback is for what goes on after it was answered: esign, postal, and what nobody waits for', (t) => {
  for (const [name, body] of [
    ['esign', { template, signers, callbackUrl }],
    [
      'postal',
      { template, postal: { recipient }, callbackUrl }
    ]
  ] as const) {
    has(t, judge(name, body), { problems: [], warnings: [], plan: { request: { callbackUrl } } }, name)
  }
  for (const [name, body] of [['sms', { sms, callbackUrl }], ['file', { template, callbackUrl }]] as const) {
    has(t, judge(name, body), { problems: [], warnings: ['/callbackUrl unused_field'], plan: { request: { callbackUrl } } }, name)
    has(t, judge(name, body, { mode: 'asynchronous' }), { problems: [], warnings: [] }, name)
  }
  t.end()
})

await t.test('a callback goes to an https URL without credentials', (t) => {
  for (const url of ['http://hooks.example.com', 'ftp://hooks.example.com', 'hooks.example.com', 'https://',
    'https://user:password@hooks.example.com', 'https://hooks.example.com/a b', ''])
  {
    has(t, judge('esign', { template, signers, callbackUrl: url }), { word: 'validation_error', problems: ['/callbackUrl format'] }, url)
  }
  t.end()
})

await t.test('a callback to an address that is not public is refused at once, however it is written', (t) => {
  const refused = ['169.254.169.254', '[fd00::1]', '[::1]', '127.0.0.1', '10.0.0.1', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376',
    '127.1', '[::ffff:169.254.169.254]', '0.0.0.0', '100.64.0.1']
  for (const host of refused) {
    const found = judge('esign', { template, signers, callbackUrl: `https://${host}/x` })
    t.same([found.word, found.problems], ['validation_failed', ['/callbackUrl address_not_public']], host)
  }
  for (const host of ['93.184.215.14', '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]', 'localhost', 'hooks.example.com:8443']) {
    t.same(judge('esign', { template, signers, callbackUrl: `https://${host}/x` }).problems, [], host)
  }
  t.end()
})

await t.test('the settings of the request are those that the provider declares', (t) => {
  has(t, judge('sms', { sms, settings: { label: 'x' } }), { problems: [], warnings: [] })
  has(t, judge('sms', { sms, settings: { label: 7 } }), { word: 'validation_failed', problems: ['/settings/label type'] })
  has(t, judge('sms', { sms, settings: { lable: 'x' } }), { word: 'validation_failed', problems: ['/settings/lable unknown_field'] })
  t.end()
})

await t.test('a missing configuration is told alone only when nothing else is wrong', (t) => {
  has(t, judge('sms', { sms }, { settings: null }), { word: 'configuration_missing', problems: ['/providerName configuration_missing'] })
  has(t, judge('sms', { sms: { ...sms, phoneNumber: '+3361234' } }, { settings: null }), {
    word: 'validation_failed',
    problems: ['/providerName configuration_missing', '/sms/phoneNumber impossible_number']
  })
  t.end()
})

await t.test('what costs nothing can be given a price, and a step without a provider too', (t) => {
  t.same(judge('sms', { sms }).plan?.steps.map(({ price }) => price), [0])
  t.same(judge('sms', { sms }, { prices: { sms: 3 } }).plan?.steps.map(({ price }) => price), [3])
  t.same(judge('file', { template }, { prices: { file: 2 } }).plan?.steps.map(({ price }) => price), [2])
  t.end()
})

await t.test('a template of the invoice vocabulary has its rules, whatever service it is for', (t) => {
  const data = {
    number: 'F-1',
    date: '2026-03-14',
    dueDate: '2026-03-01',
    customer: { name: 'Ada' },
    subtotal: 10,
    taxAmount: 2,
    total: 13
  }
  const world = { source: { vocabulary: 'invoice' as const } }
  const found = (path: string): string[] => [`${path}/dueDate due_date_before_date`, `${path}/total total`]
  t.same(judge('postal', { template: { id: 1, data }, postal: { recipient } }, world).problems, found('/template/data'))
  t.same(judge('esign', { template: { id: 1, data }, signers }, world).problems, found('/template/data'))
  t.same(judge('invoicing', { template: { id: 1, data }, documentType: 'INVOICE' }, world).problems, found('/template/data'))
  t.same(judge('file', { fileContent: { templateName: 'Sample', data } }, world).problems, found('/fileContent/data'))
  t.same(judge('file', { template: { id: 1, data } }).problems, [], 'another vocabulary has none of them')
  t.end()
})

await t.test('an invoice\'s own due date is held against the date of its data', (t) => {
  const data = { date: '2026-03-14', customer: { name: 'Ada' } }
  const judgeDue = (dueDate: string, vocabulary?: 'invoice') =>
    judge('invoicing', { template: { id: 1, data }, documentType: 'INVOICE', invoicing: { dueDate } }, {
      source: vocabulary === undefined ? {} : { vocabulary }
    })
  t.same(judgeDue('2026-03-13', 'invoice').problems, ['/invoicing/dueDate due_date_before_date'])
  t.same(judgeDue('2026-03-14', 'invoice').problems, [])
  t.same(judgeDue('2026-03-13').problems, [])
  t.end()
})

await t.test('an invoice that the provider e-mails needs the customer\'s address', (t) => {
  const body = { template: { id: 1, data: { customer: { name: 'Ada' } } }, documentType: 'INVOICE', sendByEmail: true }
  t.same(judge('invoicing', body, { source: { vocabulary: 'invoice' }, capabilities: { sendByEmail: true } }).problems, [
    '/template/data/customer/email required'
  ])
  t.same(judge('invoicing', body, { source: { vocabulary: 'invoice' } }).problems, [
    '/sendByEmail not_supported_by_provider',
    '/template/data/customer/email required'
  ])
  t.end()
})

await t.test('the facts of a plan are what the dispatch can be found by', (t) => {
  t.same(judge('postal', { template: { id: 1, data: { number: 'L-7' } }, postal: { recipient } }).plan?.facts, {
    documentNumber: 'L-7',
    recipient: 'Ada'
  })
  t.same(judge('sms', { sms }).plan?.facts, { recipient: '+33612345678' })
  t.equal(serviceNames.length, 7)
  t.end()
})

await t.test('of a planned step nothing has been done, and nothing charged', (t) => {
  const { plan } = judge('sms', { sms })
  const unbegun = { status: 'planned', response: null, error: null, charged: 0, tries: 0, generation: 0, looks: 0 }
  t.strictSame(plan?.steps.map(({ state }) => state), [unbegun])
  t.end()
})
