import { type ConsolePart, flag, type FormField, longText, text, texts } from '../console.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'

/** Files that were uploaded, or the documents of other dispatches, line by line. */
const attachments: FormField = {
  type: 'array',
  'x-rows': true,
  items: { type: 'object', properties: { fileId: text, documentId: text, filename: text } }
}
const properties = { from: text, to: texts, cc: texts, bcc: texts, replyTo: text, subject: text, attachGenerated: flag, attachments }

export const console: ConsolePart = {
  form: { required: ['from', 'to', 'subject'], properties },
  following: { required: ['from', 'to', 'subject', 'body'], properties: { ...properties, body: longText } },
  sample: { email: { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Hello', body: 'Hello, Ada.' } },
  sender: { setting: 'allowedSenders', field: 'from' },
  words: { en, fr }
}
