import { type Static, Type } from 'typebox'

/** A recipient whom a mail server refuses, permanently or temporarily, and why. `code` is the SMTP reply code of the server. */
export const TurnedAway = Type.Object({
  address: Type.String({ maxLength: 500 }),
  code: Type.Optional(Type.Integer({ description: 'The SMTP reply code: 4xx temporary, 5xx permanent.' })),
  message: Type.String({ maxLength: 1000 })
}, { title: 'TurnedAwayRecipient' })
export type TurnedAway = Static<typeof TurnedAway>
