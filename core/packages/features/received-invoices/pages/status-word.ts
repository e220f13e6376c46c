import type { Words } from './words.ts'

/** A status by its code, in words; one that has none is its code. */
export function statusWord (words: Words, code: string): string {
  const known: Readonly<Record<string, string>> = {
    204: words.receivedStatus_204,
    205: words.receivedStatus_205,
    206: words.receivedStatus_206,
    207: words.receivedStatus_207,
    208: words.receivedStatus_208,
    210: words.receivedStatus_210,
    211: words.receivedStatus_211
  }
  return known[code] ?? code
}
