import type { CallContext, InstalledProvider } from '@dispatch/host'

/** The access token of every connection: fixtures expect it as `bearer`. */
export const connectionToken = 'token-of-the-connection'

/** The sign-in of a provider whose manifest has `connect`; `facts` are those of a fixture, `value` a real token while one is recorded. */
export function connectionOf (
  { manifest }: Pick<InstalledProvider, 'manifest'>,
  { facts = {}, token: value = connectionToken }: { facts?: Readonly<Record<string, string>>, token?: string }
): Pick<CallContext['resources'], 'connection'> {
  return manifest.connect === undefined
    ? {}
    : { connection: { token: () => Promise.resolve({ value, cached: false }), drop: () => Promise.resolve(), facts } }
}
