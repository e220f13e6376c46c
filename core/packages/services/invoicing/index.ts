import { at, dayOf, DocumentHandle, type JsonObject, type Problem, spaced, textAt, textOf } from '@dispatch/common'
import { eInvoiceFileFormats, type FileFormat, usualFormats } from '@dispatch/documents'
import { checkEInvoice, currencyOf, type EInvoiceFormat, eInvoiceFormats, eInvoiceProfiles, profileOf } from '@dispatch/einvoice'
import { type Static, Type } from 'typebox'
import { BesideInvoice, checkEnclosed, EnclosureLimits } from '../enclosures.ts'
import { checkOffered, checkSupported } from '../limits.ts'
import type { CheckInput, Findings, ProvidedService, SharedFact } from '../service.ts'
import { console } from './console.ts'
import { repeatedOf } from './credit-note.ts'
import { delivery } from './delivery.ts'
import { asWarnings, checkDueDate } from './invoice.ts'
import { outline } from './outline.ts'
import { sayingsOf } from './sayings.ts'

const closed = { additionalProperties: false } as const

export const DocumentType = Type.Enum(['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT'], { title: 'DocumentType' })
export type DocumentType = Static<typeof DocumentType>

/** The fields of the invoicing service, in `invoicing` or (the lifted ones) at the top level of the request. */
export const InvoicingFields = Type.Object({
  documentType: DocumentType,
  sendByEmail: Type.Optional(
    Type.Boolean({ title: 'SendByEmail', description: 'true: the provider sends the document by e-mail instead of the service.' })
  ),
  dueDate: Type.Optional(
    Type.String({ format: 'day', description: 'a day (YYYY-MM-DD), alone or with a time', examples: ['2026-04-13'] })
  ),
  paymentTerms: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  customerId: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The customer\'s identifier at the provider.' })),
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'An external reference.' })),
  eInvoiceFormat: Type.Optional(
    Type.Enum(eInvoiceFormats, {
      default: 'FACTUR_X',
      description: 'For E_INVOICE: a PDF/A-3 with the CII inside (FACTUR_X), UBL, or CII.'
    })
  ),
  eInvoiceProfile: Type.Optional(
    Type.Enum(eInvoiceProfiles, {
      description: 'For E_INVOICE: the specification that it follows. Left out, PEPPOL for UBL, otherwise EN16931.'
    })
  ),
  from: Type.Optional(
    Type.Union([
      Type.Object({ dispatchId: Type.String({ format: 'uuid', description: 'A dispatch of an invoice.' }) }, closed),
      Type.Object({ document: Type.String({ minLength: 1, description: 'An e-invoice in Base64: UBL, CII, or a PDF with one inside.' }) },
        closed)
    ], {
      title: 'InvoiceOrigin',
      description: 'For credit notes and corrections: the invoice that they are about. Its number and date become `precedingInvoices` of ' +
        'the data, and its references are repeated, where the data leave them out and the template has a place for them.',
      examples: [{ dispatchId: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90' }]
    })
  ),
  attachments: BesideInvoice
}, { title: 'InvoicingFields', additionalProperties: false })
export type InvoicingFields = Static<typeof InvoicingFields>

/** What an invoicing provider declares. */
export const InvoicingCapabilities = Type.Object({
  documentTypes: Type.Array(DocumentType, { minItems: 1, uniqueItems: true }),
  sendByEmail: Type.Optional(Type.Union([Type.Boolean(), Type.Array(DocumentType, { minItems: 1, uniqueItems: true })], {
    description: 'The provider can e-mail the document to the customer itself: all documents, or those of some types.'
  })),
  requires: Type.Optional(Type.Array(Type.String({ pattern: '^(/[^/]+)+$' }), {
    description: 'Fields of the invoice that the provider requires: JSON pointers into the template data.'
  })),
  eInvoiceFormats: Type.Optional(
    Type.Array(Type.Enum(eInvoiceFormats), {
      minItems: 1,
      uniqueItems: true,
      description: 'The formats of e-invoices that it accepts; if left out, all.'
    })
  ),
  eInvoiceRules: Type.Optional(
    Type.Literal('FRANCE', {
      description: 'It refuses e-invoices between French parties that break the rules of French platforms (BR-FR-*): validation does too.'
    })
  ),
  attachments: Type.Optional(
    Type.Unsafe<EnclosureLimits>({ ...EnclosureLimits, description: 'Which files it takes beside the invoice; none unless given.' })
  ),
  document: Type.Optional(
    Type.Literal('theirs', { description: 'The provider makes the document itself. That one is attached and archived, not one of ours.' })
  )
}, { additionalProperties: false })
export type InvoicingCapabilities = Static<typeof InvoicingCapabilities>

