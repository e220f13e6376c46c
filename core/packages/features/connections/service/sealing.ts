import type { Envelope, Keyring } from '@dispatch/common'
import type { VendorTokens } from '@dispatch/host'
import type { ConnectionRef, SealedTokens } from '../store/connections.ts'

/** What tokens of a connection are sealed for. */
const contextOf = ({ companyId, account }: ConnectionRef): string => `${companyId}|connection|${account}`

export type Sealing = Pick<Keyring, 'seal' | 'open'>

/** Seals a secret of a connection. */
export function sealFor (keyring: Sealing, ref: ConnectionRef, secret: string): Envelope {
  return keyring.seal(secret, contextOf(ref))
}

/** Opens a secret of a connection. Throws a `SealError` for one that was sealed for another connection, or was changed. */
export function openFor (keyring: Sealing, ref: ConnectionRef, envelope: Envelope): string {
  return keyring.open(envelope, contextOf(ref)).toString()
}

/** The tokens of an answer, sealed; without a new refresh token the earlier one stays. */
export function sealTokens (
  keyring: Sealing,
  ref: ConnectionRef,
  { access, refresh: issued }: Pick<VendorTokens, 'access' | 'refresh'>,
  earlier?: Envelope
): SealedTokens {
  const refresh = issued === undefined ? earlier : sealFor(keyring, ref, issued)
  return { access: sealFor(keyring, ref, access), ...(refresh !== undefined && { refresh }) }
}
