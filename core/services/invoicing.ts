import { Type, type Static } from 'typebox'
import { DocumentHandle } from '../contract/common.ts'
import type { Problem } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { checkInvoice } from './invoice.ts'
import { at, textAt } from './data.ts'
import type { Service, Subject } from './service.ts'

export const DocumentType = Type.Enum(['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT'])
export type DocumentType = Static<typeof DocumentType>

/** The fields of the invoicing service, in `invoicing` or (the lifted ones) at the top level of the request. */
export const InvoicingFields = Type.Object({
  documentType: DocumentType,
  sendByEmail: Type.Optional(Type.Boolean({ description: 'true: the provider sends the document by e-mail instead of the service.' })),
  dueDate: Type.Optional(Type.String({ format: 'iso-8601', examples: ['2026-04-13'] })),
  paymentTerms: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  customerId: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The customer\'s identifier at the provider.' })),
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'An external reference.' }))
}, { additionalProperties: false })
export type InvoicingFields = Static<typeof InvoicingFields>

/** What an invoicing provider declares. */
export const InvoicingCapabilities = Type.Object({
  documentTypes: Type.Array(DocumentType, { minItems: 1, uniqueItems: true }),
  sendByEmail: Type.Optional(Type.Boolean({ description: 'The provider can e-mail the document to the customer itself.' })),
  requires: Type.Optional(Type.Array(Type.String({ pattern: '^(/[^/]+)+$' }), {
    description: 'Parts of the invoice vocabulary that the provider cannot do without: JSON pointers into the template data.'
  }))
}, { additionalProperties: false })
export type InvoicingCapabilities = Static<typeof InvoicingCapabilities>

/** What an invoicing provider is asked to dispatch. */
export type InvoicingDispatch = {
  invoicing: InvoicingFields
  data: JsonObject
  document: DocumentHandle
  metadata: Readonly<Record<string, string>>
}

/** The document types whose document this service can make. */
const makeable: readonly DocumentType[] = ['INVOICE', 'QUOTE', 'CREDIT']

export const invoicing: Service<'invoicing', InvoicingFields, InvoicingCapabilities> = {
  name: 'invoicing',
  summary: 'Creates invoices, quotes and credit notes at an invoicing provider.',
  fields: InvoicingFields,
  lifted: ['documentType', 'sendByEmail'],
  required: ['documentType'],
  capabilities: InvoicingCapabilities,
  price: 1,

  check (subject) {
    const invoice = subject.template.vocabulary === 'invoice' ? checkInvoice(subject) : { problems: [], warnings: [] }
    return {
      problems: [...checkDocumentType(subject), ...checkProvider(subject), ...invoice.problems],
      warnings: [...checkTemplateType(subject), ...invoice.warnings]
    }
  },

  facts ({ documentType }, data) {
    return { documentType, ...textAt(data, '/number', 'documentNumber'), ...textAt(data, '/customer/name', 'recipient') }
  }
}

type InvoicingSubject = Subject<InvoicingFields, InvoicingCapabilities>

function checkDocumentType ({ fields, at }: InvoicingSubject): Problem[] {
  if (makeable.includes(fields.documentType)) return []
  return [{ path: at('documentType'), code: 'not_supported', message: `${fields.documentType} documents cannot be made yet; ${makeable.join(', ')} can.` }]
}

function checkTemplateType ({ fields, template, at }: InvoicingSubject): Problem[] {
  if (template.documentType === undefined || template.documentType === fields.documentType) return []
  return [{ path: at('documentType'), code: 'other_document_type', message: `The template is made for ${template.documentType}, the request says ${fields.documentType}.` }]
}

function checkProvider ({ fields, data, provider, at: where }: InvoicingSubject): Problem[] {
  if (provider === undefined) return []
  const { code, capabilities } = provider
  const problems: Problem[] = []
  if (!capabilities.documentTypes.includes(fields.documentType)) {
    problems.push({ path: where('documentType'), code: 'not_supported_by_provider', message: `The provider "${code}" does not support ${fields.documentType}; it supports ${capabilities.documentTypes.join(', ')}.` })
  }
  if (fields.sendByEmail === true && capabilities.sendByEmail !== true) {
    problems.push({ path: where('sendByEmail'), code: 'not_supported_by_provider', message: `The provider "${code}" cannot send the document by e-mail.` })
  }
  for (const required of capabilities.requires ?? []) {
    if (at(data, required) === undefined) problems.push({ path: `/template/data${required}`, code: 'required_by_provider', message: `The provider "${code}" requires this field.` })
  }
  return problems
}
