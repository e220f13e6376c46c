import t from 'tap'
import type { JsonObject } from '../../../core/packages/common/json.ts'
import { email } from '../../../core/packages/services/email/index.ts'
import { invoicing } from '../../../core/packages/services/invoicing/index.ts'
import { postal } from '../../../core/packages/services/postal/index.ts'
import { toldData } from '../../../core/packages/services/shared-facts.ts'
import { shownData } from '../../../core/pipeline/facts.ts'
import { matches } from '../../support/matching.ts'
import { judge, judgeChain, type Judgement, storedTemplate, type World } from '../pipeline/support.ts'

/** Without those about fields that the page does not show. */
const warningsOf = ({ warnings }: Judgement): string[] => warnings.filter((warning) => !warning.endsWith(' unused_field'))
const contradictions = ({ problems }: Judgement): string[] => problems.filter((problem) => problem.endsWith(' contradiction'))

await t.test('terms in both places must be the same, as days and not as texts', (t) => {
  const judged = (fields: object, data: object, vocabulary?: 'invoice'): string[] =>
    contradictions(
      judge('invoicing', { documentType: 'QUOTE', invoicing: fields, template: { id: 1, data: { customer: { name: 'A' }, ...data } } }, {
        source: vocabulary === undefined ? {} : { vocabulary }
      })
    )
  const [fields, data] = [{ dueDate: '2026-04-13', paymentTerms: '30 days' }, { dueDate: '2026-04-14', paymentTerms: '31 days' }]
  t.same(judged(fields, data, 'invoice'), [
    '/invoicing/dueDate contradiction',
    '/template/data/dueDate contradiction',
    '/invoicing/paymentTerms contradiction',
    '/template/data/paymentTerms contradiction'
  ])
  t.same(judged(fields, data), [], 'another template may mean something else by its words')
  t.same(judged({ ...fields, dueDate: '2026-04-13T23:30:00+02:00' }, fields, 'invoice'), [], 'the same day, however it is written')
  t.same(judged(fields, { ...fields, paymentTerms: ' 30\n days' }, 'invoice'), [], 'in any spacing')
  t.end()
})

await t.test('what only the fields say is what the document says', (t) => {
  const fields = { documentType: 'INVOICE', dueDate: '2026-04-13T09:30:00Z', paymentTerms: '30 days' }
  t.same(toldData(invoicing, fields, { number: '1' }, { vocabulary: 'invoice' }), {
    number: '1',
    dueDate: '2026-04-13',
    paymentTerms: '30 days'
  })
  t.same(toldData(invoicing, { documentType: 'INVOICE' }, { number: '1' }, { vocabulary: 'invoice' }), { number: '1' })
  const ada = { name: 'Ada', address: 'Building B\n1 Main St\nFloor 2', city: 'London', postalCode: 'SW1A 1AA', country: 'GB' }
  const line = { type: 'string' }
  const schema = {
    type: 'object',
    properties: { recipient: { type: 'object', properties: { name: line, address: line, address2: line, city: line } } }
  }
  t.same(toldData(postal, { recipient: ada }, { recipient: { name: 'Ada L.' } }, { schema }), {
    recipient: { name: 'Ada L.', address: 'Building B', address2: '1 Main St, Floor 2', city: 'London' }
  }, 'what the data say stays, and only what the template has a place for is added')
  t.same(toldData(postal, { recipient: ada }, { number: '1' }, { schema: { type: 'object', properties: { number: line } } }), {
    number: '1'
  })
  t.end()
})

const ada = {
  name: 'Ada Lovelace',
  company: 'Analytical Engines',
  address: '12 rue de la Paix',
  city: 'Paris',
  postalCode: '75002',
  country: 'FR'
}

/** A letter to Ada whose page prints this recipient. */
function letter (recipient: object, to: object = ada, sample: JsonObject = {}): Judgement {
  return judge('postal', { template: { id: 1, data: { recipient } }, postal: { recipient: to } }, { sample })
}

