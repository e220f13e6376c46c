/** Vendors with a description: the folder of the provider, and hosts that serve the same paths beside those of the description. */
export const described: Readonly<Record<string, { place: string, hosts?: readonly string[] }>> = {
  lob: { place: 'lob' },
  stripe: { place: 'stripe', hosts: ['files.stripe.com'] },
  twilio: { place: 'twilio' },
  docusign: { place: 'docusign', hosts: ['eu.docusign.net'] },
  resend: { place: 'community/resend' },
  brevo: { place: 'community/brevo' },
  xero: { place: 'community/xero' },
  sendgrid: { place: 'community/sendgrid', hosts: ['api.eu.sendgrid.com'] },
  'amazon-ses': { place: 'community/ses' },
  'amazon-sns': { place: 'community/sns' },
  dropbox: { place: 'community/dropbox' },
  'dropbox-sign': { place: 'community/dropbox-sign' }
}

const text = (maxLength: number): object => ({ type: 'string', maxLength })
const upTo = (maximum: number): object => ({ type: 'integer', minimum: 1, maximum })
const inQuery = (name: string, schema: object): object => ({ name, in: 'query', schema })

const form = 'application/x-www-form-urlencoded'
const docusignAccounts = ['account', 'account-d'].map((name) => ({ url: `https://${name}.docusign.com` }))

/** What the fixtures put beside an invoice. */
const attached = ['application/pdf', 'text/csv', 'image/png', 'text/plain']

const previewedLine = {
  type: 'object',
  properties: {
    type: { enum: ['custom_line_item', 'invoice_line_item'] },
    description: text(5000),
    quantity: { type: 'integer' },
    unit_amount_decimal: { type: 'string' },
    tax_rates: { type: 'array', items: text(5000) }
  },
  required: ['type'],
  additionalProperties: false
}

/**
 * Operations that a vendor has, and the trimmed copy of its description leaves out: paths as in OpenAPI, from the vendor's own reference.
 * Stripe: https://docs.stripe.com/api/invoices/delete, /customers/list, /quotes/cancel, /credit_notes/preview.
 * Xero: https://developer.xero.com/documentation/api/accounting/invoices#post-invoices, /contacts, /attachments, /guides/oauth2/tenants.
 * Docusign: https://developers.docusign.com/docs/esign-rest-api/reference/envelopes/documents/update/, /envelopes/recipients/create/,
 * /reference/folders/folders/moveenvelopes/, /reference/accounts/identityverifications/list/, /platform/auth/jwt-get-token/.
 */
export const leftOut: Readonly<Record<string, object>> = {
  stripe: {
    '/v1/invoices/{invoice}': { delete: deletion('DeleteInvoicesInvoice', 'invoice') },
    '/v1/customers': { get: { operationId: 'GetCustomers', parameters: [inQuery('email', text(512)), inQuery('limit', upTo(100))] } },
    '/v1/credit_notes/preview': {
      get: {
        operationId: 'GetCreditNotesPreview',
        parameters: [
          inQuery('invoice', text(5000)),
          ...['effective_at', 'out_of_band_amount'].map((name) => inQuery(name, { type: 'integer' })),
          inQuery('lines', { type: 'array', items: previewedLine })
        ]
      }
    },
    '/v1/quotes/{quote}/cancel': {
      post: {
        ...deletion('PostQuotesQuoteCancel', 'quote'),
        parameters: [inPath('quote'), { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } }]
      }
    }
  },
  docusign: {
    '/v2.1/accounts/{accountId}/envelopes/{envelopeId}/documents/{documentId}': {
      put: {
        operationId: 'Documents_PutDocument',
        parameters: [
          ...['accountId', 'envelopeId', 'documentId'].map(inPath),
          { name: 'Content-Disposition', in: 'header', required: true, schema: { type: 'string', pattern: '^file; filename="[ -~]+";' } }
        ],
        requestBody: { required: true, content: { 'application/pdf': { schema: {} } } }
      }
    },
    '/v2.1/accounts/{accountId}/envelopes/{envelopeId}/recipients': {
      post: {
        operationId: 'Recipients_PostRecipients',
        parameters: ['accountId', 'envelopeId'].map(inPath),
        requestBody: jsonBody({ $ref: '#/components/schemas/recipientsRequest' })
      }
    },
    '/v2.1/accounts/{accountId}/folders/recyclebin': {
      put: {
        operationId: 'Folders_PutFolderById',
        parameters: [inPath('accountId')],
        requestBody: jsonBody({ type: 'object', properties: { envelopeIds: { type: 'array', items: { type: 'string' } } } })
      }
    },
    '/v2.1/accounts/{accountId}/identity_verification': {
      get: { operationId: 'AccountIdentityVerification_GetAccountIdentityVerification', parameters: [inPath('accountId')] }
    },
    '/oauth/token': { servers: docusignAccounts, post: { operationId: 'token', requestBody: { content: { [form]: { schema: {} } } } } },
    '/oauth/userinfo': { servers: docusignAccounts, get: { operationId: 'userinfo' } }
  },
  xero: {
    '/Invoices/{InvoiceID}': {
      post: {
        operationId: 'updateInvoice',
        parameters: ['requiredHeader', 'InvoiceID', 'summarizeErrors', 'unitdp', 'idempotencyKey'].map((name) => ({
          $ref: `#/components/parameters/${name}`
        })),
        requestBody: jsonBody({ $ref: '#/components/schemas/Invoices' })
      }
    },
    '/Invoices/{InvoiceID}/Attachments/{FileName}': {
      put: {
        operationId: 'createInvoiceAttachmentByFileName',
        parameters: [
          ...['requiredHeader', 'InvoiceID'].map((name) => ({ $ref: `#/components/parameters/${name}` })),
          inPath('FileName'),
          inQuery('IncludeOnline', { type: 'boolean' })
        ],
        requestBody: { required: true, content: Object.fromEntries(attached.map((type) => [type, { schema: {} }])) }
      }
    },
    '/Contacts': {
      parameters: [{ $ref: '#/components/parameters/requiredHeader' }],
      get: {
        operationId: 'getContacts',
        parameters: ['where', 'searchTerm'].map((name) => inQuery(name, { type: 'string', minLength: 1 }))
      },
      put: {
        operationId: 'createContacts',
        parameters: ['summarizeErrors', 'idempotencyKey'].map((name) => ({ $ref: `#/components/parameters/${name}` })),
        requestBody: jsonBody({
          type: 'object',
          properties: { Contacts: { type: 'array', items: { $ref: '#/components/schemas/Contact' } } },
          required: ['Contacts']
        })
      }
    },
    '/connections': { servers: [{ url: 'https://api.xero.com' }], get: { operationId: 'getConnections' } }
  }
}

function deletion (operationId: string, name: string): object {
  return {
    operationId,
    parameters: [inPath(name)],
    requestBody: {
      content: { [form]: { schema: { type: 'object', properties: {}, additionalProperties: false } } }
    }
  }
}

function inPath (name: string): object {
  return { name, in: 'path', required: true, schema: { type: 'string', maxLength: 5000 } }
}

function jsonBody (schema: object): object {
  return { required: true, content: { 'application/json': { schema } } }
}
