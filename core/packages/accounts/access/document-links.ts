import { createHmac, timingSafeEqual } from 'node:crypto'

/** Signed, expiring tokens for documents, for people without credentials. */
export type DocumentLinks = {
  /** A token of {@link linkLength} characters. `expiresAt` counts in whole seconds, until 2106. */
  sign: (documentId: string, expiresAt: Date) => string
  /** The document's id; undefined when the token was not signed here or has expired. */
  verify: (token: string) => string | undefined
}

/** Every token has this many URL-safe characters, so that a text message can be measured before the link exists. */
export const linkLength = 48

/** The URL of a token. `publicUrl` has no slash at its end. */
export function linkOf (publicUrl: string, token: string): string {
  return `${publicUrl}/d/${token}`
}

/** A link to nothing, with the length of every real link. */
export function sampleLink (publicUrl: string): string {
  return linkOf(publicUrl, '0'.repeat(linkLength))
}

const idLength = 16
const payloadLength = idLength + 4
const macLength = 16

/** Creates links signed with `key`: base64url of document id (16 bytes), expiry in seconds (4 bytes), HMAC-SHA256 (first 16 bytes). */
export function createDocumentLinks ({ key, now }: { key: Uint8Array, now: () => Date }): DocumentLinks {
  const macOf = (payload: Uint8Array): Buffer => createHmac('sha256', key).update(payload).digest().subarray(0, macLength)
  return {
    sign (documentId, expiresAt) {
      const payload = Buffer.alloc(payloadLength)
      payload.set(bytesOf(documentId))
      payload.writeUInt32BE(Math.floor(expiresAt.getTime() / 1000), idLength)
      return Buffer.concat([payload, macOf(payload)]).toString('base64url')
    },
    verify (token) {
      if (token.length !== linkLength) return undefined
      const bytes = Buffer.from(token, 'base64url')
      if (bytes.length !== payloadLength + macLength) return undefined
      const payload = bytes.subarray(0, payloadLength)
      if (!timingSafeEqual(macOf(payload), bytes.subarray(payloadLength))) return undefined
      return payload.readUInt32BE(idLength) * 1000 > now().getTime() ? uuidOf(payload.subarray(0, idLength)) : undefined
    }
  }
}

function bytesOf (uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex')
  if (bytes.length !== idLength) throw new Error(`A document link needs a UUID, not "${uuid}".`)
  return bytes
}

function uuidOf (bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
