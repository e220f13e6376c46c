import { createHmac } from 'node:crypto'

/** A mail by its dispatch, and all who get it. */
export type MailRef = { dispatchId: string, to: readonly string[], cc: readonly string[], bcc: readonly string[] }

/**
 * The secret of the one-time link that a mail carries. It is stored nowhere, and computed where it is needed: when the link is made, and
 * when the mail is sent. Another dispatch, or the same one to anybody else, has another secret, which opens nothing.
 */
export type MailedSecrets = (mail: MailRef) => string

/** What stands in a mail in place of the secret, with its length and its characters. */
export const secretMark = 'SecretOfTheLink'.repeat(3).slice(0, 43)

/** Makes the secrets that are mailed, under `key`. The same key signs the links to documents, with other texts. */
export function createMailedSecrets (key: Uint8Array): MailedSecrets {
  return ({ dispatchId, to, cc, bcc }) =>
    createHmac('sha256', key).update(`one-time link\n${JSON.stringify([dispatchId, to, cc, bcc])}`).digest('base64url')
}
