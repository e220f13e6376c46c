import type { DecipherGCM } from 'node:crypto'
import { type DataKey, DerivedKeys, headLength, keyIdOf, tagLength } from './derived-keys.ts'
import { FileDamaged } from './errors.ts'

/** The keys of files. `file`: the key under which the store has it. */
export type FileKeys = {
  /** What seals a new file; undefined: it is stored as it is. Nothing is sealed with a key that is not safe itself. */
  current: (file: string) => Promise<DataKey | undefined>
  /** The secret that sealed a file, by its id. Throws a StorageUnavailable where there is none. */
  find: (file: string, id: Uint8Array) => Promise<Uint8Array>
}

/** What a sealed file begins with: no type of file does. Its last byte is the number of the layout. */
const mark = Buffer.from('\x8bsealed\x02', 'latin1')
/** The number of the layout of earlier builds, which no release had: another one, so that what has it does not open. */
const earlierLayout = 1
/** The bytes before those of the file. */
const beginLength = mark.length + headLength

const derivedKeys = new DerivedKeys('file')

type Pieces = AsyncIterable<Uint8Array>

/**
 * Seals the bytes of a file as they come: a mark, the head with the id of the key, the bytes under AES-256-GCM, and their tag. It opens
 * under its own name alone.
 */
export async function* sealed (
  key: DataKey,
  file: string,
  pieces: Pieces | Iterable<Uint8Array>
): AsyncGenerator<Uint8Array, void> {
  const { head, gcm } = derivedKeys.seal(key, Buffer.from(file))
  yield Buffer.concat([mark, head])
  for await (const piece of pieces) yield gcm.update(piece)
  gcm.final()
  yield gcm.getAuthTag()
}

/** The same of all bytes of a file. */
export function sealedWhole (key: DataKey, file: string, bytes: Uint8Array): Uint8Array {
  const { head, gcm } = derivedKeys.seal(key, Buffer.from(file))
  const encrypted = gcm.update(bytes)
  gcm.final()
  return Buffer.concat([mark, head, encrypted, gcm.getAuthTag()])
}

/**
 * Opens the bytes of a file as they come; those of one that was stored as it is pass. That all of them are right is known at the end, where
 * a FileDamaged is thrown otherwise; that an earlier build has sealed it is thrown before the first byte. Throws as `find`.
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
      if (isPlain || kept.length < beginLength) continue
      if (layoutOf(kept) === earlierLayout) {
        throw new FileDamaged(file, 'it was sealed by an earlier build, and this one opens no such file')
      }
      gcm = await opening(find, file, kept.subarray(mark.length, beginLength))
      kept = kept.subarray(beginLength)
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
  return bytes.length >= beginLength && mayBeSealed(bytes)
}

function mayBeSealed (bytes: Uint8Array): boolean {
  const length = Math.min(bytes.length, mark.length - 1)
  const layout = layoutOf(bytes)
  return mark.subarray(0, length).equals(bytes.subarray(0, length)) &&
    (layout === undefined || layout === layoutOf(mark) || layout === earlierLayout)
}

function layoutOf (bytes: Uint8Array): number | undefined {
  return bytes[mark.length - 1]
}

async function opening (find: FileKeys['find'], file: string, head: Uint8Array): Promise<DecipherGCM> {
  return derivedKeys.open(await find(file, keyIdOf(head)), head, Buffer.from(file))
}

/** Throws where the bytes are not all of those that were sealed. */
function mustEnd (gcm: DecipherGCM, file: string, tag: Uint8Array): void {
  try {
    gcm.setAuthTag(tag).final()
  } catch (cause) {
    throw new FileDamaged(file, 'it was altered since it was sealed, or belongs to another place', cause)
  }
}
