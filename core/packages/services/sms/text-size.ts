import { type Static, Type } from 'typebox'

/**
 * A text message as networks count it. `unicode` says why it is not in GSM-7: its first such character, where it stands (counted in
 * characters from 1), and how many segments the text would have with one of the alphabet in the place of each.
 */
export const SmsText = Type.Object({
  encoding: Type.Enum(['GSM-7', 'UCS-2']),
  units: Type.Integer({ minimum: 0, description: 'Septets in GSM-7, UTF-16 units in UCS-2.' }),
  segments: Type.Integer({ minimum: 1, description: 'The parts that it is sent in, each of which is charged.' }),
  unicode: Type.Optional(Type.Object({
    character: Type.String({ description: 'The first character that GSM-7 does not have.', examples: ['’'] }),
    position: Type.Integer({ minimum: 1, description: 'Where it stands: 1 is the first character.' }),
    segmentsWithout: Type.Integer({ minimum: 1, description: 'The segments if all such characters were of GSM-7.' })
  }, { description: 'Why the text is not in GSM-7.' }))
}, { title: 'SmsText', description: 'How networks count the text.' })
export type SmsText = Static<typeof SmsText>
