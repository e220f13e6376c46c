import { createHash } from 'node:crypto'
import type { ImageData } from '../model/document.ts'

/** A picture that is sent with an HTML document, which shows it as `cid:<cid>` (RFC 2392). `bytes` own their memory. */
export type InlinePart = { cid: string, contentType: 'image/png' | 'image/jpeg', bytes: Uint8Array<ArrayBuffer>, filename: string }

/** The pictures of one document, each once. */
export type Pictures = { readonly add: (image: ImageData) => InlinePart, readonly all: () => InlinePart[] }

/** The pictures of an e-mail, each once. */
export function createPictures (): Pictures {
  const parts = new Map<string, InlinePart>()
  return {
    add ({ bytes, format }) {
      const cid = `${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}@picture`
      const part = parts.get(cid) ??
        { cid, contentType: `image/${format}` as const, bytes: Uint8Array.from(bytes), filename: `picture-${parts.size + 1}.${format}` }
      parts.set(cid, part)
      return part
    },
    all: () => [...parts.values()]
  }
}
