import { AsyncLocalStorage } from 'node:async_hooks'
import type { Log } from './log.ts'

/** Whose code runs. `log` writes none of the secrets that the code was given; without one, the log of the process is used. */
export type Running = { provider: string, log?: Log }

/** Follows the code of a provider through its promises, timers and events. */
const running = new AsyncLocalStorage<Running>()

/** Runs code of a provider, so that an error which nobody awaits can be told to be its. */
export function runAs<Result> (provider: Running, work: () => Result): Result {
  return running.run(provider, work)
}

/** `end` is called with an error that no provider caused and after which the state of the process is not known. */
export type StrayErrorsOptions = { log: Log, end: (error: unknown) => void }

/**
 * Lets the process live through errors that nobody awaits: a rejected promise, or a throw in a timer of a provider. They are
 * logged as faults of that provider; its call ends by its time limit, the other calls go on. A rejection of our own is logged too;
 * a throw of our own ends the process.
 * Disposing gives the errors back to Node.
 */
export function containStrayErrors ({ log, end }: StrayErrorsOptions): Disposable {
  const onRejection = (error: unknown): void => {
    report(error, 'a promise was rejected and nobody awaited it')
  }
  const onException = (error: unknown): void => {
    if (report(error, 'an error was thrown and nobody could catch it') === undefined) end(error)
  }
  process.on('unhandledRejection', onRejection).on('uncaughtException', onException)
  return {
    [Symbol.dispose] () {
      process.off('unhandledRejection', onRejection).off('uncaughtException', onException)
    }
  }

  /** Answers whose error it is, where that is a provider. */
  function report (error: unknown, what: string): string | undefined {
    const { provider, log: own = log } = running.getStore() ?? {}
    if (provider === undefined) log.error({ err: error }, what)
    else own.error({ err: error, provider }, `${what}: a fault of the provider "${provider}"`)
    return provider
  }
}
