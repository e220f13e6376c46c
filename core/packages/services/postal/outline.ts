import { documentValue, type Outline } from '../outline.ts'

const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }

const addressee = [
  { names: 'name|fullname|recipientname', code: 'request.postal.recipient.name', value: recipient.name },
  { names: 'company|companyname|organization', code: 'request.postal.recipient.company', value: undefined },
  { names: 'addressline1|line1|street|address|address1|street1', code: 'request.postal.recipient.address', value: recipient.address },
  { names: 'addresscity|city|town', code: 'request.postal.recipient.city', value: recipient.city },
  {
    names: 'addresszip|zip|zipcode|postalcode|postcode|addresspostalcode',
    code: 'request.postal.recipient.postalCode',
    value: recipient.postalCode
  },
  { names: 'addresscountry|country|countrycode', code: 'request.postal.recipient.country', value: recipient.country },
  { names: 'addressstate|state|province|region', code: 'request.postal.recipient.state', value: undefined }
]

export const outline: Outline = {
  capabilities: ['mailTypes: [\'SIMPLE\']'],
  path: '/v1/letters',
  body: 'multipart',
  request: { postal: { recipient } },
  filled: '{ to: { json: request.postal.recipient }, file: request.document }',
  sends: { to: { json: recipient }, file: { document: '/document' } },
  verbs: 'letter|post|mail',
  means: [
    { names: 'to|recipient|recipientaddress|address|toaddress', code: 'request.postal.recipient', value: recipient, fields: addressee },
    { names: 'file|pdf|document|content|attachment', code: 'request.document', value: documentValue },
    { names: 'filename|documentname', code: 'request.document.filename', value: 'document.pdf' },
    { names: 'color|colour|incolor', code: 'request.postal.color', value: false },
    { names: 'doublesided|duplex|bothsides', code: 'request.postal.duplex', value: false },
    ...addressee
  ],
  events: { 'letter.mailed': 'mailed', 'letter.delivered': 'delivered' }
}
