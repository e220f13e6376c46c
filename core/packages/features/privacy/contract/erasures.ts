import { Line, Uuid } from '@dispatch/common'
import { Timestamp } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

/** What a reference has at least: shorter ones are other things, too. */
export const shortestReference = 4
/** A postal address of 700 characters as the list of suppressions writes it: its normal form may be three times as long (NFKD). */
export const longestReference = 2_100

const identifiers = {
  address: Type.Optional(Line(320, { description: 'An e-mail address.', examples: ['ada@example.com'] })),
  number: Type.Optional(Line(40, { description: 'A phone number in E.164.', examples: ['+33612345678'] })),
  reference: Type.Optional(Line(longestReference, {
    minLength: shortestReference,
    description:
      'What you call the person by: in metadata, in the fields of a request, or in the data of a template, where it is the whole ' +
      'text of a field.',
    examples: ['C-1042']
  }))
}

/** A person, by what is known of them: at least one of these. */
export const PersonBody = Type.Object(identifiers, {
  title: 'Person',
  additionalProperties: false,
  examples: [{ address: 'ada@example.com', reference: 'C-1042' }]
})
export type PersonBody = Static<typeof PersonBody>

export const ErasureBody = Type.Object({
  ...identifiers,
  countFirst: Type.Optional(Type.Boolean({
    default: false,
    description: 'Only counts what there is; nothing is erased before `POST …/begin`, for which there is a day.'
  }))
}, {
  title: 'NewErasure',
  additionalProperties: false,
  examples: [{ address: 'ada@example.com', reference: 'C-1042', countFirst: true }]
})
export type ErasureBody = Static<typeof ErasureBody>

/** By what a person is known. */
export const identifierNames = ['address', 'number', 'reference'] as const
export type IdentifierName = typeof identifierNames[number]

export const erasureStatuses = ['counting', 'counted', 'running', 'finished'] as const

const nullable = { time: Type.Union([Timestamp, Type.Null()]) }

const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
  description: 'How much of each kind was found or, once it runs, erased: `dispatches`, `documents`, `events` and more.',
  examples: [{ dispatches: 3, documents: 2, events: 17, contacts: 1 }]
})

export const ErasureView = Type.Object({
  id: Uuid,
  status: Type.Enum(erasureStatuses, {
    description: '`counting`, then `counted`: it waits for `POST …/begin`. `running`: it goes on by itself, also after a restart. ' +
      '`finished`: nothing is left, and there is a receipt.'
  }),
  by: Type.Array(Type.Enum(identifierNames), { description: 'By what the person is known.' }),
  person: Type.String({
    description: 'A keyed hash in place of the person: the same for the same person of the company.',
    examples: ['5d1c0e0b7c1f4a0e8f4d2b9a6c3e7f10']
  }),
  counts: Counts,
  waiting: Type.Integer({
    minimum: 0,
    description: 'What is still under way, such as dispatches that run: it is erased once it has ended.'
  }),
  userId: Type.Integer({ description: 'Who asked for it.' }),
  createdAt: Timestamp,
  begunAt: nullable.time,
  finishedAt: nullable.time
}, { title: 'Erasure' })
export type ErasureView = Static<typeof ErasureView>

export const ReceiptView = Type.Object({
  receipt: Type.String({ description: 'What was erased, when, and who asked for it: JSON, as it was written down.' }),
  sha256: Type.String({
    description: 'The SHA-256 of that text in hexadecimal. It stands in the audit log too, which nobody changes.',
    pattern: '^[0-9a-f]{64}$',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08']
  })
}, {
  title: 'ErasureReceipt',
  examples: [{
    receipt: '{"companyId":1,"counts":{"dispatches":3},"erasureId":"01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90"}',
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
  }]
})
export type ReceiptView = Static<typeof ReceiptView>

/** A line of an export. */
export const ExportLine = Type.Object({
  kind: Type.String({ description: 'What it is: `dispatches`, `contacts` and so on; the last line is the `end`.', examples: ['contacts'] }),
  id: Type.Optional(Type.String({ examples: ['01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90'] })),
  data: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'All that is held, as it is stored.' })),
  counts: Type.Optional(Counts)
}, { title: 'ExportLine' })
