import { memoizeByIdentity } from '@dispatch/common'
import { createLocalJWKSet, errors, type FlattenedVerifyGetKey, type JSONWebKeySet } from 'jose'
import type { KeySet } from './webhook.ts'

/** Fetches JSON over HTTPS; rejects for anything but a readable 200. */
export type FetchJson = (url: string) => Promise<unknown>

/** The public keys of one vendor. */
export type KeySource = {
  /** Finds the key of a signature among those known; throws jose's JWKSNoMatchingKey. */
  find: FlattenedVerifyGetKey
  /** Reads the keys again, but at most once a minute; resolves when they have been read, or need not be, or cannot be. */
  refresh: () => Promise<void>
  /** When the known keys were asked for; null: never, or they never change. */
  readAt: () => Date | null
  /** From when on {@link KeySource.refresh} reads again; null: there is nothing to read. */
  nextRead: () => Date | null
}

export type KeySources = { of: (jwks: string | KeySet) => KeySource }

/** Milliseconds between two readings of the same address, whether they succeed or not. */
const pause = 60_000
/** Milliseconds after which known keys are read again: a vendor may have withdrawn one. */
const staleAfter = 3_600_000

/** The keys of all vendors, each address read when it is first needed and kept in memory. */
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

/** jose checks the shape of the set, imports each key once, and takes only public RSA keys of at least 2048 bits for PS256. */
function localKeys (set: unknown): FlattenedVerifyGetKey {
  return createLocalJWKSet(set as JSONWebKeySet)
}
