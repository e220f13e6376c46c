import type { Fit, Json } from '@dispatch/common'
import type { Http, HttpCall, HttpVerb } from './call.ts'
import { fitReply } from './reply.ts'
import type { TransportRequest } from './transport.ts'

/** Tells whether a reply is what the provider expects; until then its request has not ended. */
export type FitToReply<Value> = (reply: Json) => Fit<Value> | Promise<Fit<Value>>

/** Sends a request, whoever judges its reply: a provider's schema, or an adapter in a process of its own. */
export type Ask = <Value>(method: TransportRequest['method'], url: string, call: HttpCall, fits: FitToReply<Value>) => Promise<Value>

const asks = new WeakMap<Http, Ask>()

/** The `http` of a provider, whose verbs are one {@link Ask}. */
export function httpOf (ask: Ask, download: Http['download']): Http {
  const verb = (method: TransportRequest['method']): HttpVerb => (url, call, schema) =>
    ask(method, url, call, (reply) => fitReply(schema, reply))
  const http = { get: verb('GET'), post: verb('POST'), put: verb('PUT'), patch: verb('PATCH'), delete: verb('DELETE'), download }
  asks.set(http, ask)
  return http
}

/** The {@link Ask} of an `http` that {@link httpOf} made. */
export function askOf (http: Http): Ask {
  const ask = asks.get(http)
  if (ask === undefined) throw new TypeError('This http was not made by the host.')
  return ask
}

/** The same `http`, with something done around each of its requests. */
export function aroundHttp (http: Http, around: <Result>(sent: Promise<Result>, call: HttpCall) => Promise<Result>): Http {
  const ask = askOf(http)
  return httpOf((method, url, call, fits) => around(ask(method, url, call, fits), call),
    (url, call) => around(http.download(url, call), call))
}
