import type { Actor } from '@dispatch/accounts'
import { type ErrorBody, latestVersion } from '@dispatch/contract'
import type { FastifyRequest, LightMyRequestResponse } from 'fastify'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { releasePermit } from '../../hooks/admission-control.ts'
import { askOwn } from '../../hooks/own-request.ts'
import { ProofNeeded } from './proof.ts'

export { deliveryMarks, deliveryStatuses, latestVersion, searchedStepStatuses, statusClasses, usualStepErrors } from '@dispatch/contract'
export { isUnderWay } from '@dispatch/core'
export { noticeText, scopesWithin } from '@dispatch/accounts'
export type { AuditView, SuggestionsView, CallbackSecrets, CallbackView, CheckView, ChoicesView, CompanyView, ConfigurationView,
  CreditsView, DispatchRequestView, DispatchView, DryRunView, EndpointView, ErrorBody, EventView, FoundDispatchView, GuideView, HoldView,
  KeyView, LimitsView, LinkMailView, ListedProvider, LogCountView, MyConfig, NewCallbackSecret, NewKeyView, NoticeView, ProcessView,
  ProviderView, QueueView, RecoveryCodesView, RequestView, SayingsView, SecondFactorView, SessionView, SettingsView, StatisticsView,
  UserDetail, UserView, ValidationResponse, VendorCallView } from '@dispatch/contract'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The API refused: its status and its own sentences. */
export type Refusal = { ok: false, status: number, error: ErrorBody }
export type ApiAnswer<Body> = { ok: true, body: Body } | Refusal

/** `filename`: the parameters of its `Content-Disposition`. `subject`: of the mail that it shows. */
export type ApiFile = { bytes: Buffer, contentType: string, filename?: string, subject?: string }

/** An answer without which a page cannot be shown. */
export class ApiRefused extends Error {
  override name = 'ApiRefused'
  readonly refusal: Refusal

  constructor (refusal: Refusal) {
    super(refusal.error.message)
    this.refusal = refusal
  }
}

/**
 * The public API in its newest version, as the signed-in person. It is the only way in which pages reach data. What changes something
 * throws {@link ProofNeeded} where the person must prove again who they are.
 */
export type Api = {
  /** Throws {@link ApiRefused}. */
  read: <Body>(path: string) => Promise<Body>
  /** With a `key` a repeat changes nothing. */
  send: <Body>(method: Method, path: string, body?: object, key?: string) => Promise<ApiAnswer<Body>>
  /** The parts of a form, with its files; or a form that the browser has sent, as it comes. */
  upload: <Body>(path: string, form: FormData | { bytes: Readable, type: string }, key: string) => Promise<ApiAnswer<Body>>
  /** For what answers with a file: read, or made from a body. */
  file: (path: string, body?: object) => Promise<ApiAnswer<ApiFile>>
  /** A stream, read or made from a body, until `gone` is aborted. Throws {@link ApiRefused}. */
  stream: (path: string, gone: AbortSignal, body?: object) => Promise<Readable>
}

/** The API for one request of a browser of whom nobody knows who they are: its public operations. */
export function openApi (request: FastifyRequest): Api {
  releasePermit(request)
  return apiFor(request, null)
}

/** The API for one request of a browser: with its client's address, and inside the process. */
export function apiFor ({ server, ip: remoteAddress, id, routeOptions }: FastifyRequest, actor: Actor | null): Api {
  const unconfirmed = routeOptions.config.confirms === undefined ? routeOptions.url : undefined
  type More = { payload?: object | undefined, key?: string | undefined, type?: string, gone?: AbortSignal }
  const ask = async (method: Method, url: string, { payload, key, type, gone }: More = {}): Promise<LightMyRequestResponse> => {
    const request = {
      method,
      url,
      remoteAddress,
      headers: {
        'x-request-id': id,
        'x-api-version': latestVersion,
        ...key === undefined ? {} : { 'idempotency-key': key },
        ...type === undefined ? {} : { 'content-type': type }
      },
      ...payload === undefined ? {} : { payload },
      ...gone === undefined ? {} : { payloadAsStream: true as const }
    }
    return await askOwn(server, { actor, gone, unconfirmed }, request)
  }
  const refusalOf = ({ statusCode: status, json }: LightMyRequestResponse): Refusal => {
    const error = json<ErrorBody>()
    if (error.error === 'fresh_proof_required') throw new ProofNeeded()
    return { ok: false, status, error }
  }

  async function requested<Body> (method: Method, url: string, more: More): Promise<ApiAnswer<Body>> {
    const answer = await ask(method, url, more)
    if (answer.statusCode >= 400) return refusalOf(answer)
    return { ok: true, body: (answer.body === '' ? undefined : answer.json()) as Body }
  }
  return {
    send: (method, url, payload, key) => requested(method, url, { payload, key }),
    upload: (url, form, key) =>
      requested('POST', url, {
        key,
        ...form instanceof FormData ? { payload: form } : { payload: form.bytes, type: form.type }
      }),
    async stream (url, gone, payload) {
      const answer = await ask(payload === undefined ? 'GET' : 'POST', url, { gone, payload })
      if (answer.statusCode < 400) return answer.stream()
      const error = JSON.parse(await text(answer.stream())) as ErrorBody
      throw new ApiRefused({ ok: false, status: answer.statusCode, error })
    },
    async file (path, body) {
      const answer = await ask(body === undefined ? 'GET' : 'POST', path, { payload: body })
      if (answer.statusCode >= 400) return refusalOf(answer)
      const { 'content-type': contentType, 'content-disposition': disposition = '', 'x-mail-subject': subject } = answer.headers
      const [, filename] = /^attachment; (filename=.*)$/.exec(disposition) ?? []
      return {
        ok: true,
        body: {
          bytes: answer.rawPayload,
          contentType: String(contentType),
          ...filename === undefined ? {} : { filename },
          ...typeof subject === 'string' ? { subject: decodeURIComponent(subject) } : {}
        }
      }
    },
    async read<Body> (path: string) {
      const answer = await requested<Body>('GET', path, {})
      if (!answer.ok) throw new ApiRefused(answer)
      return answer.body
    }
  }
}

/** A path of the API with its query; fields without a value are left out. */
export function withQuery (path: string, fields: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => value === undefined || value === '' ? [] : [[name, value]])
  )
  return query.size === 0 ? path : `${path}?${query.toString()}`
}
