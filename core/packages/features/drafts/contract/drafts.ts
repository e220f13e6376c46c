import { Uuid } from '@dispatch/common'
import { AnyJsonObject, Timestamp } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

const fields = {
  service: Type.String({
    pattern: '^[a-z]+(/[a-z]+){0,6}$',
    maxLength: 100,
    description: 'The service, or the services of a chain, as they stand in the path of a dispatch.',
    examples: ['invoicing/email']
  }),
  request: Type.Unsafe<Static<typeof AnyJsonObject>>({
    ...AnyJsonObject,
    description: 'The body of the request as far as it is written. It is checked when it is validated or sent, not when it is stored.'
  }),
  sandbox: Type.Optional(Type.Boolean({ description: 'Whether it is meant for the test environment of its provider. Absent: no.' })),
  shared: Type.Optional(Type.Boolean({
    description: 'Whether everybody of the company may read it; otherwise its author alone. Absent: as it is, at first not shared.'
  })),
  dispatchId: Type.Optional(Type.Union([Uuid, Type.Null()], {
    description: 'The dispatch that it was sent as; one that the company does not have counts as none. Absent: as it is.'
  }))
}

export const DraftBody = Type.Object(fields, { additionalProperties: false })
export type DraftBody = Static<typeof DraftBody>

export const DraftView = Type.Object({
  id: Uuid,
  ...fields,
  sandbox: Type.Boolean(),
  shared: Type.Boolean(),
  dispatchId: Type.Union([Uuid, Type.Null()]),
  idempotencyKey: Type.String({
    description: 'The Idempotency-Key to send the draft with. Who sends it again with the same request gets the answer to the first one.'
  }),
  userId: Type.Integer({ description: 'Its author.' }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}, { title: 'Draft' })
export type DraftView = Static<typeof DraftView>

/** Which drafts are listed. */
export const DraftQuery = Type.Object({
  sandbox: Type.Optional(Type.Boolean({ description: 'Only those that are meant for test environments, or none; since version 1.1.0.' }))
}, { additionalProperties: false })

const Said = Type.Union([Type.String({ maxLength: 200 }), Type.Null()])

/** A draft in a list, with what distinguishes it from others. */
export const DraftSummary = Type.Object({
  ...Type.Omit(DraftView, ['request']).properties,
  recipient: Type.Unsafe<string | null>({
    ...Said,
    description: 'Who would get it, as far as it says; null in one of more than 64 KB, and where it cannot be opened now.'
  }),
  subject: Type.Unsafe<string | null>({
    ...Said,
    description: 'The subject of its mail, or the number of its document, as far as it says.'
  }),
  template: Type.Union([Type.Object({ id: Type.Integer(), name: Type.String() }), Type.Null()], {
    description: 'The template that it names, as far as the company may use it.'
  })
}, { title: 'DraftSummary' })
export type DraftSummary = Static<typeof DraftSummary>
