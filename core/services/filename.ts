import { fileFormats } from '@dispatch/documents'

/** Characters without the extension: with it, a name stays below the 255 bytes of most file systems. */
const longest = 60

/** What separates folders, means something to a shell or Windows, breaks a header, or turns the direction of the text around. */
const unsafe = /[/\\<>:"|?*\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

const extensions = new RegExp(`\\.(?:${[...new Set(Object.values(fileFormats).map(({ extension }) => extension))].join('|')})$`, 'i')

/** A name for a file, with the extension, that is safe in every file system and header; undefined when nothing of it is left. */
export function cleanFilename (name: string, extension: string): string | undefined {
  const stem = name.normalize('NFC').replaceAll(unsafe, '-').replace(extensions, '')
  const clean = Array.from(stem).slice(0, longest).join('').replaceAll(/^[\s.-]+|[\s.-]+$/g, '')
  return clean === '' ? undefined : `${clean}.${extension}`
}
