import type { Envelope, Keyring } from '@dispatch/common'
import { createHmac, randomBytes } from 'node:crypto'
import type { Signer } from '../store/secrets.ts'

/** A sealed secret. */
type Sealed = { id: string, sealed: Envelope }

/** Bytes; Standard Webhooks asks for 24 to 64. */
const secretLength = 32
/** The most signatures of one message, the newest first. */
export const maxSignatures = 5

/** Makes a secret: as it is stored, and as it is shown once, in the format of the libraries of Standard Webhooks. */
export function makeSigningSecret (keyring: Pick<Keyring, 'seal'>, signer: Signer, id: string): { stored: Sealed, shown: string } {
  const key = randomBytes(secretLength)
  return { stored: { id, sealed: keyring.seal(key, contextOf(signer, id)) }, shown: `whsec_${key.toString('base64')}` }
}

/**
 * The headers of Standard Webhooks 1.0.0 for one attempt: a signature with each of the first secrets, which are the newest. Throws a
 * `SealError` where the keyring cannot open one of them.
 */
export function signedHeaders (
  keyring: Pick<Keyring, 'open'>,
  signer: Signer,
  secrets: readonly Sealed[],
  { id, body, now }: { id: string, body: string, now: Date }
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = secrets.slice(0, maxSignatures).map(({ id: secretId, sealed }) => {
    const key = keyring.open(sealed, contextOf(signer, secretId))
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

/** What a secret is sealed for. */
function contextOf ({ companyId, endpointId }: Signer, secretId: string): string {
  return endpointId === null
    ? `callback secret|${companyId}|${secretId}`
    : `callback endpoint secret|${companyId}|${endpointId}|${secretId}`
}
