/**
 * The process of one adapter, from its first line: bundled into one file with what adapters import, so that it needs to read that file
 * and the adapter's folder alone. `@dispatch/core/provider` is this file here.
 */
import { walls } from './raised.ts'
// The walls stand before what follows.
import type { Json, JsonObject } from '@dispatch/common'
import { checkContextOf } from '@dispatch/host/process'
import { createCalls, type Handlers } from '../calls.ts'
import { createFrameReader, encodeFrame } from '../frames.ts'
import type { Given, InsideCalls, OutsideCalls } from '../protocol.ts'
import { describe, functionAt, given, importAdapter } from './adapter.ts'
import { type Call, contextOf, httpOf, type Outside } from './context.ts'
import { problemsOfReply } from './fit.ts'
import { runAsCall, runningCall, takeOutput } from './output.ts'

export * from '@dispatch/host/provider'

type Args<Name extends keyof InsideCalls> = Parameters<InsideCalls[Name]>[0]
type Answers = { [Name in keyof InsideCalls]: (args: Args<Name>) => ReturnType<InsideCalls[Name]> | Promise<ReturnType<InsideCalls[Name]>> }

/** Calls of the host that may be under way at once, the checks of replies and pings among them. */
const maxCalls = 10_000
/** Milliseconds that what a failed call has made can be taken back. */
const takeBackWithin = 30_000

const write = takeOutput(({ call, message }) => outside.tell('log', { call, level: 'info', facts: { printed: true }, message }))
const open = new Map<number, Call>()
let definition: unknown

const calls = createCalls({ send: (message) => write(encodeFrame(message)), handlers: handlers() as Handlers, notes: {}, maxCalls })
const outside: Outside = {
  ask: async <Name extends keyof OutsideCalls>(name: Name, args: object) => await calls.call(name, args) as ReturnType<OutsideCalls[Name]>,
  tell: (name, args) => calls.note(name, args)
}

function handlers (): Answers {
  return {
    async load ({ entry }) {
      definition = await importAdapter(entry)
      return {}
    },
    describe: () => ({ definition: describe(definition) }),
    verb: ({ call, service, verb, request, context }) =>
      runCall(call, (own) => functionAt(definition, 'services', service, verb)(request, contextOf(outside, call, own, context))),
    credentials: ({ call, context }) =>
      runCall(call, (own) => functionAt(definition, 'check')(checkContextOf(contextOf(outside, call, own, context)))),
    suggest: ({ call, setting, context }) =>
      runCall(call, (own) => functionAt(definition, 'suggestions', setting)(checkContextOf(contextOf(outside, call, own, context)))),
    async takeBack ({ call, made, id }) {
      const takeBack = open.get(made)?.takeBacks[id]
      if (takeBack === undefined) throw new Error('What was to be taken back is not known any more.')
      const own: Call = { requests: new Map(), takeBacks: [] }
      open.set(call, own)
      try {
        await runAsCall(call, () => takeBack(httpOf(outside, call, own)))
        return {}
      } finally {
        open.delete(call)
      }
    },
    check: ({ service, requested, known: { now, ...known } }) =>
      given(functionAt(definition, 'services', service, 'check')(requested, { ...known, now: new Date(now) })),
    read: async ({ service, event }) => given(await functionAt(definition, 'webhooks', service, 'read')(event)),
    migrate: async ({ version, settings }) => given(await functionAt(definition, 'migrateSettings')({ version, settings })),
    fit ({ call, request, reply }) {
      const requested = open.get(call)?.requests.get(request)
      if (requested === undefined) throw new Error('Nobody waits for this reply.')
      const problems = problemsOfReply(requested.schema, reply as Json)
      if (problems.length === 0) requested.reply = reply
      return { problems }
    },
    ping: () => ({}),
    walls: () => walls
  }
}

/** What a call has made can be taken back for a while after it failed. */
async function runCall (call: number, work: (own: Call) => unknown): Promise<Given> {
  const own: Call = { requests: new Map(), takeBacks: [] }
  open.set(call, own)
  try {
    const returned = await runAsCall(call, () => work(own))
    open.delete(call)
    return given(returned)
  } catch (error) {
    setTimeout(() => open.delete(call), takeBackWithin).unref()
    throw error
  }
}

const reader = createFrameReader(calls.take)
process.stdin.on('data', (piece: Buffer) => reader.take(piece))
// Without its host it has nothing to do.
process.stdin.on('end', () => process.exit(0))
// What an adapter rejects and nobody awaits is its own fault; the call that it belongs to ends by its limit.
process.on('unhandledRejection', (error) => tellStray(error, 'a promise was rejected and nobody awaited it'))
process.on('uncaughtException', (error) => tellStray(error, 'an error was thrown and nobody could catch it'))
Reflect.deleteProperty(globalThis, 'WebAssembly')

function tellStray (error: unknown, message: string): void {
  const err: JsonObject | string = error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack ?? '' }
    : String(error)
  outside.tell('log', { call: runningCall(), level: 'error', facts: { err }, message: `${message}: a fault of the adapter` })
}
