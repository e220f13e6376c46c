import type { Envelope, Json, JsonObject, Problem } from '@dispatch/common'
import type { ChosenBy, ConfiguredBy, DeliveryService, DeliveryStatus, DispatchStatus, ErrorReason, ErrorWord, EventKind, KeyMode, KeyScope,
  ListedProvider, MailLanguage, ProviderResponse, RequestedSchedule, Retention, Role, StepStatus, Version } from '@dispatch/contract'
import type { StoredSecrets } from '@dispatch/host'
import type { Exchange } from '@dispatch/vendor-io'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** What is registered at the vendor for the events of a service. `at`: when it was registered last. */
export type Registered = { id: string, url: string, at: string }

/** The answer to a check of a configuration. `of`: when the settings were stored that were checked. Times are ISO 8601. */
export type StoredCheck = { result: 'ok' | 'failed' | 'cannot_be_checked', at: string, of: string }

/** By the name of the service. */
export type Subscriptions = Readonly<Record<string, Registered>>

/** The settings of a configuration in the form of a version, without its secrets. */
export type PlainForm = { version: string | null, plain: JsonObject }

declare module '@dispatch/database/tables' {
  // oxlint-disable-next-line typescript/no-empty-object-type -- it adds the tables to the interface
  interface StoredTables extends Tables {}
}

