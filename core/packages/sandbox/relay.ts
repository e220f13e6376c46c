import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import type { Context, Http, HttpCall, Log, TakeBack } from '@dispatch/core/provider'
import { askOf, credentialsOf, failureError, type FitToReply, type OwnDocuments } from '@dispatch/core/sandbox'
import { LRUCache } from 'lru-cache'
import { AsyncLocalStorage } from 'node:async_hooks'
import { readAsked } from './asked.ts'
import type { Handlers } from './calls.ts'
import { mailWithOwnDocuments, withOwnDocuments } from './documents.ts'
import { refuseForeignHandles, type SecretHandles } from './handles.ts'
import type { InsideCalls } from './protocol.ts'

/** Asks the process of the adapter. */
export type Inside = <Name extends keyof InsideCalls>(
  name: Name,
  args: Parameters<InsideCalls[Name]>[0]
) => Promise<ReturnType<InsideCalls[Name]>>

/**
 * The ways out of one call: what its context has, or the `http` alone where something is taken back. `parks` is called when the adapter
 * waits for what it has asked.
 */
export type Ways = {
  http: Http
  context?: Context<JsonObject, JsonObject>
  documents: OwnDocuments
  handles: SecretHandles
  log: Log
  parks?: () => void
}

/** What one process of an adapter may ask of the host, for the calls that are open. */
export type Relay = {
  /** The number under which the process asks for a call. */
  open: (ways: Ways) => number
  close: (call: number) => void
  /** The secrets that the process was given, and those with which it has signed requests in, as far as they are remembered. */
  given: () => string[]
  handlers: Handlers
  notes: Handlers
}

/** `within`: does what is asked in the asynchronous context in which the call began. */
type OpenCall = Ways & { lines: number, asked: number, within: <Result>(work: () => Result) => Result }

/** Things that one call may ask of the host: requests, keys of its state and the like. */
const mostAsked = 10_000
/** Secrets of a process that are remembered. */
const mostGiven = 200
/** Lines that one call may write. */
const mostLines = 1_000
/** Characters of one. */
const longestLine = 4_000

/** `log` takes what is printed outside of any call; `code` is the adapter's. */
export function createRelay (inside: Inside, { code, log }: { code: string, log: Log }): Relay {
  const open = new Map<number, OpenCall>()
  const given = new LRUCache<string, true>({ max: mostGiven })
  let last = 0

  function waysOf (call: number): OpenCall {
    const ways = open.get(call)
    if (ways !== undefined) return ways
    log.warn({ provider: code }, 'an adapter asked for something after its call had ended')
    throw failureError({ word: 'provider_unavailable', message: `The provider "${code}" went on after its call had ended.`, ours: true })
  }

  function contextOf (call: number): Context<JsonObject, JsonObject> {
    const { context } = waysOf(call)
    if (context === undefined) throw new TypeError('What takes something back has its http alone.')
    return context
  }

  const fits = (call: number, request: number): FitToReply<null> => async (reply) => {
    try {
      const { problems } = await inside('fit', { call, request, reply: waysOf(call).handles.hide(reply) })
      return problems.length === 0 ? { ok: true, value: null } : { ok: false, problems: problems.map((one) => ({ ...one, code: 'reply' })) }
    } catch (cause) {
      return { ok: false, problems: [{ path: '', code: 'unread', message: `It could not be checked: ${String(cause)}` }] }
    }
  }

  function takeBackOf (made: number, id: number): TakeBack {
    const { documents, handles, log: own } = waysOf(made)
    return async (http) => {
      const call = begin({ http, documents, handles, log: own })
      try {
        await inside('takeBack', { call, made, id })
      } finally {
        open.delete(call)
      }
    }
  }

  /** What signs a request in may be made of a secret. */
  function signedIn (fields: HttpCall): HttpCall {
    for (const { value } of credentialsOf(fields)) given.set(value, true)
    return fields
  }

  function begin (ways: Ways): number {
    for (const secret of ways.handles.given) given.set(secret, true)
    open.set(++last, { ...ways, lines: 0, asked: 0, within: AsyncLocalStorage.snapshot() })
    return last
  }

  /** The process asks with the handles of its call, and is answered with them. */
  function withSecrets (handler: Handlers[string]): Handlers[string] {
    return async (args) => {
      const ways = isRecord(args) && typeof args['call'] === 'number' ? open.get(args['call']) : undefined
      if (ways === undefined) return await handler(args)
      const { handles } = ways
      if (++ways.asked > mostAsked) throw new RangeError(`One call asks for ${mostAsked} things at most.`)
      ways.parks?.()
      try {
        const asked = handles.reveal(args)
        refuseForeignHandles(asked)
        return handles.hide(await ways.within(() => handler(asked)))
      } catch (error) {
        throw handles.hideError(error)
      }
    }
  }

  const handlers: Handlers = {
    async request (args) {
      const { call, request, method, url, fields } = readAsked('request', args)
      const { http, documents } = waysOf(call)
      return await askOf(http)(method, url, withOwnDocuments(signedIn(fields), documents), fits(call, request))
    },
    async download (args) {
      const { call, url, fields } = readAsked('download', args)
      const { http, documents } = waysOf(call)
      signedIn(fields)
      const document = await http.download(url, withOwnDocuments(fields, documents))
      documents.add(document)
      return document
    },
    async send (args) {
      const { call, message, transport } = readAsked('send', args)
      return await contextOf(call).smtp.send(mailWithOwnDocuments(message, waysOf(call).documents), transport)
    },
    async verify (args) {
      const { call, transport } = readAsked('verify', args)
      await contextOf(call).smtp.verify(transport)
      return null
    },
    async put (args) {
      const { call, path, document } = readAsked('put', args)
      await contextOf(call).files.put(path, waysOf(call).documents.find(document))
      return null
    },
    async state (args) {
      const { call, word, key, value = null } = readAsked('state', args)
      const { state } = contextOf(call)
      if (word === 'get') return { value: await state.get(key) }
      if (word === 'put') {
        await state.put(key, value as Json)
        return {}
      }
      if (word === 'delete') {
        await state.delete(key)
        return {}
      }
      return { value: await state.putIfAbsent(key, value as Json) }
    },
    async checkpoint (args) {
      const { call, id } = readAsked('checkpoint', args)
      await contextOf(call).checkpoint(id)
      return null
    },
    async wait (args) {
      const { call, seconds } = readAsked('wait', args)
      await contextOf(call).wait(seconds)
      return null
    }
  }

  return {
    open: begin,
    close: (call) => void open.delete(call),
    given: () => [...given.keys()],
    handlers: Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [name, withSecrets(handler)])),
    notes: {
      onRefusal (args) {
        const { call: made, id } = readAsked('onRefusal', args)
        if (open.has(made)) contextOf(made).onRefusal(takeBackOf(made, id))
        else log.warn({ provider: code }, 'an adapter wanted to take something back after its call had ended')
      },
      log (args) {
        const { call, level, facts, message } = readAsked('log', args)
        const target = open.get(call)
        if (target === undefined) {
          // It has been given secrets, and nobody can tell here which they are.
          const told = last === 0 ? { ...facts, message: message.slice(0, longestLine) } : {}
          log[level]({ provider: code, ...told }, 'an adapter wrote something outside of its calls')
          return
        }
        const { reveal } = target.handles
        if (++target.lines <= mostLines) target.log[level](reveal(facts), reveal(message.slice(0, longestLine)))
        if (target.lines === mostLines) target.log.warn({ provider: code }, `an adapter wrote ${mostLines} lines; the rest is left out`)
      }
    }
  }
}
