import { sql, type RawBuilder } from 'kysely'
import { DispatchError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import type { ChosenBy, ConfiguredBy, EventKind } from '../contract/states.ts'
import { asOwner, type CompanyQueries, type Database } from './database.ts'
import { insertDocuments, type NewDocument } from './documents.ts'
import type { Beginning } from './lease.ts'
import { later } from './moment.ts'
import type { EventActor } from './schema.ts'

/** A dispatch as it is first recorded; its steps in their order. */
export type NewDispatch = {
  dispatchId: string
  companyId: number
  actor: Extract<EventActor, { kind: 'user' }>
  requestId: string
  /** Those of the path, in their order. */
  services: readonly string[]
  metadata: Readonly<Record<string, string>>
  documentType?: string
  documentNumber?: string
  recipient?: string
  callbackUrl?: string
  /** Asked for with a test key. */
  test?: boolean
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
  by?: { providerCode: string, providerVersion: string, chosenBy: ChosenBy, configuredBy: ConfiguredBy }
  sandbox: boolean
  fields: JsonObject
  requestSettings: JsonObject
  /** What is made for it. */
  content?: { template: { id: number, version: number }, data: JsonObject }
  price: number
  /** The event of its dispatch (`esign.completed`) that it waits for. */
  deferredOn?: string
}

/** Another dispatch of the company was recorded under the same idempotency key first. */
export class IdempotencyKeyTaken extends Error {
  override name = 'IdempotencyKeyTaken'
}

/**
 * Records a dispatch, holds the price of its steps (those that are deferred cost nothing yet) and binds its idempotency key,
 * in one transaction. Throws `insufficient_credits` or {@link IdempotencyKeyTaken}, and nothing is recorded.
 */
export async function openDispatch (database: Database, dispatch: NewDispatch, beginning: Beginning): Promise<void> {
  const { dispatchId, companyId, actor, idempotency, document, steps } = dispatch
  const { now } = database
  const { price, rows } = rowsOf(steps, document)
  const [first] = rows
  const lease = 'lease' in beginning ? beginning.lease : undefined
  const facts = { price, ...(first?.template_id === undefined ? {} : { template: { id: first.template_id, version: first.template_version } }) }
  await covered(database, { companyId, price }, async (queries) => {
    const { rows: [done] } = await sql<{ covered: boolean, keyed: boolean }>`
      with dispatch as (
        insert into dispatches (dispatch_id, company_id, user_id, impersonator_id, status, services, template_id, template_version, data, metadata,
          document_type, document_number, recipient, callback_url, request_id, created_at, detached, run_id, leased_until, next_try_at, test)
        values (${dispatchId}, ${companyId}, ${actor.userId}, ${actor.impersonatorId ?? null}, ${lease === undefined ? 'queued' : 'running'}, ${dispatch.services},
          ${first?.template_id ?? null}, ${first?.template_version ?? null}, ${JSON.stringify(first?.data ?? {})}, ${JSON.stringify(dispatch.metadata)},
          ${dispatch.documentType ?? null}, ${dispatch.documentNumber ?? null}, ${dispatch.recipient ?? null}, ${dispatch.callbackUrl ?? null}, ${dispatch.requestId}, ${now},
          ${lease === undefined}, ${lease?.runId ?? null}, ${lease === undefined ? null : later(now, lease.seconds)}, ${lease === undefined ? now : null}, ${dispatch.test ?? false})
      ), document as (${insertDocuments(companyId, dispatchId, document === undefined ? [] : [document], now)}
      ), step as (
        insert into steps (step_id, company_id, dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by, sandbox,
          fields, request_settings, price, held, status, document_id, template_id, template_version, data, deferred_on)
        select step_id, ${companyId}, ${dispatchId}, position, service, provider_code, provider_version, chosen_by, configured_by, sandbox,
          fields, request_settings, price, held, status, document_id, case when position > 0 then template_id end, case when position > 0 then template_version end,
          case when position > 0 then data end, deferred_on
        from jsonb_to_recordset(${JSON.stringify(rows)}) as step (step_id uuid, position integer, service text, provider_code text, provider_version text,
          chosen_by text, configured_by text, sandbox boolean, fields jsonb, request_settings jsonb, price integer, held integer, status text, document_id uuid,
          template_id integer, template_version integer, data jsonb, deferred_on text)
      ), event as (
        insert into events (company_id, dispatch_id, kind, actor, facts, at)
        values (${companyId}, ${dispatchId}, ${'planned' satisfies EventKind}, ${JSON.stringify(actor)}, ${JSON.stringify(facts)}, ${now})
      ), key as (
        insert into idempotency_keys (company_id, key, fingerprint, dispatch_id, created_at)
        select ${companyId}, key, ${idempotency?.fingerprint ?? ''}, ${dispatchId}, ${now} from (select ${idempotency?.key ?? null}::text as key) given where key is not null
        on conflict do nothing returning 1
      )
      select ${covers(companyId, price)} as covered, exists (select from key) as keyed`.execute(queries)
    if (idempotency !== undefined && done?.keyed !== true) throw new IdempotencyKeyTaken(idempotency.key)
    if (done?.covered !== true) throw await insufficientCredits(queries, companyId, price)
    if ('enqueue' in beginning) await beginning.enqueue(await asOwner(queries))
  })
}

function rowsOf (steps: readonly NewStep[], document: NewDocument | undefined) {
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
    price: step.price,
    held: step.deferredOn === undefined ? step.price : 0,
    status: step.deferredOn === undefined ? 'planned' : 'waiting',
    deferred_on: step.deferredOn,
    template_id: step.content?.template.id,
    template_version: step.content?.template.version,
    data: step.content?.data
  }))
  return { rows, price: rows.reduce((sum, { held }) => sum + held, 0) }
}

/** Whether the free credits of a company cover a price: an expression of SQL. What is held with it is counted when the transaction commits. */
export function covers (companyId: number, price: number): RawBuilder<boolean> {
  return sql<boolean>`(${price} = 0 or exists (select from credits where company_id = ${companyId} and balance - held >= ${price}))`
}

/** A company's transaction that holds a price in all, which `asked` has when it commits. Throws `insufficient_credits` where others have taken at the same moment what was free. */
export async function covered<T> (database: Database, asked: { companyId: number, price: number }, work: (queries: CompanyQueries) => Promise<T>): Promise<T> {
  try {
    return await database.company(asked.companyId, work)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'DC402')) throw error
    throw await database.company(asked.companyId, (queries) => insufficientCredits(queries, asked.companyId, asked.price))
  }
}

/** Tells what is missing: a price (in credits) that the company's free credits do not cover. */
export async function insufficientCredits (queries: CompanyQueries, companyId: number, price: number): Promise<DispatchError> {
  const credits = await queries.selectFrom('credits').select(['balance', 'held']).where('company_id', '=', companyId).executeTakeFirstOrThrow()
  const free = Number(credits.balance) - Number(credits.held)
  return new DispatchError('insufficient_credits', `The dispatch costs ${price} credit${price === 1 ? '' : 's'}; ${free} of ${credits.balance} are free, ${credits.held} are held by dispatches under way.`)
}
