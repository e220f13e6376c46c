import type { JsonObject } from '@dispatch/common'
import { isObject, type SettingsForm } from '../form/schema.ts'
import { sampleOf } from './samples.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const texts = { type: 'array', items: text } as const
/** Of several lines. */
const longText = { ...text, maxLength: 100_000 } as const

const address = {
  type: 'object',
  required: ['name', 'address', 'city', 'country'],
  properties: { name: text, company: text, address: longText, postalCode: text, city: text, state: text, country: text }
} as const

const signer = {
  type: 'object',
  required: ['email', 'firstName', 'lastName'],
  properties: { email: text, firstName: text, lastName: text, phoneNumber: text }
} as const

/** What each service needs besides a template: the fields of its object in a request. */
export const serviceForms: Readonly<Record<string, SettingsForm>> = {
  invoicing: {
    required: ['documentType'],
    properties: {
      documentType: { enum: ['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT'] },
      eInvoiceFormat: { enum: ['FACTUR_X', 'UBL', 'CII'] },
      sendByEmail: flag,
      dueDate: text,
      paymentTerms: text,
      customerId: text,
      reference: text
    }
  },
  esign: {
    required: ['signers'],
    properties: {
      signers: { type: 'array', items: signer, 'x-rows': true },
      signatureType: { enum: ['SIMPLE', 'ADVANCED', 'QUALIFIED'] },
      expiresInDays: { type: 'integer' },
      locale: text
    }
  },
  postal: {
    required: ['recipient'],
    properties: { recipient: address, mailType: { enum: ['SIMPLE', 'REGISTERED'] }, color: flag, duplex: flag }
  },
  sms: { required: ['phoneNumber'], properties: { phoneNumber: text, sender: text } },
  email: {
    required: ['from', 'to', 'subject'],
    properties: { from: text, to: texts, cc: texts, bcc: texts, replyTo: text, subject: text, attachGenerated: flag }
  },
  file: { properties: { outputFormat: { enum: ['PDF', 'DOCX', 'XLSX'] }, filename: text } }
}

/** What may follow in a chain, and needs besides: it sends a text of its own, and the document of the first one. */
export const followingForms: Readonly<Record<string, SettingsForm>> = {
  ...serviceForms,
  sms: { required: ['phoneNumber', 'message'], properties: { ...serviceForms['sms']?.properties, message: text } },
  email: { required: ['from', 'to', 'subject', 'body'], properties: { ...serviceForms['email']?.properties, body: longText } }
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
