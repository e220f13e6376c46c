import type { ProvidedName } from '@dispatch/core'

/**
 * The outline of a new provider of a service. `capabilities` are lines of its definition; `path` is a placeholder for the vendor's path;
 * `request` is the dispatch of the fixture; `filled` is the code that makes `sends`, the `body`, from it. `setting` is a required setting
 * of the service: its name, its constructor and a value.
 */
export type Outline = {
  capabilities: readonly string[]
  setting?: { name: string, by: string, value: readonly string[] }
  path: string
  body: 'json' | 'multipart'
  request: object
  filled: string
  sends: object
  /** The vendor's words for the status, and an event. */
  events?: Readonly<Record<string, string>>
}

const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }

export const outlines: Readonly<Record<ProvidedName, Outline>> = {
  invoicing: {
    capabilities: ['documentTypes: [\'INVOICE\']', 'requires: [\'/number\']'],
    path: '/v1/invoices',
    body: 'multipart',
    request: { invoicing: { documentType: 'INVOICE' }, data: { number: 'F-1' } },
    filled: '{ number: String(request.data[\'number\']), file: request.document }',
    sends: { number: 'F-1', file: { document: '/document' } }
  },
  esign: {
    capabilities: ['signatureTypes: [\'SIMPLE\']'],
    path: '/v1/transactions',
    body: 'multipart',
    request: { esign: { signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }] } },
    filled: '{ signer: request.esign.signers.map(({ email }) => email), file: request.document }',
    sends: { signer: 'ada@example.com', file: { document: '/document' } },
    events: { 'transaction.started': 'started', 'transaction.completed': 'completed' }
  },
  postal: {
    capabilities: ['mailTypes: [\'SIMPLE\']'],
    path: '/v1/letters',
    body: 'multipart',
    request: { postal: { recipient } },
    filled: '{ to: { json: request.postal.recipient }, file: request.document }',
    sends: { to: { json: recipient }, file: { document: '/document' } },
    events: { 'letter.mailed': 'mailed', 'letter.delivered': 'delivered' }
  },
  sms: {
    capabilities: [],
    path: '/v1/messages',
    body: 'json',
    request: { sms: { phoneNumber: '+33612345678', message: 'Hello' } },
    filled: '{ to: request.sms.phoneNumber, text: request.sms.message }',
    sends: { to: '+33612345678', text: 'Hello' }
  },
  email: {
    capabilities: [],
    setting: { name: 'allowedSenders', by: 'AllowedSenders', value: ['@example.com'] },
    path: '/v1/mails',
    body: 'json',
    request: { email: { from: 'billing@example.com', to: 'ada@example.org', subject: 'Your invoice', text: 'Here it is.' } },
    filled: '{ from: request.email.from, to: request.email.to, subject: request.email.subject, text: request.email.text }',
    sends: { from: 'billing@example.com', to: ['ada@example.org'], subject: 'Your invoice', text: 'Here it is.' }
  },
  upload: {
    capabilities: [],
    path: '/v1/files',
    body: 'multipart',
    request: { document: { filename: 'report.pdf' } },
    filled: '{ name: request.document.filename, file: request.document }',
    sends: { name: 'report.pdf', file: { document: '/document' } }
  }
}
