import { Line } from '@dispatch/common'
import { Timestamp } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

export const DeletionBody = Type.Object({
  name: Line(200, { description: 'The name of the company, as it is: so that no other one is meant.', examples: ['Acme'] })
}, { title: 'NewCompanyDeletion', additionalProperties: false, examples: [{ name: 'Acme' }] })
export type DeletionBody = Static<typeof DeletionBody>

/** Where a company stands: it may be deleted, something is in the way, it is being deleted, or it is gone. */
export const deletionStatuses = ['possible', 'impossible', 'running', 'finished'] as const

/** A reason why the company cannot be deleted now. */
export const obstacles = ['platform', 'not_disabled', 'dispatches_under_way', 'credits_held'] as const
export type Obstacle = typeof obstacles[number]

export const DeletionView = Type.Object({
  companyId: Type.Integer({ examples: [7] }),
  name: Type.String({ examples: ['Acme'] }),
  status: Type.Enum(deletionStatuses, {
    description: '`running`: it goes on by itself, also after a restart; its keys went first. `finished`: there is a receipt.'
  }),
  obstacles: Type.Array(Type.Enum(obstacles), {
    description: 'What is in the way: it is disabled first; what is queued, running or in doubt comes to its end, or is cancelled.'
  }),
  counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
    description: 'What there is to delete: users, dispatches, documents, credits; once it runs, how many rows were deleted, by table.',
    examples: [{ users: 3, dispatches: 1042, documents: 210, credits: 77 }]
  }),
  askedBy: Type.Union([Type.Integer(), Type.Null()], { description: 'The operator who asked for it.' }),
  askedAt: Type.Union([Timestamp, Type.Null()]),
  finishedAt: Type.Union([Timestamp, Type.Null()]),
  receipt: Type.Union([Type.String(), Type.Null()], {
    description: 'What was deleted, when, and who asked for it: JSON, as it was written.'
  }),
  sha256: Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()], {
    description: 'The SHA-256 of the receipt in hexadecimal. It stands in the audit log of the platform too, which nobody changes.',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08']
  })
}, { title: 'CompanyDeletion' })
export type DeletionView = Static<typeof DeletionView>
