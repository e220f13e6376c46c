import t from 'tap'
import type { JsonObject, Problem } from '../../common/json.ts'
import { invoicing, type InvoicingCapabilities, type InvoicingFields } from '../invoicing/index.ts'
import type { CheckInput, Findings } from '../service.ts'

type Requested = {
  fields?: Partial<InvoicingFields>
  data?: JsonObject
  template?: CheckInput<InvoicingFields, InvoicingCapabilities>['template']
  capabilities?: InvoicingCapabilities | undefined
}

type Reported = { problems: string[], warnings: string[] }

const reported = ({ problems = [], warnings = [] }: Findings): Reported => {
  const texts = (list: readonly Problem[]): string[] => list.map(({ path, code }) => `${path} ${code}`)
  return { problems: texts(problems), warnings: texts(warnings) }
}

const check = ({ fields = {}, data = {}, template = {}, ...rest }: Requested): Reported => {
  const capabilities = 'capabilities' in rest
    ? rest.capabilities
    : { documentTypes: ['INVOICE', 'QUOTE', 'CREDIT'] as const satisfies InvoicingCapabilities['documentTypes'] }
  return reported(invoicing.check({
    fields: { documentType: 'INVOICE', ...fields },
    at: (field) => `/${field}`,
    data,
    template,
    provider: capabilities === undefined ? undefined : { code: 'acme', capabilities },
    today: '2026-03-14',
    otherServices: []
  }))
}

const nothing = { problems: [], warnings: [] }

await t.test('a document type must be one that can be made and that the provider supports', (t) => {
  t.strictSame(check({}), nothing)
  t.strictSame(check({ fields: { documentType: 'E_INVOICE' } }).problems, [
    '/documentType not_supported',
    '/documentType not_supported_by_provider'
  ])
  t.strictSame(check({ fields: { documentType: 'E_INVOICE' }, capabilities: { documentTypes: ['E_INVOICE'] } }).problems, [
    '/documentType not_supported'
  ])
  t.strictSame(check({ fields: { documentType: 'QUOTE' }, capabilities: { documentTypes: ['INVOICE'] } }).problems, [
    '/documentType not_supported_by_provider'
  ])
  t.strictSame(check({ fields: { documentType: 'QUOTE' }, capabilities: undefined }), nothing, 'no provider: nothing is asked of it')
  t.end()
})

await t.test('what an e-invoice should have is a warning', (t) => {
  const french = { name: 'Acme', address: '1 rue A', city: 'Lyon', postalCode: '69001', country: 'FR' }
  const { warnings } = check({
    fields: { documentType: 'E_INVOICE' },
    data: { seller: french, customer: french },
    template: { vocabulary: 'invoice' },
    capabilities: { documentTypes: ['E_INVOICE'] }
  })
  t.strictSame(warnings.filter((text) => text.endsWith('BR-FR-10')), ['/template/data/seller/registration BR-FR-10'])
  t.end()
})

await t.test('the provider sends e-mails only where it can', (t) => {
  const can = { documentTypes: ['INVOICE' as const], sendByEmail: true }
  t.strictSame(check({ fields: { sendByEmail: true } }).problems, ['/sendByEmail not_supported_by_provider'])
  t.strictSame(check({ fields: { sendByEmail: true }, capabilities: can }), nothing)
  t.strictSame(check({ fields: { sendByEmail: false } }), nothing)
  t.end()
})

await t.test('data that the provider cannot do without are asked for', (t) => {
  const capabilities = { documentTypes: ['INVOICE' as const], requires: ['/number', '/customer/vatId', '/lines/0'] }
  t.strictSame(check({ capabilities, data: { number: 'F-1', customer: {} } }).problems, [
    '/template/data/customer/vatId required_by_provider',
    '/template/data/lines/0 required_by_provider'
  ])
  t.strictSame(check({ capabilities, data: { number: 'F-1', customer: { vatId: 'x' }, lines: [{}] } }), nothing)
  t.strictSame(check({ capabilities: { documentTypes: ['INVOICE'], requires: ['/constructor', '/toString'] }, data: {} }).problems.length,
    2, 'only own fields count')
  t.end()
})

await t.test('a template made for another document type is a warning', (t) => {
  t.strictSame(check({ template: { documentType: 'QUOTE' } }), { problems: [], warnings: ['/documentType other_document_type'] })
  t.strictSame(check({ template: { documentType: 'INVOICE' } }), nothing)
  t.end()
})

await t.test('a dispatch is found later by type, number and recipient, as far as the data have them', (t) => {
  t.strictSame(invoicing.facts({ documentType: 'CREDIT' }, { number: 'F-1', customer: { name: 'Ada' } }), {
    documentType: 'CREDIT',
    documentNumber: 'F-1',
    recipient: 'Ada'
  })
  t.strictSame(invoicing.facts({ documentType: 'INVOICE' }, { number: 17 }), { documentType: 'INVOICE', documentNumber: '17' })
  t.strictSame(invoicing.facts({ documentType: 'INVOICE' }, { number: {}, customer: null }), { documentType: 'INVOICE' })
  t.end()
})

await t.test('what is found later has a bounded length, whatever a template allows', (t) => {
  const { documentNumber = '', recipient = '' } = invoicing.facts({ documentType: 'INVOICE' }, {
    number: 'x'.repeat(300),
    customer: { name: '🙂'.repeat(300) }
  })
  t.equal(documentNumber, 'x'.repeat(200))
  t.equal(recipient, '🙂'.repeat(200))
  t.end()
})
