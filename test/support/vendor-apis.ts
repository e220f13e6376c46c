/**
 * Operations that a vendor has, and the trimmed copy of its description leaves out: paths as in OpenAPI, from the vendor's own reference.
 * Stripe: https://docs.stripe.com/api/invoices/delete, /customers/delete, /quotes/cancel.
 * Xero: https://developer.xero.com/documentation/api/accounting/invoices#post-invoices, /guides/oauth2/tenants.
 */
export const leftOut: Readonly<Record<string, object>> = {
  stripe: {
    '/v1/invoices/{invoice}': { delete: deletion('DeleteInvoicesInvoice', 'invoice') },
    '/v1/customers/{customer}': { delete: deletion('DeleteCustomersCustomer', 'customer') },
    '/v1/quotes/{quote}/cancel': {
      post: {
        ...deletion('PostQuotesQuoteCancel', 'quote'),
        parameters: [inPath('quote'), { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } }]
      }
    }
  },
  xero: {
    '/Invoices/{InvoiceID}': {
      post: {
        operationId: 'updateInvoice',
        parameters: ['requiredHeader', 'InvoiceID', 'summarizeErrors', 'unitdp', 'idempotencyKey'].map((name) => ({
          $ref: `#/components/parameters/${name}`
        })),
        requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Invoices' } } } }
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
      content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties: {}, additionalProperties: false } } }
    }
  }
}

function inPath (name: string): object {
  return { name, in: 'path', required: true, schema: { type: 'string', maxLength: 5000 } }
}
