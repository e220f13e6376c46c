import type { Outline } from '../outline.ts'

const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }

export const outline: Outline = {
  capabilities: ['mailTypes: [\'SIMPLE\']'],
  path: '/v1/letters',
  body: 'multipart',
  request: { postal: { recipient } },
  filled: '{ to: { json: request.postal.recipient }, file: request.document }',
  sends: { to: { json: recipient }, file: { document: '/document' } },
  events: { 'letter.mailed': 'mailed', 'letter.delivered': 'delivered' }
}
