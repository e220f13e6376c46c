import type { JsonObject } from '@dispatch/common'
import { type RawBuilder, sql } from 'kysely'
import { DispatchError } from '../../contract/errors.ts'
import type { ChosenBy, ConfiguredBy } from '../../contract/states.ts'
import { databaseFunction } from '../db/database-functions.ts'
import type { CompanyQueries, Database } from '../db/database.ts'
import type { EventActor } from '../db/schema.ts'
import { documentRow, type NewDocument } from './documents.ts'
import type { DispatchStart } from './lease.ts'

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
export async function openDispatch (database: Database, dispatch: NewDispatch, beginning: DispatchStart): Promise<void> {
  const { dispatchId, companyId, actor, idempotency, document, steps } = dispatch
  const { price, rows } = rowsOf(steps, document)
  const [first] = rows
  const lease = 'lease' in beginning ? beginning.lease : undefined
  const given = {
    dispatch_id: dispatchId,
    company_id: companyId,
    user_id: actor.userId,
    impersonator_id: actor.impersonatorId,
    status: lease === undefined ? 'queued' : 'running',
    services: dispatch.services,
    template_id: first?.template_id,
    template_version: first?.template_version,
    data: first?.data ?? {},
    metadata: dispatch.metadata,
    document_type: dispatch.documentType,
    document_number: dispatch.documentNumber,
    recipient: dispatch.recipient,
    callback_url: dispatch.callbackUrl,
    request_id: dispatch.requestId,
    run_id: lease?.runId,
    lease_seconds: lease?.seconds,
    test: dispatch.test ?? false,
    documents: document === undefined ? [] : [documentRow(document)],
    steps: rows,
    actor,
    facts: { price, ...(first?.template_id === undefined ? {} : { template: { id: first.template_id, version: first.template_version } }) },
    key: idempotency?.key,
    fingerprint: idempotency?.fingerprint,
    price
  }
  const jobs = 'jobs' in beginning ? beginning.jobs : []
  const opened = await database.callFunction(companyId,
    sql<{ word: string }>`select ${databaseFunction('open')}(${JSON.stringify(given)}::jsonb, ${database.now},
    ${JSON.stringify(jobs)}::jsonb) as word`).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'DC409') throw new IdempotencyKeyTaken(idempotency?.key)
      if (isShort(error)) return { word: 'short' }
      throw error
    })
  if (opened?.word !== 'opened') throw await shortOf(database, companyId, price)
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

/**
 * Whether the free credits of a company cover a price: an expression of SQL. What is held with it is counted when the transaction commits.
 */
export function hasFreeCredits (companyId: number, price: number): RawBuilder<boolean> {
  return sql<boolean>`(${price} = 0 or exists (select from credits where company_id = ${companyId} and balance - held >= ${price}))`
}

/**
 * A company's transaction that holds a price in all, which `asked` has when it commits. Throws `insufficient_credits` where others have
 * taken at the same moment what was free.
 */
export async function withCreditCheck<T> (
  database: Database,
  asked: { companyId: number, price: number },
  work: (queries: CompanyQueries) => Promise<T>
): Promise<T> {
  try {
    return await database.company(asked.companyId, work)
  } catch (error) {
    throw isShort(error) ? await shortOf(database, asked.companyId, asked.price) : error
  }
}

/** What the commit of a transaction says that holds more than is free. */
function isShort (error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'DC402'
}

function shortOf (database: Database, companyId: number, price: number): Promise<DispatchError> {
  return database.company(companyId, (queries) => insufficientCredits(queries, companyId, price))
}

/** Tells what is missing: a price (in credits) that the company's free credits do not cover. */
export async function insufficientCredits (queries: CompanyQueries, companyId: number, price: number): Promise<DispatchError> {
  const credits = await queries.selectFrom('credits').select(['balance', 'held']).where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  const free = Number(credits.balance) - Number(credits.held)
  return new DispatchError('insufficient_credits',
    `The dispatch costs ${price} credit${price === 1 ? '' : 's'}; ${free} of ${credits.balance} are free, ${credits.held} are held ` +
      'by dispatches under way.')
}
