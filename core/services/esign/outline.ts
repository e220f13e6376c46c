import type { Outline } from '../outline.ts'

const signers = [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }]
const places = [{ signer: 1, page: 1, x: 72, y: 680, width: 200, height: 60 }]

export const outline: Outline = {
  capabilities: ['signatureTypes: [\'SIMPLE\']'],
  path: '/v1/transactions',
  body: 'multipart',
  request: { esign: { signers }, signatures: places },
  filled: '{ asked: { json: { ...request.esign, places: request.signatures } }, file: request.document }',
  sends: { asked: { json: { signatureType: 'SIMPLE', expiresInDays: 30, signers, places } }, file: { document: '/document' } },
  events: { 'transaction.started': 'started', 'transaction.completed': 'completed' }
}
