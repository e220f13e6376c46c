import type { Actor, ErrorBody } from '@dispatch/core'
import type { FastifyRequest } from 'fastify'
import { injectAs } from '../../hooks/principal.ts'

export type { AdapterDetail, AdapterView, AuditView, CallbackView, CatalogView, CheckView, CompanyView, ConfigurationView, ConnectView,
  CreditsView, DispatchView, DryRunView, ErrorBody, EventView, KeyView, MyConfig, ProcessView, ProviderView, QueueView, SessionView,
  SettingsView, StatisticsView, UserView } from '@dispatch/core'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The API refused: its status and its own sentences. */
export type Refusal = { ok: false, status: number, error: ErrorBody }
export type ApiAnswer<Body> = { ok: true, body: Body } | Refusal

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
}

/** The API for one request of a browser: with its client's address, and inside the process. */
export function apiFor ({ server, ip: remoteAddress, id }: FastifyRequest, actor: Actor): Api {
  async function send<Body> (method: Method, url: string, payload?: object, key?: string): Promise<ApiAnswer<Body>> {
    const answer = await injectAs(server, actor, {
      method,
      url,
      remoteAddress,
      headers: { 'x-request-id': id, ...key === undefined ? {} : { 'idempotency-key': key } },
      ...payload === undefined ? {} : { payload }
    })
    if (answer.statusCode >= 400) return { ok: false, status: answer.statusCode, error: answer.json<ErrorBody>() }
    return { ok: true, body: (answer.body === '' ? undefined : answer.json()) as Body }
  }
  return {
    send,
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
