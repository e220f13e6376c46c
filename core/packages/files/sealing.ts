import { createCipheriv, createDecipheriv, type DecipherGCM, hkdfSync, randomBytes } from 'node:crypto'
import { FileDamaged } from './errors.ts'

/** A key of 32 bytes that seals files. Its id has 16 bytes, and stands in each file. */
export type FileKey = { id: Uint8Array, secret: Uint8Array }

/** The keys of files. `file`: the key under which the store has it. */
export type FileKeys = {
  /** What seals a new file; undefined: it is stored as it is. Nothing is sealed with a key that is not safe itself. */
  current: (file: string) => Promise<FileKey | undefined>
  /** The secret that sealed a file, by its id. Throws a StorageUnavailable where there is none. */
  find: (file: string, id: Uint8Array) => Promise<Uint8Array>
}

/** What a sealed file begins with: no type of file does. */
const mark = Buffer.from('\x8bsealed\x01', 'latin1')
const [idLength, saltLength, tagLength] = [16, 32, 16]
const headLength = mark.length + idLength + saltLength

const cipher = 'aes-256-gcm'

type Pieces = AsyncIterable<Uint8Array>

/**
 * Seals the bytes of a file as they come: a mark, the id of the key, a salt, the bytes under AES-256-GCM, and their tag. Each file has a
 * key of its own, derived from that of its company (HKDF), so that no two share a nonce. It opens under its own name alone.
 */
export async function* sealed (
  { id, secret }: FileKey,
  file: string,
  pieces: Pieces | Iterable<Uint8Array>
): AsyncGenerator<Uint8Array, void> {
  const salt = randomBytes(saltLength)
  const { key, iv } = derived(secret, salt)
  const gcm = createCipheriv(cipher, key, iv, { authTagLength: tagLength }).setAAD(Buffer.from(file))
  yield Buffer.concat([mark, id, salt])
  for await (const piece of pieces) yield gcm.update(piece)
  gcm.final()
  yield gcm.getAuthTag()
}

/**
 * Opens the bytes of a file as they come; those of one that was stored as it is pass. That all of them are right is known at the end, where
 * a FileDamaged is thrown otherwise. Throws as `find`.
 */
export async function* opened (
  find: FileKeys['find'],
  file: string,
  pieces: Pieces | Iterable<Uint8Array>
): AsyncGenerator<Uint8Array, void> {
  let gcm: DecipherGCM | undefined
  let isPlain = false
  /** Bytes that cannot be told yet: of the head, then those that may be the tag. */
  let kept: Uint8Array = new Uint8Array()
  for await (const piece of pieces) {
    if (isPlain) {
      yield piece
      continue
    }
    kept = kept.length === 0 ? piece : Buffer.concat([kept, piece])
    if (gcm === undefined) {
      isPlain = !mayBeSealed(kept)
      if (isPlain) yield kept
      if (isPlain || kept.length < headLength) continue
      gcm = await opening(find, file, kept.subarray(0, headLength))
      kept = kept.subarray(headLength)
    }
    if (kept.length <= tagLength) continue
    yield gcm.update(kept.subarray(0, -tagLength))
    kept = kept.subarray(-tagLength)
  }
  if (gcm !== undefined) mustEnd(gcm, file, kept)
  else if (!isPlain && kept.length > 0) yield kept
}

/** Whether a file was sealed, by its bytes as they are stored. */
export function isSealed (bytes: Uint8Array): boolean {
  return bytes.length >= headLength && mayBeSealed(bytes)
}

function mayBeSealed (bytes: Uint8Array): boolean {
  const length = Math.min(bytes.length, mark.length)
  return mark.subarray(0, length).equals(bytes.subarray(0, length))
}

async function opening (find: FileKeys['find'], file: string, head: Uint8Array): Promise<DecipherGCM> {
  const salt = head.subarray(mark.length + idLength)
  const { key, iv } = derived(await find(file, head.subarray(mark.length, mark.length + idLength)), salt)
  return createDecipheriv(cipher, key, iv, { authTagLength: tagLength }).setAAD(Buffer.from(file))
}

/** Throws where the bytes are not all of those that were sealed. */
function mustEnd (gcm: DecipherGCM, file: string, tag: Uint8Array): void {
  try {
    gcm.setAuthTag(tag).final()
  } catch (cause) {
    throw new FileDamaged(file, 'it was altered since it was sealed, or belongs to another place', cause)
  }
}

function derived (secret: Uint8Array, salt: Uint8Array): { key: Uint8Array, iv: Uint8Array } {
  const bytes = Buffer.from(hkdfSync('sha256', secret, salt, 'document-dispatch file', 44))
  return { key: bytes.subarray(0, 32), iv: bytes.subarray(32) }
}
