import { DocumentHandle, type JsonObject, Uuid } from '@dispatch/common'
import { SmsText } from '@dispatch/services'
import { type Static, type TSchema, Type } from 'typebox'
import { AnyJson, AnyJsonObject, Metadata, ProblemSchema, ProviderCode, Timestamp } from './common.ts'
import { deliveryStatuses } from './delivery.ts'
import { errorReasons, errorTable, type ErrorWord } from './errors.ts'
import { ListedProvider } from './provider-list.ts'
import { recipientLists, type RecipientReport } from './recipients.ts'
import { ScheduleView } from './schedule.ts'
import { choosers, deferredStates, dispatchStatuses, eventKinds, stepStatuses } from './states.ts'

const Word = Type.Enum(Object.keys(errorTable) as [ErrorWord, ...ErrorWord[]], {
  title: 'ErrorWord',
  description: Object.entries(errorTable).map(([word, { when }]) => `- \`${word}\`: ${when}`).join('\n')
})
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** The generated document. The URL is signed and needs no credentials. It expires when the document is deleted. */
export const GeneratedDocument = Type.Interface([DocumentHandle], {
  url: Type.String({ format: 'uri' }),
  pages: Type.Optional(Type.Integer({ minimum: 1 })),
  expiresAt: Timestamp
}, { title: 'GeneratedDocument' })
export type GeneratedDocument = Static<typeof GeneratedDocument>

/** The provider's answer: its own identifier and status, and any further fields. */
export const ProviderResponse = Type.Unsafe<JsonObject & RecipientReport & { readonly id: string, readonly status: string }>(
  Type.Object({ id: Type.String(), status: Type.String(), url: Type.Optional(Type.String()), ...recipientLists }, {
    title: 'ProviderResponse',
    additionalProperties: true
  })
)
export type ProviderResponse = Static<typeof ProviderResponse>

/** The reason of an error that stands within an answer: {@link problemIn} leaves it out for older versions. */
export const ProblemReason = Type.Optional(
  Type.String({ description: 'As in an error; since version 1.1.0.' })
)

/** Why a step failed. */
const StepError = Type.Object({
  error: Word,
  message: Type.String(),
  reason: ProblemReason,
  details: Type.Optional(Type.Array(ProblemSchema))
}, { title: 'StepError' })

const Sandbox = Type.Optional(
  Type.Literal(true, {
    description: 'The step ran in a test environment: nothing real happened, nothing was charged.'
  })
)

const Providers = Type.Optional(
  Type.Array(ListedProvider, {
    description: 'The providers of the default that can do this step, in the order in which they are tried. "providerName" is the first ' +
      'until another one is tried, and then the last one tried.'
  })
)

/** The result of a step. */
export const StepResult = Type.Object({
  service: Type.String(),
  status: Type.Enum(stepStatuses),
  providerName: nullable(ProviderCode),
  sandbox: Sandbox,
  providerResponse: nullable(ProviderResponse),
  generatedDocument: nullable(GeneratedDocument),
  text: Type.Optional(SmsText),
  error: Type.Optional(StepError)
}, { title: 'StepResult' })
export type StepResult = Static<typeof StepResult>

/** Further fields of the error of a chain of which only some steps succeeded. */
export const PartialDispatch = Type.Object({
  status: Type.Enum(dispatchStatuses),
  steps: Type.Array(StepResult, { description: 'The steps in their order, each with its own error.' }),
  creditsCharged: Type.Integer({ minimum: 0 }),
  retryUrl: Type.String({ format: 'uri', description: 'POST runs the remaining steps of the chain, and repeats none.' })
})
export type PartialDispatch = Static<typeof PartialDispatch>

