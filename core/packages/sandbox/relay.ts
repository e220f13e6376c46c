import { isRecord, type Json } from '@dispatch/common'
import type { HttpCall, Log, TakeBack } from '@dispatch/host/provider'
import { askOf, credentialsOf, type FitToReply } from '@dispatch/vendor-io'
import type { Handlers } from './calls.ts'
import { mailWithOwnDocuments, withOwnDocuments } from './documents.ts'
import { refuseForeignHandles } from './handles.ts'
import { createOpenCalls, type OpenCalls, type Ways } from './open-calls.ts'
import type { InsideCalls } from './protocol.ts'
import { readRequest } from './requests.ts'

/** Asks the process of the adapter. */
export type Inside = <Name extends keyof InsideCalls>(
  name: Name,
  args: Parameters<InsideCalls[Name]>[0]
) => Promise<ReturnType<InsideCalls[Name]>>

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

/** Requests that one call may make of the host: to vendors, of keys of its state and the like. */
const maxRequests = 10_000
/** Lines that one call may write. */
const maxLines = 1_000
/** Characters of one. */
const longestLine = 4_000

/** Passes the notes of an adapter's process on. `log` takes what is printed outside of any call; `code` is the adapter's. */
export function createRelay (inside: Inside, { code, log }: { code: string, log: Log }): Relay {
  const calls = createOpenCalls({ code, log })
  const handlers = { ...httpHandlers(calls, inside), ...otherHandlers(calls) }
  return {
    open: calls.begin,
    close: calls.end,
    given: calls.secrets,
    handlers: Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [name, withSecrets(calls, handler)])),
    notes: {
      onRefusal (args) {
        const { call, id } = readRequest('onRefusal', args)
        if (calls.find(call) !== undefined) calls.contextOf(call).onRefusal(takeBackOf(calls, inside, { made: call, id }))
        else log.warn({ provider: code }, 'an adapter wanted to take something back after its call had ended')
      },
      log: (args) => writeLine(calls, args, { code, log })
    }
  }
}

/** The process makes requests with the handles of its call, and is answered with them. */
function withSecrets (calls: OpenCalls, handler: Handlers[string]): Handlers[string] {
  return async (args) => {
    const call = isRecord(args) ? calls.find(args['call']) : undefined
    if (call === undefined) return await handler(args)
    const { handles } = call
    if (++call.requests > maxRequests) throw new RangeError(`One call asks for ${maxRequests} things at most.`)
    call.parks?.()
    try {
      const request = handles.reveal(args)
      refuseForeignHandles(request)
      return handles.hide(await call.within(() => handler(request)))
    } catch (error) {
      throw handles.hideError(error)
    }
  }
}

/** Requests to vendors. The host judges their replies, and the process checks their schemas. */
function httpHandlers (calls: OpenCalls, inside: Inside): Handlers {
  const fits = (call: number, request: number): FitToReply<null> => async (reply) => {
    try {
      const { problems } = await inside('fit', { call, request, reply: calls.get(call).handles.hide(reply) })
      return problems.length === 0 ? { ok: true, value: null } : { ok: false, problems: problems.map((one) => ({ ...one, code: 'reply' })) }
    } catch (cause) {
      return { ok: false, problems: [{ path: '', code: 'unread', message: `It could not be checked: ${String(cause)}` }] }
    }
  }

  /** What signs a request in may be made of a secret. */
  function signedIn (fields: HttpCall): HttpCall {
    for (const { value } of credentialsOf(fields)) calls.remember(value)
    return fields
  }

  return {
    async request (args) {
      const { call, request, method, url, fields } = readRequest('request', args)
      const { http, documents } = calls.get(call)
      return await askOf(http)(method, url, withOwnDocuments(signedIn(fields), documents), fits(call, request))
    },
    async download (args) {
      const { call, url, fields } = readRequest('download', args)
      const { http, documents } = calls.get(call)
      signedIn(fields)
      const document = await http.download(url, withOwnDocuments(fields, documents))
      documents.add(document)
      return document
    }
  }
}

/** Mails, files, state, checkpoints and waits. */
function otherHandlers (calls: OpenCalls): Handlers {
  return {
    async send (args) {
      const { call, message, transport } = readRequest('send', args)
      return await calls.contextOf(call).smtp.send(mailWithOwnDocuments(message, calls.get(call).documents), transport)
    },
    async verify (args) {
      const { call, transport } = readRequest('verify', args)
      await calls.contextOf(call).smtp.verify(transport)
      return null
    },
    async compose (args) {
      const { call, message } = readRequest('compose', args)
      const { documents } = calls.get(call)
      const document = await calls.contextOf(call).documents.compose(mailWithOwnDocuments(message, documents))
      documents.add(document)
      return document
    },
    async digest (args) {
      const { call, document, how } = readRequest('digest', args)
      return { digest: await calls.contextOf(call).documents.digest(calls.get(call).documents.find(document), how) }
    },
    async bytes (args) {
      const { call, document, from, to } = readRequest('bytes', args)
      const bytes = await calls.contextOf(call).documents.bytes(calls.get(call).documents.find(document), from, to)
      return { base64: Buffer.from(bytes).toString('base64') }
    },
    async keep (args) {
      const { call, ...about } = readRequest('keep', args)
      const document = await calls.contextOf(call).documents.keep(about)
      calls.get(call).documents.add(document)
      return document
    },
    async put (args) {
      const { call, path, document } = readRequest('put', args)
      await calls.contextOf(call).files.put(path, calls.get(call).documents.find(document))
      return null
    },
    async state (args) {
      const { call, word, key, value = null, how } = readRequest('state', args)
      const { state } = calls.contextOf(call)
      if (word === 'get') return { value: await state.get(key) }
      if (word === 'put') {
        await state.put(key, value as Json, how)
        return {}
      }
      if (word === 'delete') {
        await state.delete(key)
        return {}
      }
      return { value: await state.putIfAbsent(key, value as Json, how) }
    },
    async checkpoint (args) {
      const { call, id } = readRequest('checkpoint', args)
      await calls.contextOf(call).checkpoint(id)
      return null
    },
    async wait (args) {
      const { call, seconds } = readRequest('wait', args)
      await calls.contextOf(call).wait(seconds)
      return null
    }
  }
}

/** Takes back what the call `made` has made, in a call of its own. */
function takeBackOf (calls: OpenCalls, inside: Inside, { made, id }: { made: number, id: number }): TakeBack {
  const { documents, handles, log } = calls.get(made)
  return async (http) => {
    const call = calls.begin({ http, documents, handles, log })
    try {
      await inside('takeBack', { call, made, id })
    } finally {
      calls.end(call)
    }
  }
}

/** A line of the log of a call; of what is written outside of any, that something was. */
function writeLine (calls: OpenCalls, args: unknown, { code, log }: { code: string, log: Log }): void {
  const { call, level, facts, message } = readRequest('log', args)
  const target = calls.find(call)
  if (target === undefined) {
    // It has been given secrets, and nobody can tell here which they are.
    const reported = calls.hasBegun() ? {} : { ...facts, message: message.slice(0, longestLine) }
    log[level]({ provider: code, ...reported }, 'an adapter wrote something outside of its calls')
    return
  }
  const { reveal } = target.handles
  if (++target.lines <= maxLines) target.log[level](reveal(facts), reveal(message.slice(0, longestLine)))
  if (target.lines === maxLines) target.log.warn({ provider: code }, `an adapter wrote ${maxLines} lines; the rest is left out`)
}
