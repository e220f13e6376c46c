import type { Keyring } from '@dispatch/common'
import { token } from '@dispatch/plugins/feature'
import type { EndpointSecret } from '../store/tables.ts'
import { makeSigningSecret, maxSignatures, overlap, signedHeaders } from './signing.ts'

/** An endpoint whose secrets sign. */
type Signing = { companyId: number, endpointId: string, secrets: readonly EndpointSecret[] }

/** The secrets of endpoints. */
export type EndpointSigning = {
  /** The headers of Standard Webhooks 1.0.0 for one attempt: signed with each secret that is valid, the newest first. */
  sign: (endpoint: Signing, message: { id: string, body: string }) => Record<string, string>
  /** A new secret: as it is stored, and as it is shown once. */
  make: (endpoint: Omit<Signing, 'secrets'>) => { stored: EndpointSecret, shown: string }
  /** The secrets with a new one before them: the one before stays valid for a day, and those whose day is over are gone. */
  rotate: (present: readonly EndpointSecret[], fresh: EndpointSecret) => EndpointSecret[]
}

export const endpointSigning = token<EndpointSigning>('endpointSigning')

type Options = { keyring: Keyring, now: () => Date, newId: () => string }

export function createEndpointSigning ({ keyring, now, newId }: Options): EndpointSigning {
  const isValid = ({ expiresAt }: EndpointSecret): boolean => expiresAt === null || new Date(expiresAt) > now()
  return {
    sign ({ companyId, endpointId, secrets }, message) {
      return signedHeaders(keyring, { companyId, endpointId }, secrets.filter(isValid), { ...message, now: now() })
    },

    make (endpoint) {
      const { stored, shown } = makeSigningSecret(keyring, endpoint, newId())
      return { stored: { ...stored, createdAt: now().toISOString(), expiresAt: null }, shown }
    },

    rotate (present, fresh) {
      const until = new Date(now().getTime() + overlap).toISOString()
      const others = present.filter(isValid).map((secret) => ({ ...secret, expiresAt: secret.expiresAt ?? until }))
      return [fresh, ...others].slice(0, maxSignatures)
    }
  }
}
