import type { auditRow } from '@dispatch/accounts'
import type { Json, JsonObject } from '@dispatch/common'
import type { ChosenBy, ConfiguredBy, DispatchStatus, EventKind, ProviderResponse, StepStatus } from '@dispatch/contract'
import type { Seen } from '@dispatch/database'
import type { EventActor, PreparedJobs, Schedule, StepCandidate, StepError } from '@dispatch/tables'
import type { documentRow } from './document-row.ts'

/**
 * The functions of the database, by their names: what each is given, and what it answers. Each stands in the file of its name in this
 * folder, which says what it does. What is undefined is null there. Times are in seconds. `take_queued` is not among them: the queue calls
 * it as the owner, for dispatches of all companies.
 */
export type DatabaseFunctions = {
  open_dispatch: { given: NewDispatchRows, answer: 'opened' | 'short' }
  begin_attempt: { given: NewAttemptRows, answer: number | null }
  settle_step: { given: StepSettlement, answer: 'awaited' | 'detached' | 'untold' | null }
  postpone_reconciliation: {
    given: RunKey & { step_id: string, error: StepError, look_after: number, look_last: number }
    answer: boolean
  }
  cancel_dispatch: { given: DispatchKey & { actor: EventActor }, answer: boolean }
  acquire_lease: { given: LeaseRequest, answer: boolean }
  release_lease: { given: RunKey, answer: boolean }
  leave_dispatch: { given: RunKey & { seconds: number, jobs: readonly PreparedJobs[] }, answer: boolean }
  recover_dispatch: {
    given: DispatchKey & { error: StepError, look_after: number, jobs: readonly PreparedJobs[] }
    answer: 'queued' | 'uncertain' | 'unchanged' | null
  }
  hold_step: { given: { company_id: number, step_id: string, price: number }, answer: boolean }
  replace_document: { given: DocumentReplacement, answer: unknown }
  release_waiting: { given: Release, answer: number }
  keep_state: { given: KeptState, answer: Json }
}

type DispatchKey = { company_id: number, dispatch_id: string }
type RunKey = DispatchKey & { run_id: string }
type DocumentRow = ReturnType<typeof documentRow>

type NewDispatchRows = DispatchKey & {
  dispatch: {
    user_id: number
    impersonator_id: number | undefined
    services: readonly string[]
    template_id: number | undefined
    template_version: number | undefined
    brand_version: number | undefined
    data: JsonObject
    metadata: Readonly<Record<string, string>>
    document_type: string | undefined
    document_number: string | undefined
    recipient: string | undefined
    callback_url: string | undefined
    api_version: string | undefined
    request_id: string
    test: boolean
    schedule: Schedule | undefined
    due_at: string | undefined
    in_batch: string | undefined
  }
  steps: readonly NewStepRow[]
  documents: readonly DocumentRow[]
  events: readonly { kind: EventKind, step_id?: string, actor: EventActor, facts: JsonObject }[]
  /** The first attempt at a step, where it begins with the dispatch. */
  attempt: { step_id: string, provider_version: string } | undefined
  /** Credits of all steps together, as far as they are held at once. */
  price: number
  idempotency_key: string | undefined
  fingerprint: string | undefined
  run_id: string | undefined
  lease_seconds: number | undefined
  jobs: readonly PreparedJobs[]
}

type NewStepRow = {
  step_id: string
  position: number
  service: string
  provider_code: string | undefined
  provider_version: string | undefined
  chosen_by: ChosenBy | undefined
  configured_by: ConfiguredBy | undefined
  sandbox: boolean
  fields: JsonObject
  request_settings: JsonObject
  price: number
  held: number
  status: StepStatus
  document_id: string | undefined
  template_id: number | undefined
  template_version: number | undefined
  brand_version: number | undefined
  data: JsonObject | undefined
  deferred_on: string | undefined
  providers: readonly StepCandidate[] | undefined
  traceparent: string | undefined
}

type NewAttemptRows = RunKey & {
  step_id: string
  provider_code: string | undefined
  provider_version: string | undefined
  configured_by: ConfiguredBy | undefined
  document_id: string | undefined
  made: JsonObject | undefined
  documents: readonly DocumentRow[]
  events: readonly { kind: EventKind, facts: JsonObject }[]
  known?: Seen | undefined
}

type StepSettlement = RunKey & {
  step_id: string
  from_states: readonly StepStatus[]
  outcome: Extract<StepStatus, 'accepted' | 'rejected' | 'unavailable' | 'uncertain'>
  response: ProviderResponse | null
  error: StepError | null
  kind: EventKind
  actor: EventActor
  facts: JsonObject
  status: DispatchStatus | undefined
  detached: boolean
  try_after: number | undefined
  look_after: number | undefined
  look_last: number | undefined
  next: StepCandidate | undefined
  jobs: readonly PreparedJobs[]
  untold: boolean
}

type LeaseRequest = RunKey & {
  lease_seconds: number
  from_states: readonly DispatchStatus[]
  ended: string | undefined
  known?: Seen | undefined
}

type DocumentReplacement = DispatchKey & {
  step_id: string
  document_id: string
  documents: readonly DocumentRow[]
  made: JsonObject | undefined
}

type Release = {
  company_id: number
  /** `job`: one of the rows that the statement adds. */
  waiting: readonly { dispatch_id: string, step_id: string | undefined, job: Json }[]
  actor: EventActor
  audit: ReturnType<typeof auditRow>
  statement: string
}

type KeptState = {
  company_id: number
  user_id?: number | null
  provider_code: string
  key: string
  value: Json
  only_first: boolean
  most_keys?: number
  most_bytes?: number
  /** An interval of PostgreSQL. */
  stale?: string
  /** Seconds. */
  ttl?: number
  dispatch_id?: string
  run_id?: string
}
