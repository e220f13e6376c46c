import t from 'tap'
import { services } from '../../../core/packages/services/lists.ts'
import type { ServiceName } from '../../../core/packages/services/names.ts'
import { judge, template } from '../pipeline/support.ts'

const invoice = { template, documentType: 'INVOICE' }
const signer = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }
const recipient = { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' }
const mail = { from: 'demo@example.com', to: ['ada@example.org'], subject: 'Hello', body: 'Hello' }

/** Each text of a request, how long it may be in characters, and a body that has it. */
const texts: readonly [service: ServiceName, place: string, longest: number, body: (text: string) => object][] = [
  ['invoicing', '/invoicing/paymentTerms', 500, (paymentTerms) => ({ ...invoice, invoicing: { paymentTerms } })],
  ['invoicing', '/invoicing/customerId', 200, (customerId) => ({ ...invoice, invoicing: { customerId } })],
  ['invoicing', '/invoicing/reference', 200, (reference) => ({ ...invoice, invoicing: { reference } })],
  ['esign', '/esign/signers/0/firstName', 100, (firstName) => ({ template, esign: { signers: [{ ...signer, firstName }] } })],
  ['esign', '/esign/signers/0/lastName', 100, (lastName) => ({ template, esign: { signers: [{ ...signer, lastName }] } })],
  ['postal', '/postal/recipient/name', 100, (name) => ({ template, postal: { recipient: { ...recipient, name } } })],
  ['postal', '/postal/recipient/company', 100, (company) => ({ template, postal: { recipient: { ...recipient, company } } })],
  ['postal', '/postal/recipient/address', 300, (address) => ({ template, postal: { recipient: { ...recipient, address } } })],
  ['postal', '/postal/recipient/city', 100, (city) => ({ template, postal: { recipient: { ...recipient, city } } })],
  ['postal', '/postal/recipient/state', 50, (state) => ({ template, postal: { recipient: { ...recipient, state } } })],
  ['sms', '/sms/message', 1530, (message) => ({ sms: { phoneNumber: '+33612345678', message } })],
  ['email', '/email/subject', 500, (subject) => ({ email: { ...mail, subject } })],
  ['email', '/email/headers/X-A', 900, (header) => ({ email: { ...mail, headers: { 'X-A': header } } })],
  ['file', '/file/filename', 200, (filename) => ({ template, file: { filename } })],
  ['file', '/fileContent/templateName', 100, (templateName) => ({ fileContent: { templateName, data: {} } })]
]

for (const [service, place, longest, body] of texts) {
  await t.test(`${service}: ${place} has 1 to ${longest} characters`, (t) => {
    const problems = (length: number): string[] => judge(service, body('x'.repeat(length))).problems
    t.same(problems(1).filter((problem) => problem.startsWith(place)), [], 'the shortest')
    t.same(problems(longest).filter((problem) => problem.startsWith(place)), [], 'the longest')
    t.same(problems(longest + 1), [`${place} too_long`])
    t.equal(problems(0).length, 1, 'an empty one is refused')
    t.end()
  })
}

await t.test('a document costs one credit, whatever is done with it none', (t) => {
  t.same(Object.fromEntries(Object.values(services).map(({ name, price }) => [name, price])), {
    invoicing: 1,
    esign: 0,
    postal: 0,
    sms: 0,
    email: 0,
    file: 0,
    upload: 0
  })
  t.end()
})
