import { Line, Uuid } from '@dispatch/common'
import { all, serviceNames } from '@dispatch/services'
import { type Static, Type } from 'typebox'
import { Timestamp } from './common.ts'
import { keyModes, keyScopes } from './key-scopes.ts'

const closed = { additionalProperties: false } as const
const Mode = Type.Enum([...keyModes], { description: 'test: nothing real happens and nothing is charged.', examples: ['test'] })
const ofServices = 'The services of the key, out of those that its user may use: it sends and configures nothing of others, and reads ' +
  'no dispatches and settings of others. What tells of every service at once, such as the audit log, the log of requests and the ' +
  'callbacks that failed or went to an endpoint, needs a key of every service. Templates hold no data, and all are read'

const opened = 'What the key may be used for; never more than its user may do. ' +
  '`send`: dispatch, validate, retry, cancel. `propose`, for assistants: validate, dispatch with `?sandbox=true`, and propose what a ' +
  'person then sends or not; not together with `send`. `read_own`: read what its user has dispatched, with any key. `read_all`: read ' +
  'what the company has dispatched. `templates`: write templates and pictures. `configuration`: read and change providers and their ' +
  'settings. `callbacks`: read, change and remove endpoints, and send callbacks again; to change anything the key needs every ' +
  'service. `audit`: read the records of changes and requests, users and keys. `platform`: what operators do.'
const scopes = (description: string) =>
  Type.Array(Type.Enum([...keyScopes]), { minItems: 1, uniqueItems: true, description, examples: [['send', 'read_own']] })

/** The body of a new key. */
export const NewKeyBody = Type.Object({
  name: Line(100, { description: 'what it is for, on one line', examples: ['Web shop'] }),
  mode: Mode,
  scopes: Type.Optional(scopes(`${opened} By default \`send\` and \`read_own\`.`)),
  services: Type.Optional(
    Type.Array(Type.Enum([...serviceNames]), {
      minItems: 1,
      uniqueItems: true,
      description: `${ofServices}; by default all of them.`,
      examples: [[all.email.name, all.file.name]]
    })
  ),
  expiresAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'When the key expires; by default never.', examples: ['2099-12-31T23:59:59Z'] })
  ),
  userId: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The user of the key (admins); by default yourself.' })
  )
}, { ...closed, title: 'NewKey' })
export type NewKeyBody = Static<typeof NewKeyBody>

const fields = {
  id: Uuid,
  name: Type.String(),
  mode: Mode,
  userId: Type.Integer(),
  scopes: scopes(opened),
  services: Type.Union([Type.Array(Type.String()), Type.Null()], { description: `${ofServices}; null: all of them.` }),
  prefix: Type.String({ description: 'How it begins.', examples: ['dk_test_4fQz'] }),
  last4: Type.String({ description: 'How it ends.' }),
  createdAt: Timestamp,
  expiresAt: Type.Union([Timestamp, Type.Null()]),
  lastUsedAt: Type.Union([Timestamp, Type.Null()], { description: 'To the minute.' })
}

export const KeyView = Type.Object(fields, { title: 'Key' })
export type KeyView = Static<typeof KeyView>

/** A new key, as only its creator sees it. */
export const NewKeyView = Type.Object({ ...fields, key: Type.String({ description: 'The key itself. It is shown only this once.' }) }, {
  title: 'KeyWithSecret'
})
export type NewKeyView = Static<typeof NewKeyView>

/** The body of an impersonation. */
export const ImpersonationBody = Type.Object({
  userId: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The user to act as.', examples: [2] })
}, { ...closed, title: 'Impersonation' })

/** A filter of the list of keys. */
export const KeyQuery = Type.Object({
  userId: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The keys of one user (admins).' })),
  mode: Type.Optional(Type.Enum(['live', 'test'], { description: 'Only the keys of this mode; since version 1.1.0.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25 })),
  cursor: Type.Optional(Type.String({ format: 'uuid', description: 'the nextCursor of the page before' }))
}, closed)
export type KeyQuery = Static<typeof KeyQuery>
