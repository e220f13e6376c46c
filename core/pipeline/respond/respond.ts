import { type ChainResponse, DispatchError, type DispatchResponse, type DispatchStatus, type PartialDispatch, type QueuedResponse,
  type StepResult, type Version } from '@dispatch/contract'
import { services } from '@dispatch/services'
import { isAcceptedByProvider, type Step } from '../step.ts'
import { type DocumentUrl, generatedDocument, type RunResult, stepError } from './result.ts'

/** The URLs in an answer. `status`: of the dispatch; `/retry` is below it. */
export type Addresses = { document: DocumentUrl, status: (dispatchId: string) => string }

/** The body of an answer, unless the dispatch failed. */
export type DispatchAnswer = DispatchResponse | ChainResponse | QueuedResponse

/** The body for a dispatch that succeeded or goes on, for clients of a version. Throws the error of any other. */
export function responseOf (result: RunResult, addresses: Addresses, version: Version): DispatchAnswer {
  const { dispatchId, status, metadata, steps, createdAt, finishedAt, sendAt, warnings = [] } = result
  const more = { ...(result.test ? { test: true as const } : {}), ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) }
  if (status === 'queued' || status === 'running') {
    return {
      success: true,
      dispatchId,
      status,
      ...more,
      ...(sendAt === undefined ? {} : { sendAt }),
      statusUrl: addresses.status(dispatchId),
      metadata
    }
  }
  if (status !== 'succeeded') throw errorOf(result, addresses, version)
  const answers = steps.map((step) => stepResult(step, addresses.document, version))
  const [only, ...others] = answers
  const beginning = { success: true, dispatchId, status, ...more } as const
  const ending = {
    generatedDocument: answers.find(({ generatedDocument: made }) => made !== null)?.generatedDocument ?? null,
    metadata,
    executionTime: ((finishedAt ?? createdAt).getTime() - createdAt.getTime()) / 1000
  }
  if (only === undefined || others.length > 0) return { ...beginning, steps: answers, ...ending }
  const { service, providerName, sandbox, providerResponse, text } = only
  return {
    ...beginning,
    service,
    providerName,
    ...(sandbox === undefined ? {} : { sandbox }),
    providerResponse,
    ...(text === undefined ? {} : { text }),
    ...ending
  }
}

/** A chain that a provider has done in part must not be sent again. Any other dispatch has the error of the step that failed. */
function errorOf ({ dispatchId, status, steps }: RunResult, { document, status: statusUrl }: Addresses, version: Version): DispatchError {
  const failed = steps.find(({ state }) => state.error !== null)
  if (steps.some(isAcceptedByProvider)) {
    const state: PartialDispatch = {
      status,
      steps: steps.map((step) => stepResult(step, document, version)),
      creditsCharged: steps.reduce((sum, step) => sum + step.state.charged, 0),
      retryUrl: `${statusUrl(dispatchId)}/retry`
    }
    return new DispatchError('partially_dispatched', partialMessage(status, steps, failed), { dispatchId, more: state })
  }
  if (status === 'cancelled') {
    return new DispatchError('conflict', 'The dispatch was cancelled before anything was sent.', { reason: 'cancelled', dispatchId })
  }
  const { word = 'internal_error', message = 'The dispatch failed.', reason, details, retryAfter } = failed?.state.error ?? {}
  return new DispatchError(word, message, {
    dispatchId,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    ...(retryAfter === undefined ? {} : { retryAfter })
  })
}

function partialMessage (status: DispatchStatus, steps: readonly Step[], failed: Step | undefined): string {
  const done = steps.filter(({ state }) => state.status === 'accepted').map(({ service }) => `"${service}"`).join(', ')
  const reason = failed?.state.error == null ? '' : ` The step "${failed.service}" is not: ${failed.state.error.message}`
  const rest = status === 'uncertain'
    ? 'what became of that step is being found out; then the rest is done by itself, or by a POST to "retryUrl"'
    : 'a POST to "retryUrl" does the rest'
  return `A part of the dispatch is done (${done}).${reason} Do not send the request again: ${rest}.`
}

function stepResult (
  { service, fields, by, content: { document, made = {} }, state: { status, response, error } }: Step,
  documentUrl: DocumentUrl,
  version: Version
): StepResult {
  return {
    service,
    status,
    providerName: by?.code ?? null,
    ...(by?.sandbox === true ? { sandbox: true as const } : {}),
    providerResponse: response,
    generatedDocument: document === undefined ? null : generatedDocument(document, documentUrl),
    ...services[service].measure?.(fields, made),
    ...(error === null ? {} : { error: stepError(error, version) })
  }
}
