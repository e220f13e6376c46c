import type { Actor, ErrorBody } from '@dispatch/core'
import type { FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { releasePermit } from '../../hooks/admission-control.ts'
import { askOwn, type OwnAnswer, type OwnAsk, streamOwn } from '../../hooks/own-request.ts'

export { callbackTypes, deliveryStatuses, isUnderWay, searchedStepStatuses, statusClasses } from '@dispatch/core'
export type { AdapterDetail, AdapterView, AssetUseView, AssetView, AuditView, CallbackSecrets, CallbackView, CatalogView, CheckView,
  ChoicesView, CompanyView, ConfigurationView, ConnectView, CreditsView, DispatchRequestView, DispatchView, DryRunView, EndpointTest,
  EndpointView, ErrorBody, EventView, GuideView, HoldView, InvitationView, InvitationWithLink, KeyView, LimitsView, LinkMailView, LinkView,
  ListedProvider, MyConfig, MySingleSignOnView, NewAuthenticatorView, NewCallbackSecret, NewEndpointView, NewKeyView, PasswordLinkView,
  ProcessView, ProviderView, QueueView, RecoveryCodesView, RequestView, Resent, SecondFactorView, SessionView, SettingsView,
  SingleSignOnView, StatisticsView, TemplateAnswer, TemplateDetail, TemplateView, UserView, ValidationResponse, VendorCallView,
  VersionCheck, VersionView, NewPasskeyView, PasskeyView } from '@dispatch/core'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The API refused: its status and its own sentences. */
export type Refusal = { ok: false, status: number, error: ErrorBody }
export type ApiAnswer<Body> = { ok: true, body: Body } | Refusal

export type ApiFile = { bytes: Buffer, contentType: string }

/** An answer without which a page cannot be shown. */
export class ApiRefused extends Error {
  override name = 'ApiRefused'
  readonly refusal: Refusal

  constructor (refusal: Refusal) {
    super(refusal.error.message)
    this.refusal = refusal
  }
}

/** The public API, as the signed-in person. It is the only way in which pages reach data. */
export type Api = {
  /** Throws {@link ApiRefused}. */
  read: <Body>(path: string) => Promise<Body>
  /** With a `key` a repeat changes nothing. */
  send: <Body>(method: Method, path: string, body?: object, key?: string) => Promise<ApiAnswer<Body>>
  /** For what answers with a file: read, or made from a body. */
  file: (path: string, body?: object) => Promise<ApiAnswer<ApiFile>>
  /** A stream of events, until `gone` is aborted. Throws {@link ApiRefused}. */
  stream: (path: string, gone: AbortSignal) => Promise<Readable>
}

/** The API for one request of a browser of whom nobody knows who they are: its public operations. */
export function openApi (request: FastifyRequest): Api {
  releasePermit(request)
  return apiFor(request, null)
}

/** The API for one request of a browser: with its client's address, and inside the process. */
export function apiFor ({ server, ip: remoteAddress, id }: FastifyRequest, actor: Actor | null): Api {
  const asked = (method: Method, url: string, payload?: object, key?: string): OwnAsk => ({
    actor,
    method,
    url,
    remoteAddress,
    headers: { 'x-request-id': id, ...key === undefined ? {} : { 'idempotency-key': key } },
    payload
  })
  const refusalOf = ({ status, text }: OwnAnswer): Refusal => ({ ok: false, status, error: JSON.parse(text()) as ErrorBody })

  async function send<Body> (method: Method, url: string, payload?: object, key?: string): Promise<ApiAnswer<Body>> {
    const answer = await askOwn(server, asked(method, url, payload, key))
    if (answer.status >= 400) return refusalOf(answer)
    const body = answer.text()
    return { ok: true, body: (body === '' ? undefined : JSON.parse(body)) as Body }
  }
  return {
    send,
    async stream (url, gone) {
      const { status, stream } = await streamOwn(server, asked('GET', url), gone)
      if (status < 400) return stream
      const error = JSON.parse(await text(stream)) as ErrorBody
      throw new ApiRefused({ ok: false, status, error })
    },
    async file (path, body) {
      const answer = await askOwn(server, asked(body === undefined ? 'GET' : 'POST', path, body))
      if (answer.status >= 400) return refusalOf(answer)
      return { ok: true, body: { bytes: answer.bytes(), contentType: answer.contentType } }
    },
    async read<Body> (path: string) {
      const answer = await send<Body>('GET', path)
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
