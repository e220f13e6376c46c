/**
 * In the place of what tap finds the test with, in which an error was thrown that nobody could catch: async-hook-domain follows each
 * promise and each handle by hooks, and each then takes longer. Contexts tell the same and cost nothing.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** Of each test tap makes one of these, and runs it in it. */
export class AsyncResource {
  readonly #parent = scopes.getStore()
  domain: Domain | undefined

  runInAsyncScope<Self, Given extends unknown[], Result> (
    run: (this: Self, ...given: Given) => Result,
    self: Self,
    ...given: Given
  ): Result {
    return scopes.run(this, () => run.apply(self, given))
  }

  emitDestroy (): this {
    return this
  }

  /** Of the innermost test around what runs that has not ended. */
  get living (): Domain | undefined {
    return this.domain?.destroyed === false ? this.domain : this.#parent?.living
  }
}

const scopes = new AsyncLocalStorage<AsyncResource>()

/** Around what runs outside of all tests. */
const outside: { domain?: Domain } = {}

type OnError = (error: unknown, type: string) => void

export class Domain {
  readonly onerror: OnError
  destroyed = false

  constructor (onerror: OnError) {
    this.onerror = onerror
    const scope = scopes.getStore() ?? outside
    scope.domain = this
  }

  destroy (): void {
    this.destroyed = true
  }
}

// Whoever listens to such errors, or has them all, is left to it.
process.on('uncaughtExceptionMonitor', (error, type) => {
  const living = scopes.getStore()?.living ?? outside.domain
  if (living === undefined || living.destroyed || process.listenerCount('uncaughtException') > 0) return
  if (process.hasUncaughtExceptionCaptureCallback()) return
  living.onerror(error, type)
  // The test has it: the process does not end of it.
  process.setUncaughtExceptionCaptureCallback(() => {
    process.setUncaughtExceptionCaptureCallback(null)
  })
})