await t.test('the recipient of a letter is who stands on its page', (t) => {
  t.same(letter({ name: 'Somebody Else', address: '1 Main St', city: 'London', postalCode: 'SW1A 1AA', country: 'GB' }).problems, [
    ...['name', 'address', 'postalCode', 'country'].flatMap((field) => [
      `/postal/recipient/${field} contradiction`,
      `/template/data/recipient/${field} contradiction`
    ])
  ])
  for (const field of ['name', 'company', 'address', 'postalCode', 'country'] as const) {
    const other = { name: 'Grace', company: 'Other', address: '13 rue de la Paix', postalCode: '75003', country: 'BE' }[field]
    t.same(letter({ [field]: other }).problems, [
      `/postal/recipient/${field} contradiction`,
      `/template/data/recipient/${field} contradiction`
    ], field)
  }
  t.same(letter({ city: 'Lyon' }).problems.length, 2, 'a city without its code')
  const texan = { name: 'Ada', address: '1 Main St', city: 'Austin', state: 'TX', postalCode: '73301', country: 'US' }
  t.same(letter({ state: 'CA' }, texan).problems, ['/postal/recipient/state contradiction', '/template/data/recipient/state contradiction'])
  for (const state of ['TX', 'tx', 'Texas']) t.same(letter({ state }, texan).problems, [], state)
  t.end()
})

await t.test('a recipient who is written in another way is the same', (t) => {
  for (const recipient of [
    ada,
    { name: 'Mrs A. Lovelace' },
    { name: 'LOVELACE, Ada' },
    { name: 'Analytical Engines' },
    { name: 'Ada Lovelace', company: 'Analytical Engines Ltd.' },
    { address: '12, Rue de la Paix', address2: 'Bâtiment B' },
    { city: 'Paris 2e' },
    { city: 'Parigi', postalCode: 'F-75 002' },
    { country: 'France' },
    { country: 'fr' },
    { name: '' },
    {}
  ]) {
    t.same(letter(recipient).problems, [], JSON.stringify(recipient))
  }
  const british = { ...ada, city: 'London', postalCode: 'SW1A 1AA' }
  t.same(contradictions(letter({ ...british, country: 'UK' }, { ...british, country: 'UK' })), [], 'unknown in both places')
  const german = { name: 'Jürgen Groß', address: 'Lange Straße 27', city: 'München', postalCode: '80331', country: 'DE' }
  t.same(letter({ name: 'Jurgen Gross', address: 'LANGE STRASSE 27', city: 'Munich', postalCode: 'D-80331' }, german).problems, [])
  t.end()
})

await t.test('whoever tries out a template with its sample is told so', (t) => {
  const sample = { recipient: { name: 'Jürgen Müller', city: 'Berlin' } }
  const tried = letter(sample.recipient, ada, sample)
  t.same(tried.problems, [])
  t.same(warningsOf(tried), ['/template/data/recipient/name sample_data', '/template/data/recipient/city sample_data'])
  t.same(letter({ ...sample.recipient, name: 'Jürgen' }, ada, sample).problems.length, 4, 'no longer the sample')
  t.end()
})

const line = { type: 'string' }
const parts = ['name', 'company', 'address', 'address2', 'city', 'state', 'postalCode', 'country', 'email', 'phoneNumber']
const addressed = {
  type: 'object',
  properties: {
    recipient: { type: 'object', properties: Object.fromEntries(parts.map((name) => [name, line])) },
    subject: line,
    signers: { type: 'array', items: { type: 'object', properties: { email: line, firstName: line, lastName: line, role: line } } }
  }
}
const fieldsOf = ({ plan, details }: Judgement): unknown => plan?.steps.at(-1)?.fields ?? details

await t.test('what only the data state is what the service does', (t) => {
  const { address, ...rest } = ada
  const recipient = { ...rest, address, address2: 'Floor 2', email: 'ada@example.com' }
  const letters = { recipient: { ...ada, address: `${address}\nFloor 2` } }
  const template = { id: 1, data: { recipient } }
  t.same(fieldsOf(judge('postal', { template }, { schema: addressed })), letters)
  const british = { ...ada, postalCode: 'SW1A 1AA', city: 'London' }
  for (const country of ['GB', 'gb', 'UK']) {
    t.same(fieldsOf(judge('postal', { template: { id: 1, data: { recipient: { ...british, country } } } }, { schema: addressed })), {
      recipient: { ...british, country: 'GB' }
    }, country)
  }
  t.same(fieldsOf(judge('postal', { template, postal: { color: false } }, { schema: addressed })), { ...letters, color: false })
  t.same(
    fieldsOf(judgeChain(['file', 'postal'], { template }, { schema: addressed, source: { service: 'postal' } })),
    letters,
    'of the document that it takes'
  )
  t.same(
    fieldsOf(judgeChain(['file', 'postal'], { fileContent: { templateName: 'Letter', data: { recipient } } }, {
      schema: addressed,
      source: { service: 'postal' }
    })),
    letters,
    'by its name too'
  )
  const mail = { from: 'demo@example.com', template: { id: 1, data: { recipient: { email: 'ada@example.com' }, subject: 'Hello' } } }
  t.same(fieldsOf(judge('email', mail, { schema: addressed })), { from: mail.from, to: 'ada@example.com', subject: 'Hello' })
  t.same(fieldsOf(judge('sms', { template: { id: 1, data: { recipient: { phoneNumber: '+33612345678' } } } }, { schema: addressed })), {
    phoneNumber: '+33612345678'
  })
  const signer = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }
  t.same(fieldsOf(judge('esign', { template: { id: 1, data: { signers: [{ ...signer, role: 'Customer' }] } } }, { schema: addressed })), {
    signers: [signer]
  })
  t.end()
})

