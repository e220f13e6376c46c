import { type Static, Type } from 'typebox'
import { Timestamp } from './common.ts'

/** A change of which somebody is told. */
export const NoticeView = Type.Object({
  id: Type.String(),
  at: Timestamp,
  action: Type.String({ description: 'What was done, in the words of the audit log.', examples: ['key.created'] }),
  own: Type.Boolean({ description: 'The user has done it; false: an admin, or somebody who acted as the user.' }),
  address: Type.Optional(Type.String({ description: 'From where, if the user has done it.' }))
}, { title: 'Notice' })
export type NoticeView = Static<typeof NoticeView>
