import { Line } from '@dispatch/common'
import { AnyJsonObject, ApprovalFacts, ValidationResponse } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const

/** The most that wait in a company. */
export const mostWaiting = 1_000

export { ApprovalFacts }

const { plan, recipient, warnings } = ValidationResponse.properties

/** An approval with what would be sent, and what would come of it now. */
export const ApprovalView = Type.Object({
  ...ApprovalFacts.properties,
  askedBy: Type.String({ description: 'The e-mail address of who asked.', examples: ['ada@example.com'] }),
  mayDecide: Type.Boolean({
    description: 'Whether whoever asks may approve or refuse it: a person whom each of the rules names, but not ' +
      'who asked for it.'
  }),
  request: Type.Union([Type.Unsafe<Static<typeof AnyJsonObject>>({ ...AnyJsonObject }), Type.Null()], {
    description: 'The body of the dispatch; null for a batch.'
  }),
  review: Type.Union([
    Type.Object({
      plan,
      recipient,
      warnings,
      seen: Type.String({
        description: 'Stands for the request, the templates, the providers and the prices as they are told here. Who approves it repeats ' +
          'it, and nothing else is sent.'
      })
    }),
    Type.Null()
  ], { description: 'null: it does not wait, it would be refused now, as "problem" says, or it is a batch.' }),
  problem: Type.Optional(Type.String({ description: 'Why it could not be sent now.' }))
}, { title: 'Approval' })
export type ApprovalView = Static<typeof ApprovalView>

const Reason = Line(300, { description: 'What whoever asked reads, on one line.', examples: ['The customer asked for another date.'] })

export const ApproveBody = Type.Object({
  seen: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'What the review said; a batch has none.',
    examples: ['Jq0W3y9vXkTz5m1LdPq7RbNcAoEfGhIjKlMnOpQrStU']
  })),
  reason: Type.Optional(Reason)
}, { ...closed, title: 'Approve' })

export const RefuseBody = Type.Object({ reason: Reason }, { ...closed, title: 'Refuse' })

export const ApprovalsQuery = Type.Object({
  status: Type.Optional(Type.Enum(['waiting'], { description: 'Only what waits.' }))
}, closed)
