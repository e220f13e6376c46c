import t from 'tap'
import type { Problem } from '../../common/json.ts'
import { compile } from '../../common/schema.ts'
import { type DocumentType, invoicing, InvoicingCapabilities } from '../invoicing/index.ts'

/** The problems of a document that a provider is to e-mail. */
const mailed = (documentType: DocumentType, sendByEmail: InvoicingCapabilities['sendByEmail']): Problem[] =>
  invoicing.check({
    fields: { documentType, sendByEmail: true },
    at: (field) => `/${field}`,
    data: {},
    template: {},
    provider: { code: 'acme', capabilities: { documentTypes: ['INVOICE', 'QUOTE'], ...(sendByEmail !== undefined && { sendByEmail }) } },
    today: '2026-03-14',
    otherServices: []
  }).problems ?? []

await t.test('a provider e-mails the document types that it declares', (t) => {
  for (const sendByEmail of [true, ['INVOICE'], ['QUOTE', 'INVOICE']] satisfies InvoicingCapabilities['sendByEmail'][]) {
    t.same(mailed('INVOICE', sendByEmail), [])
  }
  t.end()
})

await t.test('it is not asked to e-mail any other', (t) => {
  const problem = {
    path: '/sendByEmail',
    code: 'not_supported_by_provider',
    message: 'The provider "acme" cannot send QUOTE documents by e-mail.'
  }
  for (const sendByEmail of [undefined, false, ['INVOICE']] satisfies InvoicingCapabilities['sendByEmail'][]) {
    t.same(mailed('QUOTE', sendByEmail), [problem])
  }
  t.end()
})

await t.test('it declares at least one document type, each of them once; e-mailing for all of them, or for some', (t) => {
  const fits = compile(InvoicingCapabilities)
  const one = { documentTypes: ['INVOICE'] }
  for (const right of [one, { ...one, sendByEmail: true }, { ...one, sendByEmail: ['INVOICE'] }]) {
    t.ok(fits(right).ok, JSON.stringify(right))
  }
  for (const wrong of [{}, { documentTypes: [] }, { documentTypes: ['INVOICE', 'INVOICE'] }, { ...one, sendByEmail: [] }, {
    ...one,
    sendByEmail: ['INVOICE', 'INVOICE']
  }, { ...one, sendByEmail: ['LETTER'] }]) t.notOk(fits(wrong).ok, JSON.stringify(wrong))
  t.end()
})
