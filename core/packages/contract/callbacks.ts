import { Uuid } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { BatchView } from './batches.ts'
import { Timestamp } from './common.ts'
import { deferringServices, type DeliveryMark, deliveryMarksOf, type DeliveryService, deliveryServices, type DeliveryStatus,
  deliveryStatusesOf, type RecipientsService, recipientsServices } from './delivery.ts'
import { sendStatuses } from './recipients.ts'
import { DispatchView } from './response.ts'
import type { Version } from './versions.ts'

/** The final statuses of a dispatch that cause a callback. */
export const notifiedStatuses = ['succeeded', 'failed', 'partial', 'uncertain', 'cancelled'] as const

/** The callbacks of a batch: at each tenth, and at its end. */
export const batchTypes = ['batch.progress', 'batch.finished', 'batch.cancelled', 'batch.refused'] as const

/** The callbacks about an endpoint of the company that does not answer as it should. */
export const endpointTypes = ['company.endpoint_failing', 'company.endpoint_disabled'] as const
export type EndpointType = typeof endpointTypes[number]

/** The callbacks of an approval: that somebody is asked for it, and what has become of it. */
export const approvalTypes = ['approval.requested', 'approval.approved', 'approval.refused', 'approval.withdrawn',
  'approval.expired'] as const

/** The callbacks of an alert that a company has set: that its condition is met, and that it is over. */
export const alertTypes = ['alert.began', 'alert.ended'] as const

/** The callbacks of a received e-invoice: that it is there, and what became of what was said of it. */
export const receivedTypes = ['invoice.received', 'invoice.status_said', 'invoice.status_refused'] as const

/** What alerts look for. */
export const alertKinds = ['failures', 'provider_unavailable', 'credits_low', 'callbacks_failing', 'doubt'] as const

/**
 * The types of callbacks: the final status of a dispatch, a delivery status of a step, the end of an e-mail whose remaining recipients were
 * retried, the failure of a deferred step, how far a batch is, and messages about the company itself.
 */
export type CallbackType =
  | typeof alertTypes[number]
  | typeof approvalTypes[number]
  | typeof batchTypes[number]
  | typeof receivedTypes[number]
  | 'company.budget_reached'
  | EndpointType
  | 'company.credits_low'
  | 'deferred.failed'
  | `${RecipientsService}.${typeof sendStatuses[number]}`
  | `dispatch.${typeof notifiedStatuses[number]}`
  | { [Service in DeliveryService]: `${Service}.${(DeliveryStatus<Service> | DeliveryMark<Service>) & string}` }[DeliveryService]

const ofVendors = deliveryServices.flatMap((service) =>
  [...deliveryStatusesOf(service), ...deliveryMarksOf(service)].map((word) => ({ service, type: `${service}.${word}` }))
)

export const callbackTypes = [
  ...notifiedStatuses.map((status) => `dispatch.${status}`),
  ...ofVendors.map(({ type }) => type),
  ...recipientsServices.flatMap((service) => sendStatuses.map((status) => `${service}.${status}`)),
  'deferred.failed',
  ...batchTypes,
  ...approvalTypes,
  'company.credits_low',
  'company.budget_reached',
  ...endpointTypes,
  ...alertTypes,
  ...receivedTypes
] as CallbackType[]

/** The types that came with version 1.1.0 of the API. Of a dispatch they are told where its request was of that version, or a later one. */
const later = new Set<string>([
  ...ofVendors.filter(({ service }) => !deferringServices.some((name) => name === service)).map(({ type }) => type),
  'company.budget_reached',
  ...endpointTypes,
  ...alertTypes,
  ...receivedTypes
])

/** The version of the API that has added a type of callback. */
export function sinceOf (type: CallbackType): Version | undefined {
  return later.has(type) ? '1.1.0' : undefined
}

/** Callbacks about the company itself. */
const companyTypes = ['company.credits_low', 'company.budget_reached', ...endpointTypes, ...alertTypes, ...receivedTypes] as const

function isCompanyType (type: CallbackType): type is typeof companyTypes[number] {
  return companyTypes.some((one) => one === type)
}

const reported = {
  timestamp: Timestamp,
  sequence: Type.Integer({ minimum: 1, description: 'Its number among the callbacks of the dispatch or company.' })
}

/** The body of a callback about a dispatch. */
export const DispatchCallback = Type.Object({
  type: Type.Enum(callbackTypes.filter((type) => !isCompanyType(type) && !isBatchType(type) && !isApprovalType(type))),
  ...reported,
  data: DispatchView
}, { title: 'DispatchCallback', description: 'The dispatch at the time of the event.' })

