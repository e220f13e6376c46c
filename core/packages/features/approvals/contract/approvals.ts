import { Line } from '@dispatch/common'
import { AnyJsonObject, ApprovalFacts, PageQuery, ProblemReason, ProblemSchema, Timestamp, ValidationResponse } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const

/** The most that wait in a company. */
export const maxWaiting = 1_000

export { ApprovalFacts }

const { plan, recipient, warnings } = ValidationResponse.properties

/** A rule that wants an approval, and whether it has it. */
const AskedRule = Type.Object({
  name: Type.String({ examples: ['Invoices above 10,000'] }),
  approvers: Type.Array(Type.String(), {
    description: 'The e-mail addresses of those whom it names, of whom one is enough; none: an admin.',
    examples: [['grace@example.com']]
  }),
  approvedBy: Type.Union([Type.String(), Type.Null()], { description: 'The e-mail address of who has approved it for this rule.' }),
  approvedAt: Type.Union([Timestamp, Type.Null()]),
  lapsedBy: Type.Union([Type.String(), Type.Null()], {
    description:
      'The e-mail address of who had approved it before: something else would come of it now, or it could not be sent, so that ' +
      'it waits for somebody to look again.'
  })
}, { title: 'AskedApprovalRule' })

const Totals = Type.Object({
  services: Type.Array(Type.Object({
    service: Type.String(),
    rows: Type.Integer(),
    credits: Type.Integer()
  }, { title: 'ServiceTotal' })),
  amounts: Type.Array(Type.Object({
    currency: Type.Union([Type.String(), Type.Null()]),
    rows: Type.Integer(),
    amount: Type.Number({ description: 'The sum of the largest amount in the documents of each row.' }),
    unknown: Type.Integer({ description: 'How many of these rows have a document about money that says no amount.' })
  }, { title: 'AmountTotal' }))
}, { title: 'BatchTotals' })

/** An approval with what would be sent, and what would come of it now. */
export const ApprovalView = Type.Object({
  ...ApprovalFacts.properties,
  askedBy: Type.String({ description: 'The e-mail address of who asked.', examples: ['ada@example.com'] }),
  decider: Type.Union([Type.String(), Type.Null()], { description: 'The e-mail address of who decided.', examples: ['grace@example.com'] }),
  asks: Type.Array(AskedRule, { description: 'The rules that want it: it is sent once there is somebody for each.' }),
  mayDecide: Type.Boolean({
    description:
      'Whether whoever asks may approve it: a person whom a rule names that nobody has approved it for, but not who asked for it.'
  }),
  mayRefuse: Type.Boolean({ description: 'The same for refusing it: also whoever has approved it for their part.' }),
  totals: Type.Optional(Type.Unsafe<Static<typeof Totals>>({ ...Totals, description: 'What the rows of the batch come to.' })),
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
  problem: Type.Optional(
    Type.Object({
      error: Type.String({ examples: ['insufficient_credits'] }),
      message: Type.String(),
      reason: ProblemReason,
      details: Type.Optional(Type.Array(ProblemSchema))
    }, { title: 'ApprovalProblem', description: 'Why it could not be sent now.' })
  )
}, { title: 'Approval' })
export type ApprovalView = Static<typeof ApprovalView>

/** A row of a batch that waits, as whoever decides reads it. */
export const ApprovalRowView = Type.Object({
  row: Type.Integer({ minimum: 1, description: 'Its number in the batch.' }),
  id: Type.Optional(Type.String()),
  status: Type.String({ description: 'As in the results of the batch.', examples: ['waiting'] }),
  recipient: Type.Optional(Type.String()),
  amount: Type.Optional(Type.Number({ description: 'The largest amount in its documents.' })),
  currency: Type.Optional(Type.String()),
  credits: Type.Integer({ minimum: 0, description: 'Its price.' }),
  request: Type.Union([Type.Unsafe<Static<typeof AnyJsonObject>>({ ...AnyJsonObject }), Type.Null()], {
    description: 'The body of its dispatch; null once it is sent, and where the data key is lost under which it was sealed.'
  })
}, { title: 'ApprovalRow' })
export type ApprovalRowView = Static<typeof ApprovalRowView>

/** Which rows. */
export const ApprovalRowsQuery = Type.Object({
  ...PageQuery.properties,
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'A part of the recipient, of the id or of the row itself, in large or small letters.',
      examples: ['lovelace']
    })
  )
}, closed)

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