/** The tables as the types of queries. The migrations define them; the tests of the store compare the two. */
export type Tables = {
  changes: { company_id: number, number: string }
  companies: {
    company_id: Generated<number>
    name: string
    disabled_at: Date | null
    created_at: Date
    addresses: Generated<string[]>
    notify_url: string | null
    second_factor_required: Generated<boolean>
    leaving_at: Date | null
  }
  users: {
    user_id: Generated<number>
    company_id: number
    email: string
    role: 'operator' | 'admin' | 'member'
    services: string[]
    password_hash: string
    password_version: Generated<number>
    password_set_at: Date
    disabled_at: Date | null
    created_at: Date
    second_factor_at: Date | null
    language: MailLanguage | null
  }
  choices: {
    company_id: number
    user_id: number | null
    service: string
    provider_code: string
    providers: Plain<readonly ListedProvider[]> | null
    updated_at: Date
  }
  configurations: {
    company_id: number
    user_id: number | null
    provider_code: string
    settings: Plain<JsonObject>
    secrets: Plain<StoredSecrets>
    settings_before: Plain<JsonObject> | null
    secrets_before: Plain<StoredSecrets> | null
    version: string | null
    version_before: string | null
    forms: Plain<readonly PlainForm[]> | null
    form_secrets: Plain<readonly StoredSecrets[]> | null
    subscriptions: Plain<Subscriptions> | null
    checked: Plain<StoredCheck> | null
    sandbox: boolean
    updated_at: Date
    account: Generated<string>
  }
  dispatches: {
    dispatch_id: string
    company_id: number
    user_id: number
    impersonator_id: number | null
    status: DispatchStatus
    services: string[]
    path: GeneratedAlways<string>
    template_id: number | null
    template_version: number | null
    brand_version: number | null
    data: Plain<JsonObject> | null
    metadata: Plain<Record<string, string>>
    callback_url: string | null
    api_version: Version | null
    document_type: string | null
    document_number: string | null
    recipient: string | null
    recipient_key: GeneratedAlways<string | null>
    request_id: string
    created_at: Date
    finished_at: Date | null
    detached: Generated<boolean>
    run_id: string | null
    leased_until: Date | null
    next_try_at: Date | null
    callback_sequence: Generated<number>
    test: Generated<boolean>
    /** Null where it was sent at once. */
    schedule: Plain<Schedule> | null
    /** The batch of which it is a row. */
    in_batch: string | null
  }
  /** Batches of which no dispatch begins. */
  paused_batches: { company_id: number, batch_id: string }
  /** Those that were forgotten, by the hour in which they were created. */
  dispatch_counts: { company_id: number, hour: Date, service: string, status: DispatchStatus, test: boolean, count: number }
  dispatch_metadata: { company_id: number, pair: Buffer, dispatch_id: string }
  documents: {
    document_id: string
    company_id: number
    dispatch_id: string
    filename: string
    content_type: string
    size: ColumnType<string, number>
    sha256: string
    pages: number | null
    storage_key: string
    created_at: Date
    expires_at: Date
    removed_at: Date | null
  }
  steps: {
    step_id: string
    company_id: number
    dispatch_id: string
    position: number
    service: string
    provider_code: string | null
    provider_version: string | null
    chosen_by: ChosenBy | null
    configured_by: ConfiguredBy | null
    sandbox: boolean
    fields: Plain<JsonObject>
    request_settings: Plain<JsonObject>
    price: number
    held: number
    charged: Generated<number>
    status: StepStatus
    document_id: string | null
    made: Plain<JsonObject> | null
    remote_id: string | null
    response: Plain<ProviderResponse> | null
    error: Plain<StepError> | null
    delivery_status: DeliveryStatus | null
    delivery_settled: Generated<boolean>
    /** Why it has this delivery status, in the words of whoever declined, voided or refused it. */
    delivery_reason: string | null
    /** What its vendor has told of it besides, each once. */
    marks: string[] | null
    polled_at: Date | null
    template_id: number | null
    template_version: number | null
    brand_version: number | null
    data: Plain<JsonObject> | null
    deferred_on: string | null
    generation: Generated<number>
    uncertain_at: Date | null
    looks: Generated<number>
    next_look_at: Date | null
    next_try_at: Date | null
    tries: Generated<number>
    rest_of: string | null
    cancel_run: string | null
    providers: Plain<readonly StepCandidate[]> | null
    traceparent: string | null
    /** The database was restored to what it was then, so that nobody knows what became of the step since. */
    restored_to: Date | null
  }
  attempts: {
    step_id: string
    number: number
    company_id: number
    provider_version: string
    started_at: Date
    answered_at: Date | null
    outcome: string | null
    error: Plain<StepError> | null
  }
  events: {
    event_id: Generated<string>
    company_id: number
    dispatch_id: string
    step_id: string | null
    kind: EventKind
    actor: Plain<EventActor>
    facts: Plain<JsonObject>
    at: Date
  }
  inbound: {
    inbound_id: string
    service: DeliveryService
    provider_code: string
    account: string | null
    company_id: number | null
    user_id: number | null
    sandbox: boolean | null
    parked: Plain<Envelope> | null
    digest: string | null
    body: Buffer
    /** What was read of it, of one of several events of a body; null where it is read of the body. */
    reading: Plain<JsonObject> | null
    received_at: Date
    state: InboundState
    event_id: string | null
    note: string | null
    handled_at: Date | null
  }
  request_log: {
    entry_id: string
    company_id: number
    user_id: number
    impersonator_id: number | null
    key_id: string | null
    request_id: string
    method: string
    route: string
    path: string
    status: number
    error: string | null
    milliseconds: number
    address: string
    test: boolean
  }
  log_counts: { company_id: number, log: string, hour: Date, subject: string, result: string, count: ColumnType<string, number> }
  exchange_log: {
    entry_id: string
    company_id: number
    dispatch_id: string
    service: string
    provider: string
    outcome: string
    exchanges: Plain<readonly Exchange[]>
  }
  idempotency_keys: { company_id: number, key: string, fingerprint: string, dispatch_id: string, created_at: Date }
  provider_state: {
    company_id: number
    user_id: number | null
    provider_code: string
    key: string
    value: Plain<Json>
    bytes: number | null
    updated_at: Date
    expires_at: Date | null
  }
  credits: {
    company_id: number
    balance: ColumnType<string, number, number | string>
    held: ColumnType<string, number, number | string>
    low_credit: ColumnType<string | null, number | null, number | null>
    warning: Generated<'armed' | 'due' | 'told'>
    warnings: Generated<number>
  }
  data_keys: { company_id: number, key_id: string, created_at: Date }
  retentions: { company_id: number, days: number | null, services: ColumnType<Retention['services'], string, string> }
  budgets: {
    company_id: number
    budget_id: string
    scope: 'company' | 'user' | 'key'
    subject: string
    unit: 'credits' | 'dispatches'
    amount: ColumnType<string, number>
    hard: boolean
    created_at: Date
  }
  budget_use: {
    company_id: number
    budget_id: string
    month: Date
    used: ColumnType<string, number>
    told: Generated<number>
    mailed: Generated<number>
  }
  ledger: {
    entry_id: Generated<string>
    company_id: number
    kind: 'grant' | 'correction' | 'debit'
    amount: ColumnType<string, number>
    balance: ColumnType<string, number>
    dispatch_id: string | null
    step_id: string | null
    reason: string
    idempotency_key: string | null
    at: Date
  }
  audit: {
    audit_id: Generated<string>
    company_id: number
    user_id: number | null
    user_company_id: number | null
    impersonator_id: number | null
    key_id: string | null
    action: string
    object_kind: string
    object_id: string
    facts: Plain<JsonObject>
    address: string | null
    request_id: string | null
    at: Date
  }
  api_keys: {
    key_id: string
    company_id: number
    user_id: number
    name: string
    mode: KeyMode
    /** By default each there is, because what the releases before scopes make has what its user has. */
    scopes: Generated<KeyScope[]>
    services: string[] | null
    digest: Buffer
    beginning: string
    ending: string
    created_at: Date
    expires_at: Date | null
    last_used_at: Date | null
    revoked_at: Date | null
  }
  sessions: {
    session_id: string
    company_id: number
    user_id: number
    digest: Buffer
    role: Role
    password_version: number
    address: string
    browser: string
    created_at: Date
    used_at: Date
    acting_user_id: Generated<number | null>
    acting_password_version: Generated<number | null>
    acting_until: Generated<Date | null>
    proved_at: Generated<Date | null>
  }
  notices: {
    notice_id: Generated<string>
    company_id: number
    user_id: number
    email: string
    action: string
    by_user_id: number | null
    address: string | null
    at: Date
    mailed_at: Date | null
    mail_id: string | null
    recorded_at: Date | null
  }
  company_domains: { domain: string, company_id: number }
  link_mail: { company_id: number, user_id: number, provider: string, sender: string, set_at: Date }
  recovery_codes: { user_id: number, company_id: number, digest: Buffer }
  waiting_sign_ins: { digest: Buffer, user_id: number, password_version: number, expires_at: Date }
  limits: { key: string, points: number, expire: string | null }
  known_clients: { user_id: number, client: string, last_at: Date }
  provider_pins: { code: string, package_name: string, author: string | null, folder: string, at: Date }
  provider_trials: { key: string, at: Date }
  provider_reloads: { only_row: Generated<boolean>, number: string }
  provider_processes: {
    process_id: string
    machine: string
    pid: number
    number: ColumnType<string, number, number>
    providers: Plain<RunningProvider[]>
    template_language: Generated<number>
    seen_at: Date
  }
  releases: { only_row: Generated<boolean>, newest: string, needs: string }
  lineages: {
    lineage: Generated<string>
    number: GeneratedAlways<number>
    epoch: Generated<string>
    at: Generated<Date>
    began_at: Generated<Date>
    restored_to: Date | null
    marked_from: string | null
    mark_to: string | null
    marking: Generated<boolean>
  }
  signing_keys: { key_id: string, purpose: string, sealed: Plain<JsonObject>, created_at: Date }
}

