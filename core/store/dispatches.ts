import { sql, type RawBuilder } from 'kysely'
import { DispatchError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import type { ProviderResponse } from '../contract/response.ts'
import type { ChosenBy, DispatchStatus } from '../contract/states.ts'
import type { CompanyQueries, Database } from './database.ts'
import type { EventActor, StepError } from './schema.ts'

/** A dispatch as it is first recorded; its steps in their order. */
export type NewDispatch = {
  dispatchId: string
  companyId: number
  actor: Extract<EventActor, { kind: 'user' }>
  requestId: string
  template?: { id: number, version: number }
  data: JsonObject
  metadata: Readonly<Record<string, string>>
  documentType?: string
  documentNumber?: string
  recipient?: string
  callbackUrl?: string
  /** The file that came with the request; its first step gets it. */
  document?: NewDocument
  steps: readonly NewStep[]
  idempotency?: { key: string, fingerprint: string }
}

/** `price` in credits. */
export type NewStep = {
  stepId: string
  service: string
  /** Not of a service that is done here. */
  by?: { providerCode: string, providerVersion: string, chosenBy: ChosenBy, configuredBy: 'user' | 'company' }
  sandbox: boolean
  fields: JsonObject
  requestSettings: JsonObject
  price: number
}

/** `size` in bytes; `sha256` in lowercase hexadecimal. */
export type NewDocument = {
  documentId: string
  filename: string
  contentType: string
  size: number
  sha256: string
  pages?: number
  storageKey: string
  expiresAt: Date
}

/** What came of a step: what the provider answered (nothing where none was needed), or why it could not be asked. */
export type Settlement =
  | { outcome: 'accepted', response: ProviderResponse | null }
  | { outcome: 'rejected' | 'unavailable' | 'uncertain', error: StepError }

/** Another dispatch of the company was recorded under the same idempotency key first. */
export class IdempotencyKeyTaken extends Error {
  override name = 'IdempotencyKeyTaken'
}

/**
 * Records a dispatch, holds the price of all its steps and binds its idempotency key, in one transaction. Throws
 * `insufficient_credits` or {@link IdempotencyKeyTaken}, and nothing is recorded.
 */
export async function openDispatch (database: Database, dispatch: NewDispatch, now: Date): Promise<void> {
  const { dispatchId, companyId, actor, template, idempotency, document, steps } = dispatch
  const price = priceOf(steps)
  const rows = steps.map((step, position) => ({
    step_id: step.stepId,
    position,
    service: step.service,
    provider_code: step.by?.providerCode,
    provider_version: step.by?.providerVersion,
    chosen_by: step.by?.chosenBy,
    configured_by: step.by?.configuredBy,
    document_id: position === 0 ? document?.documentId : undefined,
    sandbox: step.sandbox,
    fields: step.fields,
    request_settings: step.requestSettings,
    price: step.price
  }))
  await database.company(companyId, async (queries) => {
    const { rows: [done] } = await sql<{ held: boolean, keyed: boolean }>`
      with dispatch as (
        insert into dispatches (dispatch_id, company_id, user_id, impersonator_id, status, services, template_id, template_version, data, metadata,
          document_type, document_number, recipient, callback_url, request_id, created_at)
        values (${dispatchId}, ${companyId}, ${actor.userId}, ${actor.impersonatorId ?? null}, 'running', ${steps.map((step) => step.service)},
          ${template?.id ?? null}, ${template?.version ?? null}, ${JSON.stringify(dispatch.data)}, ${JSON.stringify(dispatch.metadata)},
          ${dispatch.documentType ?? null}, ${dispatch.documentNumber ?? null}, ${dispatch.recipient ?? null}, ${dispatch.callbackUrl ?? null}, ${dispatch.requestId}, ${now})
      ), document as (${insertDocument(companyId, dispatchId, document, now)}
      ), step as (
        insert into steps (step_id, company_id, dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by, sandbox,
          fields, request_settings, price, held, status, document_id)
        select step_id, ${companyId}, ${dispatchId}, position, service, provider_code, provider_version, chosen_by, configured_by, sandbox,
          fields, request_settings, price, price, 'planned', document_id
        from jsonb_to_recordset(${JSON.stringify(rows)}) as step (step_id uuid, position integer, service text, provider_code text, provider_version text,
          chosen_by text, configured_by text, sandbox boolean, fields jsonb, request_settings jsonb, price integer, document_id uuid)
      ), event as (
        insert into events (company_id, dispatch_id, kind, actor, facts, at)
        values (${companyId}, ${dispatchId}, 'planned', ${JSON.stringify(actor)}, ${JSON.stringify({ price, ...(template === undefined ? {} : { template }) })}, ${now})
      ), key as (
        insert into idempotency_keys (company_id, key, fingerprint, dispatch_id, created_at)
        select ${companyId}, key, ${idempotency?.fingerprint ?? ''}, ${dispatchId}, ${now} from (select ${idempotency?.key ?? null}::text as key) given where key is not null
        on conflict do nothing returning 1
      ), hold as (
        update credits set held = held + ${price} where company_id = ${companyId} and ${price} > 0 and balance - held >= ${price} returning 1
      )
      select exists (select from hold) as held, exists (select from key) as keyed`.execute(queries)
    if (idempotency !== undefined && done?.keyed !== true) throw new IdempotencyKeyTaken(idempotency.key)
    if (price > 0 && done?.held !== true) throw await insufficientCredits(queries, companyId, price)
  })
}

/** A step that is about to be done: by which provider, with what was made for it since it was recorded. */
export type NewAttempt = {
  companyId: number
  dispatchId: string
  stepId: string
  provider?: { code: string, version: string }
  document?: NewDocument
  made?: JsonObject
}

/**
 * Records that a step is about to be done; answers the number of the attempt, 0 where no provider is called. Throws `conflict` when the step is not waiting for it, so that one of two
 * runners wins.
 */
export async function beginAttempt (database: Database, { companyId, dispatchId, stepId, provider, document, made }: NewAttempt, now: Date): Promise<number> {
  const events = [
    ...(document === undefined ? [] : [{ kind: 'rendered', facts: { documentId: document.documentId, size: document.size, sha256: document.sha256, ...(document.pages === undefined ? {} : { pages: document.pages }) } }]),
    ...(provider === undefined ? [] : [{ kind: 'calling', facts: { providerName: provider.code, providerVersion: provider.version } }])
  ]
  return database.company(companyId, async (queries) => {
    const { rows: [done] } = await sql<{ begun: boolean, number: number | null }>`
      with document as (${insertDocument(companyId, dispatchId, document, now)}
      ), step as (
        update steps set status = 'calling', provider_version = ${provider?.version ?? null}, error = null,
          document_id = coalesce(${document?.documentId ?? null}, document_id), made = coalesce(${made === undefined ? null : JSON.stringify(made)}, made)
        where step_id = ${stepId} and company_id = ${companyId} and status in ('planned', 'unavailable') returning step_id
      ), event as (
        insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
        select ${companyId}, ${dispatchId}, ${stepId}, kind, '{"kind":"system"}', facts, ${now}
        from jsonb_to_recordset(${JSON.stringify(events)}) as event (kind text, facts jsonb)
      ), attempt as (
        insert into attempts (step_id, number, company_id, provider_version, started_at)
        select step_id, (select count(*) + 1 from attempts where step_id = ${stepId}), ${companyId}, version, ${now}
        from step, (select ${provider?.version ?? null}::text as version) given where version is not null
        returning number
      )
      select exists (select from step) as begun, (select number from attempt)`.execute(queries)
    if (done?.begun !== true) throw new DispatchError('conflict', 'The step is not waiting to be called: another run has it.', { dispatchId })
    return done.number ?? 0
  })
}

function insertDocument (companyId: number, dispatchId: string, document: NewDocument | undefined, now: Date): RawBuilder<unknown> {
  return sql`
        insert into documents (document_id, company_id, dispatch_id, filename, content_type, size, sha256, pages, storage_key, created_at, expires_at)
        select document_id, ${companyId}, ${dispatchId}, filename, content_type, size, sha256, pages, storage_key, ${now}, expires_at
        from jsonb_to_recordset(${JSON.stringify(document === undefined ? [] : [documentRow(document)])}) as document (document_id uuid, filename text, content_type text,
          size bigint, sha256 text, pages integer, storage_key text, expires_at timestamptz)`
}

/**
 * Records what came of a step in one transaction with its price: captured when accepted, released when not, kept held
 * while nobody knows. `status` is what the dispatch becomes with it.
 */
export async function settleStep (database: Database, step: { companyId: number, dispatchId: string, stepId: string, actor: EventActor }, settlement: Settlement, status: DispatchStatus, now: Date): Promise<void> {
  const { companyId, dispatchId, stepId, actor } = step
  const { outcome } = settlement
  const response = settlement.outcome === 'accepted' ? settlement.response : null
  const error = settlement.outcome === 'accepted' ? null : settlement.error
  const facts = { outcome, ...(error === null ? {} : { error: error.word }), ...(response === null ? {} : { remoteId: response.id }) }
  await database.company(companyId, async (queries) => {
    const { rows: [settled] } = await sql<{ step_id: string }>`
      with before as (
        select step_id, held from steps where step_id = ${stepId} and company_id = ${companyId} and status in ('planned', 'calling') for update
      ), step as (
        update steps set status = ${outcome}, remote_id = ${response?.id ?? null}, response = ${response && JSON.stringify(response)}, error = ${error && JSON.stringify(error)},
          charged = case when ${outcome} = 'accepted' then before.held else 0 end, held = case when ${outcome} = 'uncertain' then before.held else 0 end
        from before where steps.step_id = ${stepId} and company_id = ${companyId}
      ), attempt as (
        update attempts set answered_at = ${now}, outcome = ${outcome}, error = ${error && JSON.stringify(error)}
        from before where attempts.step_id = ${stepId} and company_id = ${companyId} and answered_at is null
      ), credit as (
        update credits set held = credits.held - before.held, balance = balance - case when ${outcome} = 'accepted' then before.held else 0 end
        from before where company_id = ${companyId} and before.held > 0 and ${outcome} <> 'uncertain' returning balance, before.held as amount
      ), entry as (
        insert into ledger (company_id, kind, amount, balance, dispatch_id, step_id, reason, at)
        select ${companyId}, 'debit', -amount, balance, ${dispatchId}, ${stepId}, 'Dispatch accepted', ${now} from credit where ${outcome} = 'accepted'
      ), dispatch as (
        update dispatches set status = ${status}, finished_at = ${status === 'running' ? null : now}
        from before where dispatch_id = ${dispatchId} and company_id = ${companyId}
      ), event as (
        insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
        select ${companyId}, ${dispatchId}, step_id, ${actor.kind === 'provider' ? 'answered' : 'failed'}, ${JSON.stringify(actor)}, ${JSON.stringify(facts)}, ${now} from before
      )
      select step_id from before`.execute(queries)
    if (settled === undefined) throw new DispatchError('conflict', 'The step was settled by another run.', { dispatchId })
  })
}

/**
 * Takes up a failed dispatch whose step was surely not accepted: the price is held again and the dispatch runs. Answers
 * false when it is in any other state, or another run has just taken it. Throws `insufficient_credits`.
 */
export async function resumeDispatch (database: Database, { companyId, dispatchId, actor }: { companyId: number, dispatchId: string, actor: EventActor }, now: Date): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const taken = await queries.updateTable('dispatches').set({ status: 'running', finished_at: null })
      .where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).where('status', '=', 'failed')
      .where((where) => where.exists(where.selectFrom('steps').select('step_id').whereRef('steps.dispatch_id', '=', 'dispatches.dispatch_id').where('steps.status', '=', 'unavailable')))
      .returning('dispatch_id').executeTakeFirst()
    if (taken === undefined) return false
    const steps = await queries.updateTable('steps').set((step) => ({ held: step.ref('price') }))
      .where('dispatch_id', '=', dispatchId).where('company_id', '=', companyId).where('status', '=', 'unavailable').returning('price').execute()
    const price = priceOf(steps)
    const { rows: [held] } = await sql`update credits set held = held + ${price} where company_id = ${companyId} and balance - held >= ${price} returning 1`.execute(queries)
    if (price > 0 && held === undefined) throw await insufficientCredits(queries, companyId, price)
    await queries.insertInto('events').values({ company_id: companyId, dispatch_id: dispatchId, kind: 'resumed', actor: JSON.stringify(actor), facts: JSON.stringify({ price }), at: now }).execute()
    return true
  })
}

function priceOf (steps: readonly { price: number }[]): number {
  return steps.reduce((sum, step) => sum + step.price, 0)
}

function documentRow (document: NewDocument): Record<string, unknown> {
  return {
    document_id: document.documentId,
    filename: document.filename,
    content_type: document.contentType,
    size: document.size,
    sha256: document.sha256,
    pages: document.pages,
    storage_key: document.storageKey,
    expires_at: document.expiresAt
  }
}

async function insufficientCredits (queries: CompanyQueries, companyId: number, price: number): Promise<DispatchError> {
  const credits = await queries.selectFrom('credits').select(['balance', 'held']).where('company_id', '=', companyId).executeTakeFirstOrThrow()
  const free = Number(credits.balance) - Number(credits.held)
  return new DispatchError('insufficient_credits', `The dispatch costs ${price} credit${price === 1 ? '' : 's'}; ${free} of ${credits.balance} are free, ${credits.held} are held by dispatches under way.`)
}
