/** A field whose value is a credential, in a header, a query or a body. Tokens of a page or for idempotency have other names. */
const credentialField =
  /(^|[-_])((set[-_])?cookie|authorization|token|api[-_]?key|(access|auth|id|refresh|security|session)[-_]?token|(client[-_]?)?secret|password|signature)$/i
const otherField = /idempot|client[-_]?token|page[-_]?token/i

/** Whether a field of this name holds a credential. */
export function isCredentialField (name: string): boolean {
  return credentialField.test(name) && !otherField.test(name)
}
