import { createFairSemaphore } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Directories } from '@dispatch/core'
import { eInvoiceFormats } from '@dispatch/einvoice'
import { compileValidator, contentDisposition } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { EInvoiceView, ReadForm, ReadQuery, RecipientQuery, RecipientsView } from '../contract/e-invoices.ts'
import type { InvoiceReader } from '../service/reader.ts'
import { fileIn, fileTypes } from './file.ts'

/** A reading as a client gets it, for the documentation. */
const example: EInvoiceView = {
  format: eInvoiceFormats[0],
  profile: 'EN16931',
  specification: 'urn:cen.eu:en16931:2017',
  embedded: 'factur-x.xml',
  data: {
    number: 'F-1',
    date: '2026-03-14',
    currency: 'EUR',
    seller: { name: 'Acme Tea', country: 'FR', vatId: 'FR39732829320' },
    customer: { name: 'Ada Lovelace Ltd', country: 'ES' },
    lines: [{ id: '1', description: 'Tea', quantity: 2, unit: 'C62', unitPrice: '10.00', taxCategory: 'S', taxRate: 20, total: '20.00' }],
    eInvoiceProfile: 'EN16931'
  },
  totals: {
    subtotal: '20.00',
    allowances: '0.00',
    charges: '0.00',
    taxBase: '20.00',
    taxAmount: '4.00',
    total: '24.00',
    amountDue: '24.00',
    taxes: [{ category: 'S', rate: '20', base: '20.00', amount: '4.00' }]
  },
  problems: [{
    path: '/total',
    code: 'BR-14',
    message: 'An invoice states its total with VAT (BT-112).',
    element: '/rsm:CrossIndustryInvoice',
    line: 2,
    column: 1
  }],
  warnings: [],
  lost: [{ element: '/rsm:CrossIndustryInvoice/rsm:ExchangedDocument/ram:Name', value: 'Invoice', line: 8, column: 5 }],
  lostCount: 1
}

/** Whom a directory knows, for the documentation. */
const recipientsExample: RecipientsView = {
  data: [{
    directory: 'flow',
    result: 'found',
    recipients: [{ scheme: '0225', id: '732829320', name: 'Acme Tea', status: 'active' }],
    at: '2026-03-14T09:30:00.000Z'
  }]
}

const File = { schema: { type: 'string', format: 'binary' } }
const Reading = {
  description: 'The invoice, or with `format` a page of it.',
  content: {
    'application/json': { schema: { ...EInvoiceView, examples: [example] } },
    'text/html': File,
    'application/pdf': File
  }
}

type Needs = { invoiceReader: InvoiceReader, directories: Directories }

/** E-invoices that a company has from others, and where others receive theirs. */
export const eInvoiceRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { invoiceReader, directories }, done) => {
  /** A file is in memory while it is read: so few are at once. */
  const receiving = createFairSemaphore({
    total: 4,
    perOwner: 1,
    waiting: 20,
    full: () =>
      new DispatchError('rate_limited', 'Other e-invoices of the company are being read: try again in a few seconds.', {
        retryAfter: 5
      })
  })

  // The handler reads the body.
  app.addContentTypeParser([...fileTypes, 'multipart/form-data'], (_request, _body, parsed) => {
    parsed(null)
  })

  app.post<{ Querystring: ReadQuery }>('/api/v1/e-invoices/read', {
    config: {
      errors: ['validation_error', 'validation_failed', 'payload_too_large', 'unsupported_media_type', 'provider_unavailable'],
      limit: 'dispatch',
      readsBitByBit: true
    },
    schema: {
      operationId: 'readEInvoice',
      tags: ['Documents'],
      summary: 'Reads an e-invoice: UBL, CII, or a PDF with one inside (Factur-X, ZUGFeRD, XRechnung), of 25 MiB at most.',
      description:
        'Answers its data in the words of the template of e-invoices, its profile, its sums computed again, every rule that it ' +
        'breaks with the place in the data and in the file, and what the data do not carry. Nothing is stored, and nothing is fetched: a ' +
        'document type, entities, an encrypted PDF, and what takes too long to read are refused.',
      consumes: [...fileTypes, 'multipart/form-data'],
      querystring: ReadQuery,
      body: ReadForm,
      response: { 200: Reading }
    },
    validatorCompiler: (part) => part.httpPart === 'querystring' ? compileValidator(part) : (value: unknown) => ({ value })
  }, async (request, reply) => {
    const { actor: { companyId }, query: { format = 'json', language } } = request
    return receiving.run(companyId, async () => {
      const invoice = await invoiceReader.read(companyId, await fileIn(request))
      if (format === 'json') return invoice
      const page = await invoiceReader.show(companyId, invoice, { format, ...(language !== undefined && { language }) })
      // It holds what a stranger has written, so a browser must not run any of it.
      return reply.headers({
        'content-type': page.contentType,
        'content-disposition': contentDisposition(`e-invoice.${page.extension}`),
        'content-security-policy': 'default-src \'none\'; img-src data:; style-src \'unsafe-inline\'; sandbox',
        'cache-control': 'private, no-store'
      }).send(Buffer.from(page.bytes.buffer, page.bytes.byteOffset, page.bytes.byteLength))
    })
  })

  app.get<{ Querystring: RecipientQuery }>('/api/v1/e-invoices/recipients', {
    config: { errors: ['validation_error'], limit: 'dispatch' },
    schema: {
      operationId: 'findEInvoiceRecipients',
      tags: ['Documents'],
      summary: 'Who receives e-invoices, and at which addresses, as the directories of the company\'s providers have it.',
      description:
        'Asks the directory of each configured provider that has one, and Peppol where the operator has set that up, for 10 seconds at ' +
        'most. An answer is kept for ten minutes, and a directory that did not answer is left alone for 30 seconds. A validation asks ' +
        'that of its provider, and warns of a customer whom it does not know (`unknown_recipient`), or who receives nothing any more ' +
        '(`inactive_recipient`). A test key asks test environments alone.',
      querystring: RecipientQuery,
      response: { 200: { ...RecipientsView, examples: [recipientsExample] } }
    }
  }, async (request): Promise<RecipientsView> => {
    const { actor: { companyId, userId, key }, query } = request
    const answers = await directories.ask({ companyId, userId, test: key?.mode === 'test' }, query)
    return {
      data: answers.map(({ directory, at, said }) => ({
        directory,
        result: said.result,
        recipients: said.result === 'found' ? said.recipients : [],
        ...(said.result === 'cannot_be_asked' && { message: said.message }),
        at: at.toISOString()
      }))
    }
  })
  done()
}
