import type { JsonObject } from '@dispatch/common'
import type { Context, Http, Log } from '@dispatch/host/provider'
import type { OwnDocuments } from '@dispatch/vendor-io'
import { failureError } from '@dispatch/vendor-io/outcome'
import { LRUCache } from 'lru-cache'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { SecretHandles } from './handles.ts'

/**
 * The ways out of one call: what its context has, or the `http` alone where something is taken back. `parks` is called when the adapter
 * waits for what it has requested.
 */
export type Ways = {
  http: Http
  context?: Context<JsonObject, JsonObject>
  documents: OwnDocuments
  handles: SecretHandles
  log: Log
  parks?: () => void
}

/**
 * `requests`: how many were made. `lines`: how many were written. `within`: does what is requested in the asynchronous context in which the
 * call began.
 */
export type OpenCall = Ways & { lines: number, requests: number, within: <Result>(work: () => Result) => Result }

/** The calls of one process that have not ended, and the secrets that the process has been given. */
export type OpenCalls = {
  /** The number under which the process makes requests for a call. */
  begin: (ways: Ways) => number
  end: (call: number) => void
  /** Undefined where it has ended, or never was. */
  find: (call: unknown) => OpenCall | undefined
  /** Throws a failure where the call has ended. */
  get: (call: number) => OpenCall
  /** Throws where it has none: what takes something back. */
  contextOf: (call: number) => Context<JsonObject, JsonObject>
  /** Whether there ever was a call. */
  hasBegun: () => boolean
  /** Remembers a secret that the process knows, or that is made of one. */
  remember: (secret: string) => void
  secrets: () => string[]
}

/** Secrets of a process that are remembered. */
const maxSecrets = 200

/** The calls of an adapter that are under way. `code` is the adapter's. Throws `provider_unavailable` for a call that has ended. */
export function createOpenCalls ({ code, log }: { code: string, log: Log }): OpenCalls {
  const open = new Map<number, OpenCall>()
  const secrets = new LRUCache<string, true>({ max: maxSecrets })
  let last = 0

  function get (call: number): OpenCall {
    const found = open.get(call)
    if (found !== undefined) return found
    log.warn({ provider: code }, 'an adapter asked for something after its call had ended')
    throw failureError({ word: 'provider_unavailable', message: `The provider "${code}" went on after its call had ended.`, ours: true })
  }

  return {
    begin (ways) {
      for (const secret of ways.handles.given) secrets.set(secret, true)
      open.set(++last, { ...ways, lines: 0, requests: 0, within: AsyncLocalStorage.snapshot() })
      return last
    },
    end: (call) => void open.delete(call),
    find: (call) => typeof call === 'number' ? open.get(call) : undefined,
    get,
    contextOf (call) {
      const { context } = get(call)
      if (context === undefined) throw new TypeError('What takes something back has its http alone.')
      return context
    },
    hasBegun: () => last > 0,
    remember: (secret) => void secrets.set(secret, true),
    secrets: () => [...secrets.keys()]
  }
}
