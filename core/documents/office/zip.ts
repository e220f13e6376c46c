import { strToU8, zipSync, type Zippable } from 'fflate'

/** What an archive holds, by path: text is written as UTF-8 and compressed, bytes (of pictures) are kept as they are. */
export type Parts = Readonly<Record<string, string | Uint8Array>>

/** The earliest time that an entry can have; all have it, so that the same parts give the same bytes. */
const earliest = new Date(1980, 0, 1)

/** Bytes of a text below which compressing takes longer than it is worth. */
const short = 1_500

/** A ZIP archive of the parts, in their order. */
export function zip (parts: Parts): Uint8Array<ArrayBuffer> {
  const entries: Zippable = {}
  for (const [path, part] of Object.entries(parts)) {
    const bytes = typeof part === 'string' ? strToU8(part) : part
    entries[path] = [bytes, { level: bytes === part || bytes.length < short ? 0 : 6 }]
  }
  return zipSync(entries, { mtime: earliest })
}