/** A provider that a process runs. */
export type RunningProvider = { code: string, version: string, digest: string }

/** A jsonb column: read as a value, written as JSON text. */
type Plain<T> = ColumnType<T, string, string>

/**
 * The state of a vendor's event. `held`: it was tried and is tried again. `applied`: it is in the timeline of a step. `kept`: it could not
 * be understood. `duplicate`, `dropped`: it had no effect.
 */
export type InboundState = 'waiting' | 'held' | 'applied' | 'kept' | 'duplicate' | 'dropped'

/**
 * Why a step was not accepted: a word of the error table, the sentence for the client, and the vendor's own words in `details`.
 * `retryAfter`: the seconds that the vendor asked to wait.
 */
export type StepError = { word: ErrorWord, message: string, reason?: ErrorReason, details?: readonly Problem[], retryAfter?: number }

/** A provider of the list of a step. `version`: the one that it was planned with. */
export type StepCandidate = Omit<ListedProvider, 'providerName'> & { code: string, version: string, configuredBy: ConfiguredBy }

/** When a dispatch is sent, as it was asked for, and the moment for which it waits (`dueAt`, ISO 8601), where it does not begin at once. */
export type Schedule = RequestedSchedule & { dueAt?: string }

/** Who caused an event of the timeline. */
export type EventActor = { kind: 'user', userId: number, impersonatorId?: number, keyId?: string } | { kind: 'system' } | {
  kind: 'provider'
  code: string
}