/** The body of a callback about the company itself. */
export const CompanyCallback = Type.Object({
  type: Type.Literal('company.credits_low'),
  ...reported,
  data: Type.Object({
    companyId: Type.Integer(),
    balance: Type.Integer(),
    held: Type.Integer({ minimum: 0 }),
    lowCredit: Type.Integer({ description: 'The threshold: fewer credits than this are free.' })
  })
}, { title: 'CompanyCallback' })

/** The body of a callback about a budget of the company. */
export const BudgetCallback = Type.Object({
  type: Type.Literal('company.budget_reached'),
  ...reported,
  data: Type.Object({
    companyId: Type.Integer(),
    budgetId: Uuid,
    scope: Type.Enum(['company', 'user', 'key'], { description: 'Whose budget it is.' }),
    subject: Type.String({ description: 'The number of the user or the id of the API key; empty for the company.' }),
    unit: Type.Enum(['credits', 'dispatches']),
    amount: Type.Integer({ minimum: 0 }),
    used: Type.Integer({ minimum: 0 }),
    percent: Type.Enum([80, 100], { description: 'How much of the amount is used.' }),
    hardStop: Type.Boolean({ description: 'Nothing is sent beyond it.' }),
    month: Type.String({ pattern: '^\\d{4}-\\d{2}$', examples: ['2026-11'] })
  })
}, { title: 'BudgetCallback' })

/** The body of a callback about an endpoint that fails. */
export const EndpointCallback = Type.Object({
  type: Type.Enum(endpointTypes),
  ...reported,
  data: Type.Object({
    companyId: Type.Integer(),
    endpointId: Uuid,
    name: Type.String(),
    failingSince: { ...Timestamp, description: 'The first failure after the last delivery.' }
  })
}, { title: 'EndpointCallback' })

/** The body of a callback about an alert. */
export const AlertCallback = Type.Object({
  type: Type.Enum(alertTypes),
  ...reported,
  data: Type.Object({
    companyId: Type.Integer(),
    alertId: Uuid,
    kind: Type.Enum(alertKinds),
    value: Type.Integer({
      description: 'What was found: steps that failed or are in doubt, providers that are away, free credits, or receivers that fail.'
    }),
    count: Type.Optional(Type.Integer({ description: 'failures: of how many steps that ended.' })),
    providers: Type.Optional(Type.Array(Type.String(), { description: 'provider_unavailable: their codes.' })),
    trial: Type.Boolean({ description: 'An admin has tried the alert: nothing has begun.' })
  })
}, { title: 'AlertCallback' })

/** The body of a callback about a received e-invoice. It names no person, so that nobody has to be erased from callbacks. */
export const ReceivedCallback = Type.Object({
  type: Type.Enum(receivedTypes),
  ...reported,
  data: Type.Object({
    companyId: Type.Integer(),
    invoiceId: Uuid,
    provider: Type.String({ description: 'The code of the provider by which it came.' }),
    sandbox: Type.Boolean(),
    state: Type.Enum(['fetching', 'readable', 'unreadable']),
    format: Type.Optional(Type.String({ examples: ['FACTUR_X'] })),
    profile: Type.Optional(Type.String({ examples: ['EN16931'] })),
    problem: Type.Optional(Type.String({ description: 'Why it cannot be read, in a word.' })),
    statusId: Type.Optional(Uuid),
    code: Type.Optional(Type.String({ description: 'What was said.', examples: ['205'] }))
  })
}, { title: 'ReceivedCallback' })

/** The body of a callback about a batch. */
export const BatchCallback = Type.Object({ type: Type.Enum(batchTypes), ...reported, data: BatchView }, { title: 'BatchCallback' })

