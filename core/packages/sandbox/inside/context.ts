import type { JsonObject } from '@dispatch/common'
import type { Context, Http, HttpCall, HttpVerb, Log, State, TakeBack } from '@dispatch/host/provider'
import type { Static, TSchema } from 'typebox'
import type { CallData, OutsideCalls, OutsideNotes } from '../protocol.ts'

/** What this process asks of the host. */
export type Outside = {
  ask: <Name extends keyof OutsideCalls>(name: Name, args: Parameters<OutsideCalls[Name]>[0]) => Promise<ReturnType<OutsideCalls[Name]>>
  tell: <Name extends keyof OutsideNotes>(name: Name, args: OutsideNotes[Name]) => void
}

/** A request that is under way: what its reply must fit, and the reply once it has come. */
type Request = { schema: TSchema, reply?: unknown }

/** A call of a verb, as this process knows it. */
export type Call = { requests: Map<number, Request>, takeBacks: TakeBack[] }

let requests = 0

/** The `http` of a call: the host sends, this process checks what was replied. */
export function httpOf ({ ask }: Outside, number: number, call: Call): Http {
  const verb =
    (method: Parameters<OutsideCalls['request']>[0]['method']): HttpVerb =>
    async <Reply extends TSchema>(url: string, fields: HttpCall, schema: Reply) => {
      const request = ++requests
      const kept: Request = { schema }
      call.requests.set(request, kept)
      try {
        await ask('request', { call: number, request, method, url, fields })
        return kept.reply as Static<Reply>
      } finally {
        call.requests.delete(request)
      }
    }
  return {
    get: verb('GET'),
    post: verb('POST'),
    put: verb('PUT'),
    patch: verb('PATCH'),
    delete: verb('DELETE'),
    download: (url, fields) => ask('download', { call: number, url, fields })
  }
}

/** The context of a call, each of its ways out a call of the host's. */
export function contextOf (outside: Outside, number: number, call: Call, { now, ...data }: CallData): Context<JsonObject, JsonObject> {
  const { ask, tell } = outside
  const begun = performance.now()
  return {
    ...data,
    log: logOf(outside, number),
    state: stateOf(outside, number),
    http: httpOf(outside, number, call),
    smtp: {
      send: (message, transport) => ask('send', { call: number, message, transport }),
      async verify (transport) {
        await ask('verify', { call: number, transport })
      }
    },
    documents: {
      compose: (message) => ask('compose', { call: number, message }),
      digest: async (document, how) => (await ask('digest', { call: number, document, how })).digest,
      bytes: async (document, from, to) =>
        new Uint8Array(Buffer.from((await ask('bytes', { call: number, document, from, to })).base64, 'base64')),
      keep: (document) => ask('keep', { call: number, ...document })
    },
    files: {
      async put (path, document) {
        await ask('put', { call: number, path, document })
      }
    },
    async checkpoint (id) {
      await ask('checkpoint', { call: number, id })
    },
    onRefusal (takeBack) {
      tell('onRefusal', { call: number, id: call.takeBacks.push(takeBack) - 1 })
    },
    // The host's moment, and what has passed since by a clock that nobody sets.
    now: () => new Date(now + Math.floor(performance.now() - begun)),
    async wait (seconds) {
      await ask('wait', { call: number, seconds })
    }
  }
}

function logOf ({ tell }: Outside, call: number): Log {
  const line = (level: keyof Log) => (facts: object, message: string): void =>
    tell('log', { call, level, facts: plainFacts(facts), message })
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

/** JSON.stringify finds nothing in an error. */
function plainFacts (facts: object): object {
  try {
    return JSON.parse(
      JSON.stringify(facts, (_key, value: unknown) =>
        value instanceof Error ? { name: value.name, message: value.message, stack: value.stack, cause: value.cause } : value)
    ) as object
  } catch (cause) {
    return { unreadable: String(cause) }
  }
}

function stateOf ({ ask }: Outside, call: number): State {
  return {
    get: async (key) => (await ask('state', { call, word: 'get', key })).value as JsonObject | undefined,
    async put (key, value, how = {}) {
      await ask('state', { call, word: 'put', key, value, how })
    },
    putIfAbsent: async (key, value, how = {}) => (await ask('state', { call, word: 'putIfAbsent', key, value, how })).value as JsonObject,
    async delete (key) {
      await ask('state', { call, word: 'delete', key })
    }
  }
}
