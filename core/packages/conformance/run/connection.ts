import type { CallContext, InstalledProvider } from '@dispatch/core/host'

/** The access token of every connection: fixtures expect it as `bearer`. */
const value = 'token-of-the-connection'

/** The sign-in of a provider whose manifest has `connect`; `facts` are those of a fixture. */
export function connectionOf (
  { manifest }: Pick<InstalledProvider, 'manifest'>,
  facts: Readonly<Record<string, string>> = {}
): Pick<CallContext['resources'], 'connection'> {
  return manifest.connect === undefined
    ? {}
    : { connection: { token: () => Promise.resolve({ value, cached: false }), drop: () => Promise.resolve(), facts } }
}
