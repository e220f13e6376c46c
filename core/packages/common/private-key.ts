import { createPrivateKey } from 'node:crypto'

/** Bits. Verifiers of DKIM ignore signatures with shorter keys (RFC 8301, 3.2). */
const shortest = 1024

/** Whether a text is a private RSA key in PEM, without a passphrase, that can sign. */
export function isRsaKey (text: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(text)
    return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= shortest
  } catch {
    return false
  }
}
