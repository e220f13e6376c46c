import { type Static, type TObject, Type } from 'typebox'

/** A recipient whom a mail server refuses, permanently or temporarily, and why. `code` is the SMTP reply code of the server. */
export const TurnedAway = Type.Object({
  address: Type.String({ maxLength: 500 }),
  code: Type.Optional(Type.Integer({ description: 'Of SMTP: 4xx for now, 5xx for good.' })),
  message: Type.String({ maxLength: 1000 })
}, { title: 'TurnedAwayRecipient' })
export type TurnedAway = Static<typeof TurnedAway>

/**
 * What an e-mail provider may report about each recipient. The same message is sent again to the recipients in `waiting`, automatically.
 * The recipients in `uncertain` may have the message. Only the service itself reports those, after a retry; a provider must not.
 */
export const recipientLists = {
  accepted: Type.Optional(Type.Array(Type.String({ maxLength: 500 }), { description: 'Of an e-mail: whose server took it.' })),
  rejected: Type.Optional(
    Type.Array(TurnedAway, { description: 'Of an e-mail: who does not get it, refused for good or put off too often.' })
  ),
  waiting: Type.Optional(
    Type.Array(TurnedAway, { description: 'Of an e-mail: who was put off. They are sent to again by themselves, and nobody else.' })
  ),
  uncertain: Type.Optional(
    Type.Array(TurnedAway, { description: 'Of an e-mail: who may have it, because the answer of the server was lost.' })
  )
}
export type RecipientReport = Static<TObject<typeof recipientLists>>

export const sendStatuses = ['sent', 'partially_sent'] as const

/** The status of an e-mail whose provider reports about each recipient. */
export function sendStatus ({ rejected = [], waiting = [], uncertain = [] }: RecipientReport): typeof sendStatuses[number] {
  return rejected.length + waiting.length + uncertain.length === 0 ? 'sent' : 'partially_sent'
}
