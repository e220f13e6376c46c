import { strToU8, zipSync, type Zippable } from 'fflate'

/** What an archive holds, by path: text is written as UTF-8 and compressed, bytes are kept as they are. */
export type Parts = Readonly<Record<string, string | Uint8Array>>

/** The earliest time that an entry can have; all have it, so that the same parts give the same bytes. */
const earliest = new Date(1980, 0, 1)

/** A ZIP archive of the parts, in their order. */
export function zip (parts: Parts): Uint8Array<ArrayBuffer> {
  const entries: Zippable = {}
  for (const [path, part] of Object.entries(parts)) entries[path] = typeof part === 'string' ? strToU8(part) : [part, { level: 0 }]
  return zipSync(entries, { level: 6, mtime: earliest })
}
