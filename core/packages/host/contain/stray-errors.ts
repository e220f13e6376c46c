import type { Log } from '@dispatch/common'
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { guardProcess } from './process-guard.ts'

/**
 * Whose code runs. `log` hides the secrets that the code was given; without it, the log of the process is used. `onFault` is called for
 * each unhandled error, `onLeaving` when something leaves this process in whichever way.
 */
export type Running = { provider: string, log?: Log, onFault?: () => void, onLeaving?: () => void }

/** Follows a provider's code through its promises, timers and events. */
const running = new AsyncLocalStorage<Running>()

/**
 * Where Node tells of each request and connection that code of this process begins: a provider is to use the functions that it is given,
 * but one that runs here may do without them.
 */
const exits = ['net.client.socket', 'undici:request:create', 'http.client.request.start', 'udp.socket', 'child_process']
for (const exit of exits) subscribe(exit, () => running.getStore()?.onLeaving?.())

/** Runs a provider's code, so that an unhandled error of it can be attributed to it. An inner call inherits what the outer one gave. */
export function runAs<Result> (provider: Running, work: () => Result): Result {
  return running.run({ ...running.getStore(), ...provider }, work)
}

/** Runs code of the host within a provider's call: its errors count as those of the host, which end the process. */
export function runAsHost<Result> (work: () => Result): Result {
  return running.exit(work)
}

/** `end` is called with an error that no provider caused: the state of the process is then unknown. */
export type StrayErrorsOptions = { log: Log, end: (error: unknown) => void }

/**
 * Keeps the process running after unhandled errors: a rejected promise, or a throw in a provider's timer. They are logged as faults of that
 * provider, and counted. Its call ends at its time limit, and the other calls continue. Our own unhandled rejection is logged too. Our own
 * uncaught error ends the process. A provider that calls `process.exit()` or the like gets an error in place of the end, logged and counted
 * too. Disposing gives all of it back to Node.
 */
export function containStrayErrors ({ log, end }: StrayErrorsOptions): Disposable {
  /** Errors in place of an end: told when they are made, and not again where nobody catches them. */
  const refusals = new WeakSet<object>()
  const onRejection = (error: unknown): void => {
    report(error, 'a promise was rejected and nobody awaited it')
  }
  const onException = (error: unknown): void => {
    if (report(error, 'an error was thrown and nobody could catch it') === undefined) end(error)
  }
  process.on('unhandledRejection', onRejection).on('uncaughtException', onException)
  const guard = guardProcess((name) => {
    if (running.getStore() === undefined) return
    const error = new Error(`A provider may not call process.${name}().`)
    report(error, `process.${name}() was called`)
    refusals.add(error)
    throw error
  })
  return {
    [Symbol.dispose] () {
      guard[Symbol.dispose]()
      process.off('unhandledRejection', onRejection).off('uncaughtException', onException)
    }
  }

  /** The provider whose error it is, if it is one's. */
  function report (error: unknown, what: string): string | undefined {
    const { provider, log: own = log, onFault } = running.getStore() ?? {}
    if (error instanceof Error && refusals.has(error)) return provider
    if (provider === undefined) log.error({ err: error }, what)
    else own.error({ err: error, provider }, `${what}: a fault of the provider "${provider}"`)
    onFault?.()
    return provider
  }
}