/** What an invoicing provider is asked to dispatch. */
export type InvoicingDispatch = {
  invoicing: Omit<InvoicingFields, 'attachments'>
  data: JsonObject
  document: DocumentHandle
  /** Files beside the invoice, which only those get who declare it. */
  attachments?: readonly DocumentHandle[]
  metadata: Readonly<Record<string, string>>
}

/** The file of each format of e-invoices. */
const files = Object.fromEntries(Object.entries(eInvoiceFileFormats).map(([file, format]) => [format, file])) as Record<
  EInvoiceFormat,
  FileFormat
>

/** What the document says of the terms, which a provider is told too. */
const terms: readonly SharedFact<InvoicingFields>[] = [
  { ...termOf('dueDate'), differ: ({ dueDate }, data) => areDifferent(dayOf(dueDate), dayOf(at(data, '/dueDate'))) },
  { ...termOf('paymentTerms'), differ: ({ paymentTerms }, data) => areDifferent(paymentTerms, textOf(data, '/paymentTerms')) },
  { ...termOf('eInvoiceProfile'), differ: ({ eInvoiceProfile }, data) => areDifferent(eInvoiceProfile, textOf(data, '/eInvoiceProfile')) }
]

function termOf (name: 'dueDate' | 'paymentTerms' | 'eInvoiceProfile'): Pick<SharedFact<InvoicingFields>, 'field' | 'data' | 'vocabulary'> {
  return { field: `/${name}`, data: `/${name}`, vocabulary: 'invoice' }
}

export const invoicing: ProvidedService<
  'invoicing',
  InvoicingFields,
  InvoicingCapabilities,
  'document',
  InvoicingDispatch,
  typeof delivery
> = {
  name: 'invoicing',
  summary: 'Creates invoices, e-invoices, quotes and credit notes at an invoicing provider.',
  fields: InvoicingFields,
  topLevelFields: ['documentType', 'sendByEmail'],
  required: ['documentType'],
  template: { channel: 'pages' },
  content: 'document',
  encloses: ({ attachments = [] }) => attachments.map((attachment, index) => ({ field: 'attachments', index, ...attachment })),
  mails: ({ sendByEmail }, data) => {
    const address = sendByEmail === true ? textOf(data, '/customer/email') : undefined
    return address === undefined ? [] : [{ address, field: 'sendByEmail' }]
  },

  electronicAddress (fields, data) {
    const place = '/customer/electronicAddress'
    const [scheme, id, format] = [textOf(data, `${place}/scheme`), textOf(data, `${place}/id`), formatOf(fields)]
    if (format === undefined || scheme === undefined || id === undefined) return undefined
    const isForPeppol = profileOf({ ...termsTold(fields), ...data }, format) === 'PEPPOL'
    return { scheme, id, place, ...(isForPeppol && { network: 'peppol' }) }
  },

  chain: { produces: 'document' },
  capabilities: InvoicingCapabilities,
  price: 1,
  revocable: true,
  vocabulary: 'invoice',
  choices: { documentTypes: 'documentType' },
  console,
  delivery,
  outline,

  check (subject) {
    const { problems = [], warnings = [] } = subject.template.vocabulary === 'invoice' ? checkVocabulary(subject) : {}
    const electronic = formatOf(subject.fields) === undefined ? checkPlain(subject) : checkElectronic(subject)
    return {
      problems: [...electronic.problems, ...checkProvider(subject), ...checkMailed(subject), ...problems],
      warnings: [...checkTemplateType(subject), ...warnings, ...electronic.warnings]
    }
  },

  format: {
    field: 'eInvoiceFormat',
    of (fields) {
      const format = formatOf(fields)
      return format === undefined ? usualFormats.document : files[format]
    }
  },

  shared: terms,
  tells: termsTold,
  follows: { field: 'from', repeated: repeatedOf },
  says: sayingsOf(formatOf, termsTold),

  request ({ attachments: _, ...invoicing }, { data, document, metadata, attachments = [] }) {
    const [eInvoiceFormat, dueDate] = [formatOf(invoicing), dayOf(invoicing.dueDate)]
    return {
      invoicing: {
        ...invoicing,
        ...(dueDate === undefined ? {} : { dueDate }),
        ...(eInvoiceFormat === undefined
          ? {}
          : { eInvoiceFormat, eInvoiceProfile: profileOf({ ...termsTold(invoicing), ...data }, eInvoiceFormat) })
      },
      data,
      document,
      ...(attachments.length === 0 ? {} : { attachments }),
      metadata
    }
  },

  example: {},

  aboutMoney: true,

  facts ({ documentType }, data) {
    return { documentType, ...textAt(data, '/number', 'documentNumber'), ...textAt(data, '/customer/name', 'recipient') }
  }
}

function areDifferent (one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && spaced(one) !== spaced(other)
}

