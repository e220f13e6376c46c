import { documentValue, type Outline } from '../outline.ts'

const signers = [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }]
const places = [{ signer: 1, page: 1, x: 72, y: 680, width: 200, height: 60 }]

export const outline: Outline = {
  capabilities: ['signatureTypes: [\'SIMPLE\']'],
  path: '/v1/transactions',
  body: 'multipart',
  request: { esign: { signers }, signatures: places },
  filled: '{ asked: { json: { ...request.esign, places: request.signatures } }, file: request.document }',
  sends: { asked: { json: { signatureType: 'SIMPLE', expiresInDays: 30, signers, places } }, file: { document: '/document' } },
  verbs: 'signature|sign|envelope|document|agreement',
  means: [
    {
      names: 'signers|recipients|signatories|participants',
      code: 'request.esign.signers',
      value: signers,
      each: 'signer',
      fields: [
        { names: 'emailaddress|email', code: 'signer.email', value: 'ada@example.com' },
        { names: 'name|fullname', code: '`${signer.firstName} ${signer.lastName}`', value: 'Ada Lovelace' },
        { names: 'firstname|givenname', code: 'signer.firstName', value: 'Ada' },
        { names: 'lastname|familyname|surname', code: 'signer.lastName', value: 'Lovelace' }
      ]
    },
    { names: 'files|documents', code: '[request.document]', value: [documentValue] },
    { names: 'file|document|pdf|content|documentbase64', code: 'request.document', value: documentValue },
    { names: 'title|subject|name|emailsubject|filename', code: 'request.document.filename', value: 'document.pdf' }
  ],
  events: { 'transaction.started': 'started', 'transaction.completed': 'completed' }
}
