import { type JsonObject, memoizeByIdentity } from '@dispatch/common'
import type { FetchJson } from '@dispatch/vendor-io'
import { createLocalJWKSet, errors, type FlattenedVerifyGetKey, type JSONWebKeySet } from 'jose'
import type { KeyObject } from 'node:crypto'
import { publicKeysIn } from './public-keys.ts'

/** A JSON Web Key Set (RFC 7517) of public keys. */
export type KeySet = { readonly keys: readonly JsonObject[] }

/** Credentials of the server's configuration, `user:password`, by the provider's code in capitals, `_` for `-`. */
export type EndpointAuth = Readonly<Record<string, string>>

/** Public keys that the server itself has for a provider, in place of those that it declares. */
export type EndpointKeys = (code: string) => KeySet | undefined

/** The public keys of one vendor. */
export type KeySource = {
  /** Finds the key for a signature among the known keys. Throws jose's JWKSNoMatchingKey. */
  find: FlattenedVerifyGetKey
  /** All known keys, for signatures that name none. A certificate that is not valid at `at` has none. */
  all: (at: Date) => readonly KeyObject[]
  /**
   * Fetches the keys again, at most once a minute. It resolves after the fetch, whether that succeeded or not, or at once when none is due.
   */
  refresh: () => Promise<void>
  /** When the known keys were fetched; null for keys that were never fetched or never change. */
  readAt: () => Date | null
  /** The time from which {@link KeySource.refresh} fetches again; null for keys that never change. */
  nextRead: () => Date | null
}

export type KeySources = {
  /** The keys at a URL that a provider declares (a JWKS, or a PEM), or the keys themselves. */
  of: (keys: string | KeySet) => KeySource
  /** The key of a certificate, whose URL an event has named: it is at a host that the provider declares. */
  certificateAt: (url: string) => KeySource
}

/** The least time in milliseconds between two fetches of the same URL, successful or not. */
const pause = 60_000
/** Known keys are fetched again after this time in milliseconds, because a vendor may have withdrawn one. */
const staleAfter = 3_600_000
/** The most certificates that are remembered: anybody can name further ones at the host of a vendor. */
const maxCertificates = 50

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
  const certificates = new Map<string, KeySource>()
  const inline = memoizeByIdentity(inlineSource)
  const sourceAt = (url: string): KeySource => remoteSource({ fetch: () => fetchJson(url), now, onError: (error) => onError(error, url) })
  return {
    of (keys) {
      if (typeof keys !== 'string') return inline(keys)
      const source = remote.get(keys) ?? sourceAt(keys)
      remote.set(keys, source)
      return source
    },
    certificateAt (url) {
      const source = certificates.get(url) ?? sourceAt(url)
      // The one that was asked for last is forgotten last.
      certificates.delete(url)
      certificates.set(url, source)
      const [oldest] = certificates.keys()
      if (certificates.size > maxCertificates && oldest !== undefined) certificates.delete(oldest)
      return source
    }
  }
}

function inlineSource (keys: KeySet): KeySource {
  return {
    find: localKeys(keys),
    all: publicKeysIn(keys),
    refresh: () => Promise.resolve(),
    readAt: () => null,
    nextRead: () => null
  }
}

type Known = Pick<KeySource, 'find' | 'all'>

const nothingKnown: Known = {
  find: () => {
    throw new errors.JWKSNoMatchingKey()
  },
  all: () => []
}

function remoteSource ({ fetch, now, onError }: {
  fetch: () => Promise<unknown>
  now: () => Date
  onError: (error: unknown) => void
}): KeySource {
  let known = nothingKnown
  let readAt: Date | null = null
  let triedAt = -Infinity
  let reading: Promise<void> | undefined

  async function read (): Promise<void> {
    const requestedAt = now()
    triedAt = requestedAt.getTime()
    try {
      known = keysIn(await fetch())
      readAt = requestedAt
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

  function current (): Known {
    if (readAt !== null && now().getTime() - readAt.getTime() > staleAfter) void refresh()
    return known
  }

  return {
    find: (header, token) => current().find(header, token),
    all: (at) => current().all(at),
    refresh,
    readAt: () => readAt,
    nextRead: () => new Date(triedAt === -Infinity ? 0 : triedAt + pause)
  }
}

function keysIn (fetched: unknown): Known {
  return typeof fetched === 'string'
    ? { ...nothingKnown, all: publicKeysIn(fetched) }
    : { find: localKeys(fetched), all: publicKeysIn(fetched) }
}

/** jose checks the shape of the set, imports each key once, and accepts only public RSA keys of at least 2048 bits for PS256. */
function localKeys (set: unknown): FlattenedVerifyGetKey {
  return createLocalJWKSet(set as JSONWebKeySet)
}
