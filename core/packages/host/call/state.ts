import type { Log } from '@dispatch/common'
import { type CallProgress, providerErrorOf, RequestFailure } from '@dispatch/vendor-io/outcome'
import { runAsHost } from '../contain/stray-errors.ts'
import type { Keeping, State } from '../manifest/context.ts'

/** A call wants to keep more than its configuration may. */
export class StateFull extends Error {
  override name = 'StateFull'

  constructor (provider: string, { keys, bytes }: { keys: number, bytes: number }, cause: unknown) {
    super(`The provider "${provider}" keeps too much in its state: at most ${keys} keys and ${bytes} bytes for each configuration. ` +
      'Delete what is not needed any more.', { cause })
  }
}

const longestKey = 500
/** Seconds: ten years. */
const longestTtl = 315_360_000

/**
 * The state of one call. A failure to store it says nothing about the vendor: the outcome stays what the requests of the call have shown.
 * Storing is work of the host, too: its connection to the database does not count as a request to the vendor.
 */
export function stateOf (state: State, { progress, log }: { progress: CallProgress, log: Log }): State {
  const unkept = (message: string, cause?: unknown): Error =>
    providerErrorOf(new RequestFailure('not done', message, { cause, ours: true }), progress, { unsafe: false })
  const kept = async <Value>(key: string, { ttl = 1 }: Keeping, keep: () => Promise<Value>): Promise<Value> => {
    if (!(ttl > 0 && ttl <= longestTtl)) throw unkept(`The "ttl" of the state is a number of seconds, up to ${longestTtl}.`)
    if (key === '' || key.length > longestKey) throw unkept(`A key of the state has 1 to ${longestKey} characters.`)
    try {
      return await runAsHost(keep)
    } catch (error) {
      if (!(error instanceof StateFull)) throw error
      log.warn({ key }, error.message)
      throw unkept(error.message, error)
    }
  }
  return {
    get: (key) => runAsHost(() => state.get(key)),
    put: (key, value, how = {}) => kept(key, how, () => state.put(key, value, how)),
    putIfAbsent: (key, value, how = {}) => kept(key, how, () => state.putIfAbsent(key, value, how)),
    delete: (key) => runAsHost(() => state.delete(key))
  }
}
