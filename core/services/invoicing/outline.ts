import type { Outline } from '../outline.ts'

export const outline: Outline = {
  capabilities: ['documentTypes: [\'INVOICE\']', 'requires: [\'/number\']'],
  path: '/v1/invoices',
  body: 'multipart',
  request: { invoicing: { documentType: 'INVOICE' }, data: { number: 'F-1' } },
  filled: '{ number: String(request.data[\'number\']), file: request.document }',
  sends: { number: 'F-1', file: { document: '/document' } }
}
