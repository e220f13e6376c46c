import { Uuid } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { Timestamp } from './common.ts'

/** A session at the console. */
export const SessionView = Type.Object({
  id: Uuid,
  current: Type.Boolean({ description: 'The request comes from this session.' }),
  address: Type.String({ description: 'The address of the client at the sign-in.' }),
  browser: Type.String({ description: 'How the browser named itself at the sign-in.' }),
  createdAt: Timestamp,
  usedAt: Type.String({ format: 'date-time', description: 'To the minute.' }),
  expiresAt: Type.String({ format: 'date-time', description: 'It ends then in any case; and earlier after an hour without use.' })
}, { title: 'ConsoleSession' })
export type SessionView = Static<typeof SessionView>