function termsTold ({ dueDate, paymentTerms, eInvoiceProfile }: InvoicingFields): JsonObject {
  const due = dayOf(dueDate)
  return {
    ...(due === undefined ? {} : { dueDate: due }),
    ...(paymentTerms === undefined ? {} : { paymentTerms }),
    ...(eInvoiceProfile === undefined ? {} : { eInvoiceProfile })
  }
}

type InvoicingSubject = CheckInput<InvoicingFields, InvoicingCapabilities>

/** What the service's own fields say together with the words of an invoice. */
function checkVocabulary ({ fields, at: where, data, today }: InvoicingSubject): Findings {
  const due = checkDueDate(fields.dueDate, where('dueDate'), { data, today })
  const { problems = [], ...findings } = formatOf(fields) === undefined ? due : { warnings: asWarnings(due) }
  const isMailed = fields.sendByEmail !== true || at(data, '/customer/email') !== undefined
  return {
    ...findings,
    problems: isMailed ? problems : [
      ...problems,
      {
        path: '/template/data/customer/email',
        code: 'required',
        message: 'The customer needs an e-mail address, because sendByEmail is true.'
      }
    ]
  }
}

/** The format of the e-invoice, unless it is another kind of document. */
function formatOf ({ documentType, eInvoiceFormat = 'FACTUR_X' }: InvoicingFields): EInvoiceFormat | undefined {
  return documentType === 'E_INVOICE' ? eInvoiceFormat : undefined
}

type Found = Required<Pick<Findings, 'problems' | 'warnings'>>

function checkPlain ({ fields: { documentType, ...fields }, at }: InvoicingSubject): Found {
  const given = ([['eInvoiceFormat', 'format'], ['eInvoiceProfile', 'profile']] as const).filter(([name]) => fields[name] !== undefined)
  return {
    problems: given.map(([name, meaning]) => ({
      path: at(name),
      code: 'not_supported',
      message: `Only documents of type E_INVOICE have an e-invoice ${meaning}; this is ${documentType}.`
    })),
    warnings: []
  }
}

/** The rules of e-invoices, on data that use the words of an invoice. */
function checkElectronic ({ fields, data, template, provider, at }: InvoicingSubject): Found {
  const format = formatOf(fields)
  if (format === undefined) return { problems: [], warnings: [] }
  if (template.vocabulary !== 'invoice') {
    return {
      problems: [{
        path: at('documentType'),
        code: 'not_supported',
        message: 'E-invoices are made of the vocabulary of invoices, which this template does not use.'
      }],
      warnings: []
    }
  }
  const reported = checkEInvoice({ ...termsTold(fields), ...data }, {
    format,
    currency: currencyOf(template.currency),
    rules: provider?.capabilities.eInvoiceRules
  }, '/template/data')
  if (fields.eInvoiceProfile === undefined) return reported
  // What the request says itself is put right where it says so.
  const placed = (problem: Problem): Problem =>
    problem.path === '/template/data/eInvoiceProfile' ? { ...problem, path: at('eInvoiceProfile') } : problem
  return { problems: reported.problems.map(placed), warnings: reported.warnings }
}

function checkTemplateType ({ fields, template, at }: InvoicingSubject): Problem[] {
  if (template.documentType === undefined || template.documentType === fields.documentType) return []
  return [{
    path: at('documentType'),
    code: 'other_document_type',
    message: `The template is made for ${template.documentType}, the request says ${fields.documentType}.`
  }]
}

function checkProvider ({ fields, data, provider, at: where, enclosed = [] }: InvoicingSubject): Problem[] {
  if (provider === undefined) return []
  const { code, capabilities } = provider
  const { attachments = { most: 0 } } = capabilities
  const missing = (capabilities.requires ?? []).filter((required) => at(data, required) === undefined)
  return [
    ...checkSupported(provider, where('documentType'), fields.documentType, capabilities.documentTypes),
    ...checkSupported(provider, where('eInvoiceFormat'), formatOf(fields), capabilities.eInvoiceFormats),
    ...checkOffered(provider, where('sendByEmail'), fields.sendByEmail, mails(capabilities, fields.documentType),
      `send ${fields.documentType} documents by e-mail`),
    ...checkEnclosed(enclosed, where, provider, attachments),
    ...missing.map((required) => ({
      path: `/template/data${required}`,
      code: 'required_by_provider',
      message: `The provider "${code}" requires this field.`
    }))
  ]
}

/** Who gets the e-mail of the chain would get two. */
function checkMailed ({ fields, at: where, otherServices: beside }: InvoicingSubject): Problem[] {
  if (fields.sendByEmail !== true || !beside.includes('email')) return []
  return [{
    path: where('sendByEmail'),
    code: 'mailed_twice',
    message: 'The provider and the step "email" would both send an e-mail: leave out one of the two.'
  }]
}

function mails ({ sendByEmail = false }: InvoicingCapabilities, documentType: DocumentType): boolean {
  return typeof sendByEmail === 'boolean' ? sendByEmail : sendByEmail.includes(documentType)
}
