import type { CallContext, InstalledProvider } from '@dispatch/core/host'

/** The access token of every connection: fixtures expect it as `bearer`. */
const value = 'token-of-the-connection'

/** The sign-in of a provider whose manifest has `connect`. */
export function connectionOf ({ manifest }: Pick<InstalledProvider, 'manifest'>): Pick<CallContext['resources'], 'connection'> {
  return manifest.connect === undefined
    ? {}
    : { connection: { token: () => Promise.resolve({ value, cached: false }), drop: () => Promise.resolve() } }
}
