import { type ConsolePart, documentLines, flag, longText, text, texts } from '../console.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'

const properties = {
  from: text,
  to: texts,
  cc: texts,
  bcc: texts,
  replyTo: text,
  subject: text,
  attachGenerated: flag,
  attachments: documentLines({ filename: text })
}

export const console: ConsolePart = {
  form: { required: ['from', 'to', 'subject'], properties },
  following: { required: ['from', 'to', 'subject', 'body'], properties: { ...properties, body: longText } },
  sample: { email: { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Hello', body: 'Hello, Ada.' } },
  sender: { setting: 'allowedSenders', field: 'from' },
  words: { en, fr }
}