await t.test('what the service reads of the data need not be shown by the template', (t) => {
  const shows: World = { source: { body: [{ paragraph: '{{ recipient.name }}' }] }, schema: addressed }
  const recipient = { ...ada, email: 'ada@example.com' }
  t.same(judge('postal', { template: { id: 1, data: { recipient } } }, shows).warnings, ['/template/data/recipient/email unused_field'])
  t.same(judge('sms', { template: { id: 1, data: { recipient: { phoneNumber: '+33612345678' } } } }, { schema: addressed }).warnings, [])
  t.end()
})

await t.test('what neither states is told with its place in both', (t) => {
  const required = '/postal/recipient required'
  const neither = judge('postal', { template: { id: 1, data: {} } }, { schema: addressed })
  t.same([neither.word, ...neither.problems], ['validation_error', required])
  matches(t, neither.details[0]?.message, /or "recipient" in the data/)
  const { city: _, ...elsewhere } = ada
  for (const [recipient, problem] of [
    [elsewhere, '/template/data/recipient/city required'],
    [{ ...ada, country: 'France' }, '/template/data/recipient/country pattern'],
    ['Ada', '/template/data/recipient type']
  ] as const) {
    t.same(judge('postal', { template: { id: 1, data: { recipient } } }, { schema: addressed }).problems, [required, problem])
  }
  t.same(judge('email', { from: 'demo@example.com', subject: 'A', template: { id: 1, data: { recipient: { email: 'ada' } } } }).problems, [
    '/to required',
    '/template/data/recipient/email format'
  ])
  const unaddressed = { type: 'object', properties: { text: line } }
  t.same(judge('postal', { template: { id: 1, data: { recipient: ada } } }, { schema: unaddressed }).problems, [required], 'it has none')
  const template = { id: 1, data: { recipient: ada } }
  t.same(judge('postal', { template }, { schema: addressed, source: { service: 'file' } }).problems, [required], 'not made for letters')
  t.end()
})

await t.test('what is wrong with a stated field is told where it stands', (t) => {
  const data = { recipient: { ...ada, country: 'XX' } }
  t.same(judge('postal', { template: { id: 1, data } }, { schema: addressed }).problems, [
    '/template/data/recipient/country unknown_country'
  ])
  t.same(judge('sms', { template: { id: 1, data: { recipient: { phoneNumber: '+999123456' } } } }, { schema: addressed }).problems, [
    '/template/data/recipient/phoneNumber impossible_number'
  ])
  t.end()
})

await t.test('who gets the document of a chain is who stands in it', (t) => {
  const world = { schema: addressed, source: { service: 'postal' } } as const
  const chain = (recipient: object, to: object): Judgement =>
    judgeChain(['file', 'postal'], { template: { id: 1, data: { recipient } }, postal: { recipient: to } }, world)
  t.same(contradictions(chain({ name: 'Grace' }, ada)), [
    '/postal/recipient/name contradiction',
    '/template/data/recipient/name contradiction'
  ])
  t.same(contradictions(chain(ada, ada)), [])
  const taker = { service: 'postal', fields: { recipient: ada } } as const
  const template = { template: storedTemplate({ service: 'postal' }, addressed), data: {} }
  t.same(shownData({ service: 'file', fields: {}, template }, [{ service: 'file', fields: {}, template }, taker]), { recipient: ada })
  const other = { ...template, template: storedTemplate({ service: 'invoicing' }, addressed) }
  t.same(shownData({ service: 'file', fields: {}, template: other }, [{ service: 'file', fields: {}, template: other }, taker]), {})
  t.end()
})

