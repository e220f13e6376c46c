import { TurnedAway } from '@dispatch/common'
import { type Static, type TObject, Type } from 'typebox'

/**
 * What an e-mail provider may report about each recipient. The same message is sent again to the recipients in `waiting`, automatically.
 * The recipients in `uncertain` may have the message. Only the service itself reports those, after a retry; a provider must not.
 */
export const recipientLists = {
  accepted: Type.Optional(
    Type.Array(Type.String({ maxLength: 500 }), { description: 'E-mail: the recipients whose server accepted the message.' })
  ),
  rejected: Type.Optional(
    Type.Array(TurnedAway, {
      description: 'E-mail: the recipients who do not get it.'
    })
  ),
  waiting: Type.Optional(
    Type.Array(TurnedAway, {
      description: 'E-mail: the recipients who were refused temporarily. They are retried automatically.'
    })
  ),
  uncertain: Type.Optional(
    Type.Array(TurnedAway, { description: 'E-mail: the recipients who may have it, because the answer of the server was lost.' })
  )
}
export type RecipientReport = Static<TObject<typeof recipientLists>>

export const sendStatuses = ['sent', 'partially_sent'] as const

/** The status of an e-mail whose provider reports about each recipient. */
export function sendStatus ({ rejected = [], waiting = [], uncertain = [] }: RecipientReport): typeof sendStatuses[number] {
  return rejected.length + waiting.length + uncertain.length === 0 ? 'sent' : 'partially_sent'
}
