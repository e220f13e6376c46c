import { Line, Uuid } from '@dispatch/common'
import { AnyJsonObject, ProblemReason, ProblemSchema, Timestamp, ValidationResponse } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const

const said = {
  service: Type.String({
    pattern: '^[a-z]+(/[a-z]+){0,6}$',
    maxLength: 100,
    description: 'The service, or the services of a chain, as they stand in the path of a dispatch.',
    examples: ['invoicing/email']
  }),
  request: Type.Unsafe<Static<typeof AnyJsonObject>>({ ...AnyJsonObject, description: 'The body of the dispatch.' }),
  reason: Type.Optional(
    Line(300, { description: 'why, for the person who decides, on one line', examples: ['The customer asked again.'] })
  ),
  sandbox: Type.Optional(Type.Boolean({ default: false, description: 'true: it is sent to the test environments of the providers.' }))
}

/** The body of a new proposal. */
export const NewProposalBody = Type.Object(said, { ...closed, title: 'NewProposal' })
export type NewProposalBody = Static<typeof NewProposalBody>

export const proposalStatuses = ['open', 'sent', 'declined', 'expired'] as const

const facts = {
  id: Uuid,
  service: said.service,
  reason: said.reason,
  sandbox: Type.Boolean({ description: 'true: it is a test.' }),
  status: Type.Enum(proposalStatuses, { description: 'expired: nobody has decided for a week.' }),
  userId: Type.Integer({ description: 'Whose key proposed it.' }),
  decidedBy: Type.Union([Type.Integer(), Type.Null()], { description: 'The user who sent or declined it.' }),
  dispatchId: Type.Union([Uuid, Type.Null()], { description: 'The dispatch that it was sent as.' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  link: Type.Union([Type.String({ format: 'uri' }), Type.Null()], {
    description: 'The page of the console where a person looks at it and decides; null where the service has no console.'
  })
}

/** A proposal in a list: without what it would send. */
export const ProposalSummary = Type.Object(facts, { title: 'ProposalSummary' })
export type ProposalSummary = Static<typeof ProposalSummary>

export const ProposalView = Type.Object({ ...facts, request: said.request }, { title: 'Proposal' })
export type ProposalView = Static<typeof ProposalView>

const { plan, recipient, warnings } = ValidationResponse.properties

/** A proposal with what sending it would do now, to whoever asks. */
export const ProposalReview = Type.Object({
  ...ProposalView.properties,
  review: Type.Union([
    Type.Object({
      plan,
      recipient,
      warnings,
      seen: Type.String({
        description: 'Stands for the request, the templates, the providers and the prices as they are told here. Who sends the proposal ' +
          'repeats it, and sends nothing else.'
      })
    }),
    Type.Null()
  ], { description: 'null: it is not open, or the request is refused now, as "problem" says.' }),
  problem: Type.Optional(
    Type.Object({
      error: Type.String({ examples: ['insufficient_credits'] }),
      message: Type.String(),
      reason: ProblemReason,
      details: Type.Optional(Type.Array(ProblemSchema))
    }, { title: 'ProposalProblem', description: 'Why it could not be sent now.' })
  )
}, { title: 'ProposalReview' })
export type ProposalReview = Static<typeof ProposalReview>

/** Which proposals are listed. */
export const ProposalsQuery = Type.Object({
  sandbox: Type.Optional(Type.Boolean({ description: 'Only tests, or none.' }))
}, closed)

/** The body of a decision to send. */
export const SeenBody = Type.Object({
  seen: Type.String({ minLength: 1, maxLength: 100, description: 'What the review of the proposal said.', examples: ['Jq0…'] })
}, { ...closed, title: 'SendProposal' })
