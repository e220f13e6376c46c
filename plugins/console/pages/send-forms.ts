import type { JsonObject } from '@dispatch/common'
import { type FieldSchema, isObject, type SettingsForm } from '../form/schema.ts'
import { sampleOf } from './samples.ts'

type Fields = Readonly<Record<string, FieldSchema>>

const text: FieldSchema = { type: 'string' }
const flag: FieldSchema = { type: 'boolean' }
const texts: FieldSchema = { type: 'array', items: text }
/** Of several lines. */
const longText: FieldSchema = { ...text, maxLength: 100_000 }
const like = (...examples: string[]): FieldSchema => ({ ...text, examples })

const address: FieldSchema = {
  type: 'object',
  required: ['name', 'address', 'city', 'country'],
  properties: worded({ name: text, company: text, address: longText, postalCode: text, city: text, state: text, country: like('FR') })
}

const signer: FieldSchema = {
  type: 'object',
  required: ['email', 'firstName', 'lastName'],
  properties: worded({ email: text, firstName: text, lastName: text, phoneNumber: like('+33612345678') })
}

/** What each service needs besides a template: the fields of its object in a request. */
export const serviceForms: Readonly<Record<string, SettingsForm>> = {
  invoicing: {
    required: ['documentType'],
    properties: worded({
      documentType: { enum: ['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT'] },
      eInvoiceFormat: { enum: ['FACTUR_X', 'UBL', 'CII'] },
      sendByEmail: flag,
      dueDate: like('2026-04-13'),
      paymentTerms: text,
      customerId: text,
      reference: text
    })
  },
  esign: {
    required: ['signers'],
    properties: worded({
      signers: { type: 'array', items: signer, 'x-rows': true },
      signatureType: { enum: ['SIMPLE', 'ADVANCED', 'QUALIFIED'] },
      expiresInDays: { type: 'integer', examples: [30] },
      locale: like('fr')
    })
  },
  postal: {
    required: ['recipient'],
    properties: worded({ recipient: address, mailType: { enum: ['SIMPLE', 'REGISTERED'] }, color: flag, duplex: flag })
  },
  sms: { required: ['phoneNumber'], properties: worded({ phoneNumber: like('+33612345678'), sender: text, transliterate: flag }) },
  email: {
    required: ['from', 'to', 'subject'],
    properties: worded({ from: text, to: texts, cc: texts, bcc: texts, replyTo: text, subject: text, attachGenerated: flag })
  },
  file: { properties: worded({ outputFormat: { enum: ['PDF', 'DOCX', 'XLSX'] }, filename: text }) }
}

/** What may follow in a chain, and needs besides: it sends a text of its own, and the document of the first one. */
export const followingForms: Readonly<Record<string, SettingsForm>> = {
  ...serviceForms,
  sms: { required: ['phoneNumber', 'message'], properties: { ...serviceForms['sms']?.properties, ...worded({ message: text }) } },
  email: {
    required: ['from', 'to', 'subject', 'body'],
    properties: { ...serviceForms['email']?.properties, ...worded({ body: longText }) }
  }
}

/** Fields whose texts are words of the console, by their names. */
function worded (fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, { ...schema, 'x-words': name }]))
}

/** The fields with which the form of a service begins that follows in a chain. */
export function followingOf (service: string): JsonObject {
  const { template: _template, [service]: own, ...lifted } = sampleOf(service)
  return isObject(own) ? own : lifted
}

/** The fields with which the form of a service begins. */
export function beginningOf (service: string, documentType: string | undefined): JsonObject {
  const { template: _template, [service]: own, ...lifted } = sampleOf(service)
  const { body: _body, message: _message, ...fields } = isObject(own) ? own : lifted
  return { ...fields, ...service === 'invoicing' && documentType !== undefined ? { documentType } : {} }
}