/** The body of every error. */
export const ErrorBody = Type.Object({
  error: Word,
  message: Type.String({ description: 'What is wrong, where, and what would be right.' }),
  requestId: Type.String(),
  reason: Type.Optional(Type.String({
    description: `Which case of the word it is, where a word has several; new ones may come. From version 1.1.0 on. ${
      Object.entries(errorReasons).map(([reason, means]) => `\`${reason}\`: ${means}`).join(' ')
    }`
  })),
  details: Type.Optional(Type.Array(ProblemSchema)),
  dispatchId: Type.Optional(Uuid),
  ...Type.Partial(PartialDispatch).properties,
  result: Type.Optional(Type.Literal('error', { description: 'On validation only.' })),
  docs: Type.Optional(Type.String({ description: 'The page that explains the error. From version 1.1.0 on.' }))
}, { title: 'Error' })
export type ErrorBody = Static<typeof ErrorBody>

const Test = Type.Optional(Type.Literal(true, { description: 'Requested with a test key, or with ?sandbox=true: nothing real, free.' }))
const Warnings = Type.Optional(
  Type.Array(ProblemSchema, {
    description: 'What validation warns of, such as data that the template does not show. Left out where there is nothing, and where the ' +
      'dispatch was begun by an earlier request.'
  })
)
const SendAt = Type.Optional(
  Type.String({ format: 'date-time', description: 'When it is sent, where that is not at once; since version 1.1.0.' })
)
const whole = { success: Type.Literal(true), dispatchId: Uuid, status: Type.Literal('succeeded'), test: Test, warnings: Warnings }
const ending = { metadata: Metadata, executionTime: Type.Number({ minimum: 0, description: 'Seconds.' }) }

/** The result of a successful dispatch of one service. */
export const DispatchResponse = Type.Object({
  ...whole,
  service: Type.String(),
  providerName: nullable(ProviderCode),
  sandbox: Sandbox,
  providerResponse: nullable(ProviderResponse),
  generatedDocument: nullable(GeneratedDocument),
  text: Type.Optional(SmsText),
  ...ending
}, { title: 'DispatchResult' })
export type DispatchResponse = Static<typeof DispatchResponse>

/** The result of a successful chain: the generated document, and each step. */
export const ChainResponse = Type.Object({
  ...whole,
  steps: Type.Array(StepResult),
  generatedDocument: nullable(GeneratedDocument),
  ...ending
}, { title: 'ChainResult' })
export type ChainResponse = Static<typeof ChainResponse>

/** The answer for a dispatch that runs asynchronously. */
export const QueuedResponse = Type.Object({
  success: Type.Literal(true),
  dispatchId: Uuid,
  status: Type.Enum(['queued', 'running']),
  test: Test,
  warnings: Warnings,
  sendAt: SendAt,
  statusUrl: Type.String({ format: 'uri', description: 'GET reads the current state of the dispatch.' }),
  metadata: Metadata
}, { title: 'QueuedDispatch' })
export type QueuedResponse = Static<typeof QueuedResponse>

/** The answer to a dispatch that somebody else has to approve. Nothing was sent or charged. */
export const WaitingView = Type.Object({
  success: Type.Literal(true),
  status: Type.Literal('approval_required'),
  approvalId: Uuid,
  rules: Type.Array(Type.String(), { description: 'The rules of the company that want it.', examples: [['Invoices above 10,000']] }),
  statusUrl: Type.String({ format: 'uri', description: 'GET tells what was decided, and the dispatch that has come of it.' }),
  expiresAt: Timestamp,
  metadata: Metadata
}, {
  title: 'WaitsForApproval',
  'x-since': '1.1.0',
  description: 'Somebody else of the company has to approve it first: nothing was sent. The same idempotency key answers the same until ' +
    'then, and the dispatch afterwards.',
  examples: [{
    success: true,
    status: 'approval_required',
    approvalId: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90',
    rules: ['Invoices above 10,000'],
    statusUrl: 'https://dispatch.example.com/api/v1/approvals/01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90',
    expiresAt: '2026-12-04T08:00:00.000Z',
    metadata: { orderId: 'A-1001' }
  }]
})
export type WaitingView = Static<typeof WaitingView>

/** The answer to a validation. Nothing was contacted, kept or charged. */
export const ValidationResponse = Type.Object({
  success: Type.Literal(true),
  result: Type.Enum(['success', 'warning']),
  warnings: Type.Array(ProblemSchema),
  recipient: Type.Optional(Type.String({ description: 'As the dispatch would show it; since version 1.1.0.' })),
  sendAt: SendAt,
  approval: Type.Optional(Type.Object({
    rules: Type.Array(Type.String(), { examples: [['Invoices above 10,000']] })
  }, { description: 'Somebody else has to approve the dispatch, by these rules of the company; since version 1.1.0.' })),
  plan: Type.Array(Type.Object({
    service: Type.String(),
    providerName: Type.Optional(ProviderCode),
    chosenBy: Type.Optional(Type.Enum(choosers)),
    providers: Providers,
    sandbox: Sandbox,
    documentType: Type.Optional(Type.String()),
    text: Type.Optional(SmsText),
    credits: Type.Integer({ minimum: 0 }),
    on: Type.Optional(
      Type.String({ description: 'Deferred: the step runs when this event of the dispatch has come.', examples: ['esign.completed'] })
    )
  }, { title: 'PlannedStep' })),
  metadata: Metadata
}, { title: 'Validation' })
export type ValidationResponse = Static<typeof ValidationResponse>

/** The template version that was pinned when the dispatch was recorded. */
const UsedTemplate = Type.Object({
  id: Type.Integer(),
  version: Type.Integer(),
  name: Type.Optional(Type.String({
    description: 'What it is called now, unless it was removed. In the answer of one dispatch; since version 1.1.0.'
  }))
})

const StepView = Type.Object({
  service: Type.String(),
  status: Type.Enum(stepStatuses),
  providerName: nullable(ProviderCode),
  providerVersion: nullable(Type.String()),
  chosenBy: nullable(Type.Enum(choosers)),
  providers: Providers,
  sandbox: Type.Boolean(),
  providerResponse: nullable(ProviderResponse),
  generatedDocument: nullable(GeneratedDocument),
  text: Type.Optional(SmsText),
  creditsCharged: Type.Integer({ minimum: 0 }),
  template: Type.Optional(UsedTemplate),
  deferredState: Type.Optional(
    Type.Enum(deferredStates, {
      description: 'The state of a deferred action. failed: POST …/retry runs it again. skipped: its event can no longer come, as its ' +
        'error says.'
    })
  ),
  deferredOn: Type.Optional(
    Type.String({ description: 'The step runs when this event of the dispatch has come.', examples: ['esign.completed'] })
  ),
  nextTryAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When the next automatic retry is due, of the step or of the remaining recipients of an e-mail.'
    })
  ),
  deliveryStatus: Type.Optional(
    nullable(
      Type.Enum(deliveryStatuses, {
        description: 'What the vendor has reported since its acceptance; null: nothing yet.'
      })
    )
  ),
  deliveryMessage: Type.Optional(
    Type.String({ description: 'With a deliveryStatus that is a refusal: what it means, also for the price.' })
  ),
  deliveryReason: Type.Optional(
    Type.String({ description: 'Why, in the words of whoever declined, voided or refused it, as the vendor passes them on.' })
  ),
  error: Type.Optional(StepError)
}, { title: 'Step' })

/** The current state of a dispatch. */
export const DispatchView = Type.Object({
  dispatchId: Uuid,
  status: Type.Enum(dispatchStatuses),
  test: Test,
  services: Type.Array(Type.String()),
  userId: Type.Integer(),
  template: nullable(UsedTemplate),
  documentType: Type.Optional(Type.String()),
  documentNumber: Type.Optional(Type.String()),
  recipient: Type.Optional(Type.String()),
  metadata: Metadata,
  creditsCharged: Type.Integer({ minimum: 0 }),
  steps: Type.Array(StepView),
  requestId: Type.String(),
  sendAt: SendAt,
  schedule: Type.Optional(ScheduleView),
  nextTryAt: Type.Optional(Type.String({ format: 'date-time', description: 'When the next automatic retry is due.' })),
  createdAt: Timestamp,
  finishedAt: nullable(Timestamp)
}, { title: 'Dispatch' })
export type DispatchView = Static<typeof DispatchView>

/** What a dispatch was asked to do, as its steps have it. */
export const DispatchRequestView = Type.Object({
  template: nullable(UsedTemplate),
  data: AnyJsonObject,
  steps: Type.Array(Type.Object({
    service: Type.String(),
    fields: Type.Record(Type.String(), AnyJson, { description: 'What a retry may replace: the object of the service in the request.' }),
    template: Type.Optional(UsedTemplate),
    data: Type.Optional(AnyJsonObject),
    message: Type.Optional(
      Type.Object({
        html: Type.Optional(Type.String()),
        text: Type.Optional(Type.String()),
        pictures: Type.Optional(Type.Array(Type.Object({ contentId: Type.String(), id: Uuid })))
      }, { description: 'What its recipients read: an e-mail or an SMS. The HTML shows the documents of "pictures" as cid:<contentId>.' })
    )
  }))
}, { title: 'DispatchRequest' })
export type DispatchRequestView = Static<typeof DispatchRequestView>

const ExchangeView = Type.Object({
  method: Type.String({ description: 'An HTTP method, or SMTP.' }),
  url: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.Optional(Type.String()),
  status: Type.Optional(Type.Integer()),
  answer: Type.Optional(Type.String()),
  failure: Type.Optional(Type.String({ description: 'Why there is no answer, or one that cannot be used.' })),
  milliseconds: Type.Integer({ minimum: 0 })
})

/** One call of a provider for a dispatch. */
export const VendorCallView = Type.Object({
  id: Uuid,
  service: Type.String(),
  providerName: ProviderCode,
  outcome: Type.String(),
  exchanges: Type.Array(ExchangeView, { description: 'Without secrets; of bodies and answers the first 4,000 characters.' }),
  at: Type.String({ format: 'date-time', description: 'When it ended.' })
}, { title: 'VendorCall' })
export type VendorCallView = Static<typeof VendorCallView>

/** One entry in the timeline of a dispatch. */
export const EventView = Type.Object({
  id: Type.String(),
  kind: Type.Enum(eventKinds, {
    description:
      'fetched: the vendor\'s document. damaged: the stored document is damaged. done: without a provider. failed: no provider was ' +
      'called. answered: where another provider of a list is called next, its name is `nextProviderName`, and `providerName` that of ' +
      'the one before; so with failed. released: for an immediate retry. recovered: from a process that ended. corrected: answered ' +
      'after the lease was lost. cancelling, cancelled, not_cancelled, cancel_unknown: a cancellation at the vendor. skipped: the ' +
      'event can no longer come. moved: to another time. saying, said, not_said, say_unknown: a status of an invoice that ' +
      'its seller says.'
  }),
  service: Type.Optional(Type.String()),
  actor: AnyJsonObject,
  facts: AnyJsonObject,
  at: Timestamp
}, { title: 'DispatchEvent' })
export type EventView = Static<typeof EventView>

export const CreditsView = Type.Object({
  balance: Type.Integer(),
  held: Type.Integer({ minimum: 0, description: 'Reserved for running dispatches.' }),
  ledger: Type.Array(Type.Object({
    id: Type.String(),
    kind: Type.Enum(['grant', 'correction', 'debit']),
    amount: Type.Integer({ description: 'Positive for grants, negative for corrections and debits.' }),
    balance: Type.Integer({ description: 'After the entry.' }),
    dispatchId: Type.Optional(Uuid),
    reason: Type.String(),
    at: Timestamp
  })),
  nextCursor: nullable(Type.String())
}, { title: 'Credits' })
export type CreditsView = Static<typeof CreditsView>

/** One page of a list: its items, and the cursor of the next page, or null on the last page. */
export function page<S extends TSchema & { title?: string }> (item: S) {
  return Type.Object({ data: Type.Array(item), nextCursor: nullable(Type.String()) },
    item.title === undefined ? {} : { title: `${item.title}Page` })
}

const CheckResult = Type.Enum(['ok', 'failed', 'cannot_be_checked'], {
  description: 'cannot_be_checked: the provider has no check, or no answer came.'
})

export const ConfigurationView = Type.Object({
  code: ProviderCode,
  settings: Type.Record(Type.String(), AnyJson, { description: 'Secrets read as { "set": true, "updatedAt": … }.' }),
  sandbox: Type.Boolean(),
  valid: Type.Boolean({ description: 'false: it no longer fits the installed provider; "problems" names the fields that need attention.' }),
  servedBy: Type.Optional(Type.String({ description: 'The older version of the provider that goes on with it until it is corrected.' })),
  connection: Type.Optional(Type.Object({
    state: Type.Enum(['connected', 'not_connected', 'ended'], { description: 'ended: the vendor takes its tokens no more.' }),
    redirectUri: Type.String({ description: 'The address to register at the vendor.' }),
    connectedAt: Type.Optional(Timestamp)
  }, { description: 'Where a person connects it with an account at the vendor.' })),
  webhookUrl: Type.Optional(
    Type.String({
      description: 'The URL for the vendor\'s events of this configuration; with several services, that of the first one. It is as good ' +
        'as a password: only the vendor needs it.'
    })
  ),
  webhookUrls: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'The URL for each service of the provider that has events, by the name of the service.'
    })
  ),
  webhooksRegistered: Type.Optional(
    Type.Record(Type.String(), Timestamp, {
      description: 'When the service has last registered these URLs at the vendor by itself: nobody enters them there.'
    })
  ),
  lastCheck: Type.Optional(
    Type.Object({ result: CheckResult, at: Timestamp }, { description: 'Of the settings as they are; absent: never checked.' })
  ),
  problems: Type.Optional(Type.Array(ProblemSchema)),
  warnings: Type.Optional(
    Type.Array(ProblemSchema, {
      description: 'Warnings about the change, such as a secret that was not kept because its destination has changed.'
    })
  )
}, { title: 'Configuration' })
export type ConfigurationView = Static<typeof ConfigurationView>

/** Whether a provider's credentials work. */
export const CheckView = Type.Object({
  result: CheckResult,
  code: Type.Optional(Type.String({ description: 'The vendor\'s own.' })),
  message: Type.Optional(Type.String({ description: 'What the vendor said, or why there is no answer.' }))
}, { title: 'CredentialCheck' })
export type CheckView = Static<typeof CheckView>

/** What a vendor suggests for the settings of its configuration. */
export const SuggestionsView = Type.Object({
  data: Type.Array(Type.Object({
    setting: Type.String({ description: 'The name of a setting of the provider.' }),
    result: CheckResult,
    values: Type.Optional(Type.Array(Type.Object({
      value: Type.Union([Type.String(), Type.Number()], { description: 'For the setting; of a list, for an item of it.' }),
      title: Type.Optional(Type.String({ description: 'What it is called at the vendor.' }))
    }), { description: 'At most 200 of those that the vendor has.' })),
    code: Type.Optional(Type.String({ description: 'The vendor\'s own.' })),
    message: Type.Optional(Type.String({ description: 'What the vendor said, or why there is no answer.' })),
    at: Timestamp
  }), { description: 'One for each setting whose values the vendor can be asked for; none for a provider without any.' })
}, { title: 'SettingSuggestions' })
export type SuggestionsView = Static<typeof SuggestionsView>

/** What a dispatch would send. */
export const DryRunView = Type.Object({
  requests: Type.Array(Type.Object({
    method: Type.String({ description: 'SMTP for an e-mail, WRITE for a file.' }),
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
    body: Type.Optional(Type.String({ description: 'At most 65,536 characters of it.' })),
    counts: Type.Boolean({ description: 'It would make the dispatch real.' })
  }), { description: 'With secrets masked.' }),
  end: Type.Enum(['complete', 'reply_needed', 'refused', 'nothing_sent'], {
    description: 'reply_needed: what follows depends on the answer to the last request.'
  }),
  message: Type.String()
}, { title: 'DryRun' })
export type DryRunView = Static<typeof DryRunView>

const ConfigurationsOf = Type.Object({
  choices: Type.Record(Type.String(), ProviderCode, { description: 'Of a list, the first provider.' }),
  lists: Type.Optional(Type.Record(Type.String(), Type.Array(ListedProvider), { description: 'The services whose choice is a list.' })),
  providers: Type.Array(ConfigurationView)
})

/** The user's and the company's choices and configurations, and the resulting provider of each service. */
export const MyConfig = Type.Object({
  user: Type.Interface([ConfigurationsOf], { id: Type.Integer(), email: Type.String() }),
  company: Type.Interface([ConfigurationsOf], { id: Type.Integer() }),
  services: Type.Record(Type.String(), Type.Object({
    providerName: nullable(ProviderCode),
    chosenBy: nullable(Type.Enum(['user', 'company'])),
    available: Type.Array(ProviderCode),
    problems: Type.Optional(
      Type.Array(ProblemSchema, { description: 'Why "providerName", or a provider of the list, cannot be used now.' })
    )
  }))
}, { title: 'MyConfiguration' })
export type MyConfig = Static<typeof MyConfig>

/** A JSON Schema (2020-12). */
const JsonSchema = Type.Unsafe<object>({ type: 'object', additionalProperties: true })

/** An installed provider, or a folder that was refused, with the reason. */
export const ProviderView = Type.Object({
  state: Type.Enum(['installed', 'refused']),
  folder: Type.String({ description: 'The name of its folder.' }),
  code: Type.Optional(ProviderCode),
  name: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
  docs: Type.Optional(Type.String()),
  hosts: Type.Optional(Type.Array(Type.String(), { description: 'The hosts that it may reach, beside those of its settings.' })),
  sandbox: Type.Optional(Type.Enum(['flag', 'configuration'], {
    description: 'Its vendor has a test environment: each dispatch may ask for it, or settings of their own lead to it.'
  })),
  services: Type.Optional(Type.Record(Type.String(), Type.Object({
    capabilities: AnyJsonObject,
    limits: Type.Array(AnyJsonObject, {
      description:
        'Further limits of the vendor: the value `at` a pointer must fit a JSON Schema, `when` other fields fit theirs; `words` say it ' +
        'in a sentence.'
    }),
    idempotency: AnyJsonObject,
    timeLimit: Type.Optional(Type.Number()),
    verbs: Type.Array(Type.String()),
    webhook: Type.Optional(
      Type.Array(Type.Enum(['jws', 'basic', 'hmac', 'jwt', 'standard', 'stamped', 'signature', 'token', 'secret', 'hint']), {
        description: 'The vendor sends events; the ways in which they are verified.'
      })
    ),
    statuses: Type.Optional(Type.Array(Type.String(), { description: 'The delivery statuses that it reports.' }))
  }))),
  settings: Type.Optional(JsonSchema),
  requestSettings: Type.Optional(JsonSchema),
  suggestions: Type.Optional(Type.Array(Type.String(), {
    description: 'The settings whose values the vendor can be asked for: POST /api/v1/company/providers/{code}/suggestions. From 1.1.0 on.'
  })),
  health: Type.Object({
    state: Type.Enum(['ok', 'failing', 'refused'], { description: 'failing: for this company, in this process.' }),
    reason: Type.Optional(Type.String({ description: 'Of a refused one, operators are told why.' })),
    place: Type.Optional(
      Type.String({ description: 'File and line in its folder, where they are known; for operators.', examples: ['index.js:3'] })
    )
  })
}, { title: 'Provider' })
export type ProviderView = Static<typeof ProviderView>

/** The languages of the page of a provider. */
export const GuideLanguage = Type.Union([Type.Literal('en'), Type.Literal('fr')])
export type GuideLanguage = Static<typeof GuideLanguage>

/** The page of a provider for those who set it up. */
export const GuideView = Type.Object({
  code: ProviderCode,
  guide: Type.String({
    description: 'Markdown, as whoever publishes the provider has written it: show it as a text, or without its HTML.'
  }),
  cut: Type.Boolean({ description: 'The guide goes on: this is the beginning, 32 KB of it.' })
}, { title: 'ProviderGuide' })
export type GuideView = Static<typeof GuideView>

/** Whom an operator gives a provider code to. */
export const NewPublisher = Type.Object({
  packageName: Type.String({ minLength: 1, maxLength: 214, description: 'The name of the package, as its package.json has it.' }),
  author: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'The `publisher` of its package.json or, where there is none, the `author`; left out where it names neither.'
  }))
}, { title: 'NewPublisher', additionalProperties: false })

/** A process that loads providers. */
export const ProcessView = Type.Object({
  machine: Type.String(),
  pid: Type.Integer(),
  converged: Type.Boolean({ description: 'It has made the last reload, and runs what the process that answers runs.' }),
  providers: Type.Array(Type.Object({
    code: ProviderCode,
    version: Type.String(),
    digest: Type.String({ description: 'SHA-256 of its folder.' })
  }))
}, { title: 'Process' })
export type ProcessView = Static<typeof ProcessView>

const Count = Type.Integer({ minimum: 0 })
const Seconds = nullable(Type.Number({ description: 'How many seconds the oldest one has been waiting; null: none is due.' }))

/** The work that waits in the service. */
export const QueueView = Type.Object({
  dispatches: Type.Object({
    queued: Count,
    running: Count,
    uncertain: Type.Integer({ minimum: 0, description: 'Steps with an uncertain outcome.' }),
    triedAgain: Type.Integer({ minimum: 0, description: 'Queued dispatches that wait for a retry, because they were certainly not sent.' }),
    oldest: Seconds
  }),
  jobs: Type.Array(Type.Object({
    name: Type.String(),
    ready: Count,
    later: Count,
    active: Count,
    again: Type.Integer({ minimum: 0, description: 'Failed jobs that will be retried.' }),
    oldest: Seconds
  }))
}, { title: 'Queue' })
export type QueueView = Static<typeof QueueView>

/** A step that holds credits of its company, or is in doubt. */
export const HoldView = Type.Object({
  stepId: Type.String({ format: 'uuid' }),
  dispatchId: Type.String({ format: 'uuid' }),
  companyId: Type.Integer(),
  companyName: Type.String(),
  service: Type.String(),
  providerName: nullable(Type.String()),
  status: Type.Enum(stepStatuses),
  dispatchStatus: Type.Enum(dispatchStatuses),
  held: Type.Integer({ minimum: 0, description: 'Credits.' }),
  createdAt: Timestamp,
  uncertainSince: nullable(Timestamp)
}, { title: 'Hold' })
export type HoldView = Static<typeof HoldView>

/** A dispatch of any company as an operator finds it: what became of it and why, without what was sent. */
export const FoundDispatchView = Type.Object({
  dispatchId: Type.String({ format: 'uuid' }),
  companyId: Type.Integer(),
  companyName: Type.String(),
  status: Type.Enum(dispatchStatuses),
  test: Test,
  documentNumber: nullable(Type.String()),
  recipient: nullable(Type.String()),
  requestId: nullable(Type.String({ description: 'As the log names it.' })),
  createdAt: Timestamp,
  finishedAt: nullable(Timestamp),
  steps: Type.Array(Type.Object({
    stepId: Type.String({ format: 'uuid' }),
    service: Type.String(),
    providerName: nullable(Type.String()),
    status: Type.Enum(stepStatuses),
    deliveryStatus: nullable(Type.String()),
    nextTryAt: nullable(Timestamp),
    error: nullable(Type.Object({ error: Word, message: Type.String() }, { description: 'Why it was not accepted.' }))
  }))
}, { title: 'FoundDispatch' })
export type FoundDispatchView = Static<typeof FoundDispatchView>

/** How many dispatches were released. */
export const ReleaseView = Type.Object({ released: Count }, { title: 'Released' })

/** An answer without a body. */
export const Nothing = Type.Null({ description: 'Done.' })

/** The answer of the health check. */
export const HealthView = Type.Object({
  status: Type.Literal('ok'),
  clockSkew: Type.Number({
    description: 'By how many seconds this process\'s clock was behind that of the database at its start; negative: ahead.'
  }),
  sandbox: Type.Optional(Type.Object({
    layers: Type.Array(Type.String(), {
      description: 'The layers of isolation between providers and the machine that every process found when it tried them.'
    }),
    gaps: Type.Array(Type.String(), {
      description:
        'What a process could reach in spite of them: files, signals, memory, connections, programs. With any of these, adapters ' +
        'from the marketplace run only where DISPATCH_SANDBOX_REQUIRED is off.'
    }),
    processes: Type.Integer({ description: 'How many processes of providers this process has started.' }),
    resting: Type.Array(Type.String(), { description: 'Providers whose processes crashed several times; they are started again later.' })
  }, { description: 'Present if providers run in processes of their own.' }))
}, { title: 'Health' })
