import { memoizeByIdentity } from '@dispatch/common'
import { createLocalJWKSet, errors, type FlattenedVerifyGetKey, type JSONWebKeySet } from 'jose'
import type { KeySet } from './webhook.ts'

/** Fetches JSON over HTTPS. It rejects for any answer but a readable 200. */
export type FetchJson = (url: string) => Promise<unknown>

/** The public keys of one vendor. */
export type KeySource = {
  /** Finds the key for a signature among the known keys. Throws jose's JWKSNoMatchingKey. */
  find: FlattenedVerifyGetKey
  /**
   * Fetches the keys again, at most once a minute. It resolves after the fetch, whether that succeeded or not, or at once when none is due.
   */
  refresh: () => Promise<void>
  /** When the known keys were fetched; null for keys that were never fetched or never change. */
  readAt: () => Date | null
  /** The time from which {@link KeySource.refresh} fetches again; null for keys that never change. */
  nextRead: () => Date | null
}

export type KeySources = { of: (jwks: string | KeySet) => KeySource }

/** The least time in milliseconds between two fetches of the same URL, successful or not. */
const pause = 60_000
/** Known keys are fetched again after this time in milliseconds, because a vendor may have withdrawn one. */
const staleAfter = 3_600_000

/**
 * The keys of all vendors. Each URL is fetched when its keys are first needed, and the keys are kept in memory. jose's `createRemoteJWKSet`
 * (6.2) does not serve here: it pauses only after a successful fetch, so that each forged event would ask a vendor that is away; it drops
 * stale keys while the vendor is away, it fetches while the event waits, and it takes no clock.
 */
export function createKeySources ({ fetchJson, now, onError }: {
  fetchJson: FetchJson
  now: () => Date
  onError: (error: unknown, url: string) => void
}): KeySources {
  const remote = new Map<string, KeySource>()
  const inline = memoizeByIdentity(inlineSource)
  return {
    of (jwks) {
      if (typeof jwks !== 'string') return inline(jwks)
      const source = remote.get(jwks) ?? remoteSource({ fetch: () => fetchJson(jwks), now, onError: (error) => onError(error, jwks) })
      remote.set(jwks, source)
      return source
    }
  }
}

function inlineSource (keys: KeySet): KeySource {
  return { find: localKeys(keys), refresh: () => Promise.resolve(), readAt: () => null, nextRead: () => null }
}

function remoteSource ({ fetch, now, onError }: {
  fetch: () => Promise<unknown>
  now: () => Date
  onError: (error: unknown) => void
}): KeySource {
  let find: FlattenedVerifyGetKey = () => {
    throw new errors.JWKSNoMatchingKey()
  }
  let readAt: Date | null = null
  let triedAt = -Infinity
  let reading: Promise<void> | undefined

  async function read (): Promise<void> {
    const asked = now()
    triedAt = asked.getTime()
    try {
      find = localKeys(await fetch())
      readAt = asked
    } catch (error) {
      onError(error)
    }
  }

  function refresh (): Promise<void> {
    if (reading === undefined && now().getTime() - triedAt >= pause) {
      reading = read().finally(() => {
        reading = undefined
      })
    }
    return reading ?? Promise.resolve()
  }

  return {
    find: (header, token) => {
      if (readAt !== null && now().getTime() - readAt.getTime() > staleAfter) void refresh()
      return find(header, token)
    },
    refresh,
    readAt: () => readAt,
    nextRead: () => new Date(triedAt === -Infinity ? 0 : triedAt + pause)
  }
}

/** jose checks the shape of the set, imports each key once, and accepts only public RSA keys of at least 2048 bits for PS256. */
function localKeys (set: unknown): FlattenedVerifyGetKey {
  return createLocalJWKSet(set as JSONWebKeySet)
}
