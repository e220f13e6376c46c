import { strToU8, zipSync } from 'fflate'

/** What a ZIP archive holds, by path: texts are written as UTF-8. */
export type Parts = Readonly<Record<string, string | Uint8Array>>

/** The earliest time that an entry can have; all have it, so that the same parts give the same bytes. */
const earliest = new Date(1980, 0, 1)

/** An archive of the parts, in their order. */
export function zip (parts: Parts): Uint8Array<ArrayBuffer> {
  const entries = Object.entries(parts).map(([path, part]) => [path, typeof part === 'string' ? strToU8(part) : part] as const)
  return zipSync(Object.fromEntries(entries), { level: 6, mtime: earliest })
}