/** What waits for an approval, without the request itself. */
export const ApprovalFacts = Type.Object({
  id: Uuid,
  status: Type.Enum(['waiting', 'sending', 'approved', 'refused', 'withdrawn', 'expired'], {
    description: 'sending: it is approved, and about to be sent. withdrawn: by whoever asked, or because a person in it was erased. ' +
      'expired: nobody has decided in time.'
  }),
  service: Type.String({ description: 'The services, as in the path of a dispatch.', examples: ['invoicing/email'] }),
  rules: Type.Array(Type.String(), { description: 'The rules of the company that want it.', examples: [['Invoices above 10,000']] }),
  userId: Type.Integer({ description: 'Who asked.' }),
  decidedBy: Type.Union([Type.Integer(), Type.Null()], { description: 'Who approved or refused it.' }),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it was refused, or what was said of the approval.' }),
  recipient: Type.Optional(Type.String()),
  amount: Type.Optional(Type.Number({ description: 'The largest amount in its documents.' })),
  currency: Type.Optional(Type.String()),
  credits: Type.Integer({ minimum: 0, description: 'What it costs, at the prices of when it was asked for.' }),
  rows: Type.Optional(Type.Integer({ description: 'The rows of the batch.' })),
  batchId: Type.Union([Uuid, Type.Null()]),
  dispatchId: Type.Union([Uuid, Type.Null()], { description: 'The dispatch that has come of it.' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  decidedAt: Type.Union([Timestamp, Type.Null()]),
  link: Type.Union([Type.String({ format: 'uri' }), Type.Null()], {
    description: 'The page of the console where it is decided about; null where the service has no console.'
  })
}, { title: 'ApprovalSummary' })
export type ApprovalFacts = Static<typeof ApprovalFacts>

/** An approval as a callback tells of it: it names no person, so that nobody has to be erased from callbacks. */
export const ToldApproval = Type.Omit(ApprovalFacts, ['recipient', 'reason'], { title: 'ToldApproval' })
export type ToldApproval = Static<typeof ToldApproval>

/** The body of a callback about an approval. */
export const ApprovalCallback = Type.Object({ type: Type.Enum(approvalTypes), ...reported, data: ToldApproval }, {
  title: 'ApprovalCallback'
})

function isApprovalType (type: CallbackType): type is typeof approvalTypes[number] {
  return approvalTypes.some((one) => one === type)
}

/** Whether a callback is about a batch. */
export function isBatchType (type: CallbackType): type is typeof batchTypes[number] {
  return batchTypes.some((one) => one === type)
}

/** `failed`: every attempt failed. `stopped`: the receiver answered 410, so no callback is sent to it again. */
export const callbackStates = ['pending', 'delivered', 'failed', 'stopped'] as const
export type CallbackState = typeof callbackStates[number]

/** The result of one request to a receiver. */
export const attemptOutcomes = ['delivered', 'failed', 'stopped'] as const
export type AttemptOutcome = typeof attemptOutcomes[number]

const AttemptView = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  at: Timestamp,
  outcome: Type.Union([Type.Enum(attemptOutcomes), Type.Null()], {
    description: 'null: it is under way, or its process ended before it was known.'
  }),
  status: Type.Optional(Type.Integer({ description: 'The HTTP status of the receiver.' })),
  milliseconds: Type.Optional(Type.Integer({ minimum: 0 })),
  reason: Type.Optional(Type.String({ description: 'Why it failed.' }))
}, { title: 'CallbackAttempt' })

/** A callback with its state and its attempts. */
export const CallbackView = Type.Object({
  id: Uuid,
  dispatchId: Type.Optional(Type.String({ format: 'uuid', description: 'Absent for a callback about the company itself.' })),
  type: Type.Enum(callbackTypes),
  sequence: Type.Integer({ minimum: 1, description: 'Its number among the callbacks of the dispatch or company.' }),
  receiver: Type.String({ description: 'The host that it goes to.' }),
  state: Type.Enum(callbackStates, { description: 'failed: every try did. stopped: the receiver answered 410.' }),
  attempts: Type.Array(AttemptView),
  nextAttemptAt: Type.Union([Timestamp, Type.Null()]),
  createdAt: Timestamp
}, { title: 'Callback' })
export type CallbackView = Static<typeof CallbackView>

const SecretView = Type.Object({
  createdAt: Timestamp,
  expiresAt: Type.Union([Timestamp, Type.Null()], { description: 'null: the current one.' })
})

/** The secrets that sign callbacks, the newest first. Their values are not shown. */
export const CallbackSecrets = Type.Object({ secrets: Type.Array(SecretView) }, { title: 'CallbackSecrets' })
export type CallbackSecrets = Static<typeof CallbackSecrets>

/** A new secret. This is the only time that its value is shown. */
export const NewCallbackSecret = Type.Object({
  secret: Type.String({
    pattern: '^whsec_[A-Za-z0-9+/]+=*$',
    description: 'In the format of the Standard Webhooks libraries. It is not shown again.'
  }),
  createdAt: Timestamp,
  previousUntil: Type.Union([Timestamp, Type.Null()], {
    description: 'Until when callbacks are signed with the previous secret too; null: there was none.'
  })
}, { title: 'NewCallbackSecret' })
export type NewCallbackSecret = Static<typeof NewCallbackSecret>
