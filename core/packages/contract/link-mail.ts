import { Line } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { ProviderCode, Timestamp } from './common.ts'

const closed = { additionalProperties: false } as const

/** The languages of the mails of the service itself. */
export const MailLanguage = Type.Enum(['en', 'fr'], { title: 'MailLanguage', description: 'The language of the mail.' })
export type MailLanguage = Static<typeof MailLanguage>

/** The body with which an operator says who mails links. */
export const LinkMailBody = Type.Object({ providerName: ProviderCode, from: Line(400, { examples: ['Accounts <accounts@example.com>'] }) },
  { ...closed, title: 'LinkMailChanges' })
export type LinkMailBody = Static<typeof LinkMailBody>

const Sender = Type.Object({
  ...LinkMailBody.properties,
  company: Type.Integer({ description: 'The company whose provider it is: mails are its dispatches.' }),
  setBy: Type.Integer({ description: 'The operator as whom mails are dispatched.' }),
  setAt: Timestamp
}, { title: 'LinkMailSettings' })

export const LinkMailView = Type.Object({
  available: Type.Boolean({ description: 'The service mails one-time links.' }),
  current: Type.Union([Sender, Type.Null()], {
    description: 'Who mails them, for operators; null: nobody, or the reader is none. It is out of use where "available" is false.'
  })
}, { title: 'LinkMail' })
export type LinkMailView = Static<typeof LinkMailView>
