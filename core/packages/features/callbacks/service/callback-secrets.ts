import type { AuditAuthor } from '@dispatch/accounts'
import type { Keyring } from '@dispatch/common'
import type { CallbackSecrets, NewCallbackSecret } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { addFirstCallbackSecret, type CallbackSecretRow, type NewCallbackSecretRow, readCallbackSecrets,
  rotateCallbackSecret } from '../store/secrets.ts'
import { makeSigningSecret, overlap, signedHeaders } from './signing.ts'

/** The secrets that a company's callbacks are signed with. */
export type CallbackSigning = {
  /**
   * The headers of Standard Webhooks 1.0.0 for one attempt: signed with each secret that is valid, the newest first. Makes the first
   * secret.
   */
  sign: (companyId: number, message: { id: string, body: string }) => Promise<Record<string, string>>
  /** When they were made and how long they are valid. */
  list: (companyId: number) => Promise<CallbackSecrets>
  /** Makes a new secret, which is shown only here. The one before stays valid for a day. */
  rotate: (author: AuditAuthor) => Promise<NewCallbackSecret>
}

export const signing = token<CallbackSigning>('callbackSigning')

type Options = { database: Database, keyring: Keyring, now: () => Date, newId: () => string }

export function createCallbackSigning ({ database, keyring, now, newId }: Options): CallbackSigning {
  function make (
    companyId: number,
    { userId = null, impersonatorId = null }: { userId?: number | null, impersonatorId?: number | null } = {}
  ): { shown: string, stored: NewCallbackSecretRow } {
    const { shown, stored: { id: secretId, sealed } } = makeSigningSecret(keyring, { companyId }, newId())
    return { shown, stored: { secretId, userId, impersonatorId, sealed } }
  }

  async function valid (companyId: number): Promise<CallbackSecretRow[]> {
    const present = await readCallbackSecrets(database, companyId, now())
    if (present.length > 0) return present
    await addFirstCallbackSecret(database, companyId, make(companyId).stored, now())
    return readCallbackSecrets(database, companyId, now())
  }

  return {
    async sign (companyId, { id, body }) {
      const secrets = (await valid(companyId)).map(({ secret_id: secretId, sealed }) => ({ id: secretId, sealed }))
      return signedHeaders(keyring, { companyId }, secrets, { id, body, now: now() })
    },

    async list (companyId) {
      const secrets = await readCallbackSecrets(database, companyId, now())
      return {
        secrets: secrets.map((secret) => ({
          createdAt: secret.created_at.toISOString(),
          expiresAt: secret.expires_at?.toISOString() ?? null
        }))
      }
    },

    async rotate (author) {
      const { companyId, userId, impersonatorId } = author
      const time = now()
      const previousUntil = new Date(time.getTime() + overlap)
      const { shown, stored } = make(companyId, { userId, ...(impersonatorId === undefined ? {} : { impersonatorId }) })
      const replaced = await rotateCallbackSecret(database, companyId, stored, { author, at: time, previousUntil })
      return {
        secret: shown,
        createdAt: time.toISOString(),
        previousUntil: replaced ? previousUntil.toISOString() : null
      }
    }
  }
}
