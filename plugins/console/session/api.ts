import type { Actor, ErrorBody } from '@dispatch/core'
import type { FastifyRequest, LightMyRequestResponse } from 'fastify'
import { injectAs } from '../../hooks/principal.ts'

export type { AdapterDetail, AdapterView, AuditView, CallbackSecrets, CallbackView, CatalogView, CheckView, CompanyView, ConfigurationView,
  ConnectView, CreditsView, DispatchView, DryRunView, ErrorBody, EventView, KeyView, MyConfig, NewCallbackSecret, NewKeyView, ProcessView,
  ProviderView, QueueView, SessionView, SettingsView, StatisticsView, TemplateAnswer, TemplateDetail, TemplateView, UserView,
  ValidationResponse, VersionView } from '@dispatch/core'

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
}

/** The API for one request of a browser: with its client's address, and inside the process. */
export function apiFor ({ server, ip: remoteAddress, id }: FastifyRequest, actor: Actor): Api {
  const ask = (method: Method, url: string, payload?: object, key?: string): Promise<LightMyRequestResponse> =>
    injectAs(server, actor, {
      method,
      url,
      remoteAddress,
      headers: { 'x-request-id': id, ...key === undefined ? {} : { 'idempotency-key': key } },
      ...payload === undefined ? {} : { payload }
    })
  const refusalOf = ({ statusCode, json }: LightMyRequestResponse): Refusal => ({ ok: false, status: statusCode, error: json<ErrorBody>() })

  async function send<Body> (method: Method, url: string, payload?: object, key?: string): Promise<ApiAnswer<Body>> {
    const answer = await ask(method, url, payload, key)
    if (answer.statusCode >= 400) return refusalOf(answer)
    return { ok: true, body: (answer.body === '' ? undefined : answer.json()) as Body }
  }
  return {
    send,
    async file (path, body) {
      const answer = await ask(body === undefined ? 'GET' : 'POST', path, body)
      if (answer.statusCode >= 400) return refusalOf(answer)
      return { ok: true, body: { bytes: answer.rawPayload, contentType: String(answer.headers['content-type']) } }
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
