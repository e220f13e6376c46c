import { documentValue, type Outline } from '../outline.ts'

export const outline: Outline = {
  capabilities: ['documentTypes: [\'INVOICE\']', 'requires: [\'/number\']'],
  path: '/v1/invoices',
  body: 'multipart',
  request: { invoicing: { documentType: 'INVOICE' }, data: { number: 'F-1' } },
  filled: '{ asked: { json: request.invoicing }, number: String(request.data[\'number\']), file: request.document }',
  sends: { asked: { json: { documentType: 'INVOICE' } }, number: 'F-1', file: { document: '/document' } },
  verbs: 'invoice|document|bill',
  means: [
    { names: 'number|invoicenumber|reference|documentnumber', code: 'String(request.data[\'number\'])', value: 'F-1' },
    { names: 'file|pdf|document|attachment', code: 'request.document', value: documentValue },
    { names: 'filename', code: 'request.document.filename', value: 'document.pdf' }
  ]
}
