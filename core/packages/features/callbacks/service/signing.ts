import type { AuditAuthor } from '@dispatch/accounts'
import type { Keyring } from '@dispatch/common'
import type { CallbackSecrets, NewCallbackSecret } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { addFirstSecret, readSecrets, rotateSecret, type Signer, validAt } from '../store/secrets.ts'
import type { SigningSecret } from '../store/tables.ts'
import { makeSigningSecret, maxSignatures, signedHeaders } from './signatures.ts'

/** Milliseconds for which a replaced secret still signs. */
const overlap = 24 * 3600 * 1000

/** The secrets that callbacks are signed with: those of a company to its addresses (`endpointId` null), and those of each endpoint. */
export type Signing = {
  /**
   * The headers of Standard Webhooks 1.0.0 for one attempt, signed with each of the secrets that is valid, the newest first. `secrets`: as
   * they were read with the callback. A company that has none gets its first one. Throws a `SealError` where one cannot be opened.
   */
  sign: (signer: Signer & { secrets: readonly SigningSecret[] }, message: { id: string, body: string }) => Promise<Record<string, string>>
  /** A new secret: as it is stored, and as it is shown once. */
  make: (signer: Signer) => { stored: SigningSecret, shown: string }
  /** When the secrets of a company were made and how long they are valid. */
  list: (companyId: number) => Promise<CallbackSecrets>
  /**
   * Makes a new secret of the author's company or of one of its endpoints, which is shown only here. The one before stays valid for a day.
   * Undefined where the company has no such endpoint.
   */
  rotate: {
    (author: AuditAuthor, endpointId: null): Promise<NewCallbackSecret>
    (author: AuditAuthor, endpointId: string): Promise<NewCallbackSecret | undefined>
  }
}

export const signing = token<Signing>('callbackSigning')

type Options = { database: Database, keyring: Keyring, now: () => Date, newId: () => string }

/** Signs callbacks. The secrets are sealed under the master key of the service, each for its signer alone. */
export function createSigning ({ database, keyring, now, newId }: Options): Signing {
  function make (signer: Signer): { stored: SigningSecret, shown: string } {
    const { stored, shown } = makeSigningSecret(keyring, signer, newId())
    return { stored: { ...stored, createdAt: now().toISOString(), expiresAt: null }, shown }
  }

  async function firstOf (companyId: number): Promise<SigningSecret[]> {
    await addFirstSecret(database, companyId, make({ companyId, endpointId: null }).stored)
    return validAt(await readSecrets(database, companyId), now())
  }

  async function rotate (author: AuditAuthor, endpointId: string | null): Promise<NewCallbackSecret | undefined> {
    const at = now()
    const until = new Date(at.getTime() + overlap)
    const signer = { companyId: author.companyId, endpointId }
    const { stored, shown } = make(signer)
    const replaced = await rotateSecret(database, signer, { secret: stored, author, at, until, max: maxSignatures })
    if (replaced === undefined) return undefined
    return { secret: shown, createdAt: stored.createdAt, previousUntil: replaced ? until.toISOString() : null }
  }

  return {
    async sign ({ secrets, ...signer }, message) {
      const valid = validAt(secrets, now())
      const signed = valid.length === 0 && signer.endpointId === null ? await firstOf(signer.companyId) : valid
      return signedHeaders(keyring, signer, signed, { ...message, now: now() })
    },

    make,

    async list (companyId) {
      const secrets = validAt(await readSecrets(database, companyId), now())
      return {
        secrets: secrets.map(({ createdAt, expiresAt }) => ({
          createdAt: new Date(createdAt).toISOString(),
          expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString()
        }))
      }
    },

    rotate: rotate as Signing['rotate']
  }
}
