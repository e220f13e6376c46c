import t from 'tap'
import type { JsonObject } from '../../../core/packages/common/json.ts'
import { invoicing } from '../../../core/services/invoicing.ts'
import { postal } from '../../../core/services/postal.ts'
import { toldData } from '../../../core/services/shared-facts.ts'
import { judge, judgeChain, type Judgement } from '../pipeline/support.ts'

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
  t.same(sms('+330612345678'), [])
  t.end()
})

await t.test('those who sign are those whom the document lists', (t) => {
  const signed = (...emails: string[]): string[] =>
    contradictions(judge('esign', {
      signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'L' }],
      template: { id: 1, data: { signers: emails.map((email) => ({ email })) } }
    }))
  t.same(signed('grace@example.com'), ['/signers contradiction', '/template/data/signers contradiction'])
  t.same(signed('ada@example.com', 'grace@example.com').length, 2)
  t.same(signed('Ada@example.com'), [])
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
