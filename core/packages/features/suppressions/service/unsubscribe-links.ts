import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'

/** Whom a link unsubscribes from what a company sends through a channel. */
export type Subscription = { companyId: number, channel: string, address: string }

/** Links by which recipients unsubscribe. They do not expire: whoever finds an old mail may do so too (RFC 8058 has no end). */
export type UnsubscribeLinks = {
  /** The same subscription has the same token: a mail that is sent again is the same mail. */
  sign: (subscription: Subscription) => string
  /** Undefined for what was not made here. */
  open: (token: string) => Subscription | undefined
}

const [ivLength, tagLength] = [12, 16]
/** Characters: the longest address has 254. */
const longestToken = 600

/**
 * Tokens that name nobody to those who see them on the way: the subscription under AES-256-GCM. Its nonce is an HMAC of the
 * subscription, so that no nonce serves for two texts, as in SIV (RFC 5297).
 */
export function createUnsubscribeLinks (secret: Uint8Array): UnsubscribeLinks {
  const keys = Buffer.from(hkdfSync('sha256', secret, '', 'unsubscribe links', 64))
  const [nonceKey, key] = [keys.subarray(0, 32), keys.subarray(32)]
  const nonceOf = (text: string): Buffer => createHmac('sha256', nonceKey).update(text).digest().subarray(0, ivLength)
  return {
    sign ({ companyId, channel, address }) {
      const text = JSON.stringify([companyId, channel, address])
      const nonce = nonceOf(text)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64url')
    },
    open (token) {
      const bytes = token.length > longestToken ? Buffer.alloc(0) : Buffer.from(token, 'base64url')
      if (bytes.length <= ivLength + tagLength) return undefined
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
      decipher.setAuthTag(bytes.subarray(-tagLength))
      const text = decipher.update(bytes.subarray(ivLength, -tagLength))
      try {
        decipher.final()
      } catch {
        return undefined
      }
      const [companyId, channel, address] = JSON.parse(text.toString()) as [number, string, string]
      return { companyId, channel, address }
    }
  }
}
