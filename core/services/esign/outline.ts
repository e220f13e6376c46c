import type { Outline } from '../outline.ts'

export const outline: Outline = {
  capabilities: ['signatureTypes: [\'SIMPLE\']'],
  path: '/v1/transactions',
  body: 'multipart',
  request: { esign: { signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }] } },
  filled: '{ signer: request.esign.signers.map(({ email }) => email), file: request.document }',
  sends: { signer: 'ada@example.com', file: { document: '/document' } },
  events: { 'transaction.started': 'started', 'transaction.completed': 'completed' }
}