await t.test('an object is not begun that would lack a part', (t) => {
  const schema = { ...addressed, properties: { recipient: { allOf: [{ required: ['name'] }, addressed.properties.recipient] } } }
  const mail = { from: 'demo@example.com', to: ['Ada <ada@example.com>'], subject: 'A' }
  t.same(toldData(email, mail, {}, { schema: addressed }), { subject: 'A', recipient: { email: 'ada@example.com' } })
  t.same(toldData(email, mail, {}, { schema }), {})
  t.same(toldData(email, mail, { recipient: { name: 'Ada' } }, { schema }), { recipient: { name: 'Ada', email: 'ada@example.com' } })
  t.same(toldData(email, { ...mail, to: ['a@example.com', 'b@example.com'] }, {}, { schema: addressed }), { subject: 'A' })
  t.end()
})

await t.test('a letter whose page is made out to another customer is a warning, in a chain too', (t) => {
  const body = (customer: object): object => ({ template: { id: 1, data: { customer } }, postal: { recipient: ada } })
  t.same(warningsOf(judge('postal', body({ name: 'ACME' }))), ['/template/data/customer/name other_recipient'])
  for (const customer of [{ name: 'Ada Lovelace' }, { name: 'Analytical Engines' }, { name: 'ACME', contact: 'Ada Lovelace' }]) {
    t.same(warningsOf(judge('postal', body(customer))), [], JSON.stringify(customer))
  }
  t.same(warningsOf(judgeChain(['file', 'postal'], body({ name: 'ACME' }))), ['/template/data/customer/name other_recipient'])
  t.end()
})

await t.test('the subject, the address and the number of a message are those that its text states', (t) => {
  const mail = (data: object): string[] =>
    contradictions(
      judge('email', { from: 'demo@example.com', to: ['Ada <ada@example.com>'], subject: 'Your  invoice', template: { id: 1, data } })
    )
  t.same(mail({ subject: 'Your contract' }), ['/subject contradiction', '/template/data/subject contradiction'])
  t.same(mail({ recipient: { email: 'grace@example.com' } }), ['/to contradiction', '/template/data/recipient/email contradiction'])
  t.same(mail({ subject: 'Your invoice', recipient: { email: 'ADA@example.com' } }), [])
  const sms = (phoneNumber: string): string[] =>
    contradictions(judge('sms', { sms: { phoneNumber: '+33612345678' }, template: { id: 1, data: { recipient: { phoneNumber } } } }))
  t.same(sms('+33612345679'), ['/sms/phoneNumber contradiction', '/template/data/recipient/phoneNumber contradiction'])
  for (const same of ['+330612345678', '06 12 34 56 78', '0033612345678']) t.same(sms(same), [], same)
  t.same(sms('06 12 34 56 79').length, 2)
  t.end()
})

await t.test('those who sign are those whom the document lists', (t) => {
  const listed = (...signers: JsonObject[]): string[] =>
    contradictions(judge('esign', {
      signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'L', phoneNumber: '+33612345678' }],
      template: { id: 1, data: { signers } }
    }))
  const signed = (...emails: string[]): string[] => listed(...emails.map((email) => ({ email })))
  t.same(signed('grace@example.com'), ['/signers contradiction', '/template/data/signers contradiction'])
  t.same(signed('ada@example.com', 'grace@example.com').length, 2)
  t.same(signed('Ada@example.com'), [])
  const email = 'ada@example.com'
  t.same(listed({ email, firstName: 'ADA', lastName: 'Lovelace', phoneNumber: '06 12 34 56 78' }), [])
  t.same(listed({ email, firstName: 'Grace', lastName: 'L' }).length, 2, 'another name')
  t.same(listed({ email, phoneNumber: '+33612345679' }).length, 2, 'another number')
  t.end()
})

await t.test('a template is made for something', (t) => {
  const data = { id: 1, data: {} }
  const sms = { sms: { phoneNumber: '+33612345678' }, template: data }
  const signers = [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'L' }]
  t.same(judge('sms', sms, { source: { service: 'postal' } }).problems, ['/template wrong_template'], 'a letter as a text message')
  t.same(judge('esign', { signers, template: data }, { source: { service: 'sms' } }).problems, ['/template wrong_template'])
  t.same(judge('esign', { signers, template: data }, { source: { service: 'email' } }).problems, ['/template wrong_template'])
  t.same(judge('sms', sms, { source: { service: 'postal', alsoFor: ['sms'] } }).problems, [], 'which it says')
  t.same(judge('esign', { signers, template: data }, { source: { service: 'invoicing' } }).problems, [], 'pages are pages')
  t.same(judge('sms', sms, { source: { service: 'file' } }).problems, [], 'it does not say what for')
  for (const service of ['sms', 'email', 'postal'] as const) t.same(judge('file', { template: data }, { source: { service } }).problems, [])
  t.end()
})
