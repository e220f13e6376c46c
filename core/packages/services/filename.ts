import { normalForm } from '@dispatch/common'
import { fileFormats } from '@dispatch/documents'

/** Length limit in characters without the extension, so that the name stays below the 255 bytes that most file systems allow. */
const longest = 60

/** Characters that separate folders, are special to a shell or to Windows, break a header, or change the direction of text. */
const unsafe = /[/\\<>:"|?*\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

const extensions = new RegExp(`\\.(?:${[...new Set(Object.values(fileFormats).map(({ extension }) => extension))].join('|')})$`, 'i')

/** Names of devices, which no file has under Windows, whatever its extension is. */
const devices = /^(?:CON|PRN|AUX|NUL|COM[0-9¹²³]|LPT[0-9¹²³]|CONIN\$|CONOUT\$)(?=$|[. ])/i

/** A file name with the extension that is safe in every file system and header; undefined when no safe character is left. */
export function cleanFilename (name: string, extension: string): string | undefined {
  const stem = normalForm(name).replaceAll(unsafe, '-').replace(extensions, '')
  const clean = Array.from(stem).slice(0, longest).join('').replaceAll(/^[\s.-]+|[\s.-]+$/g, '')
  return clean === '' ? undefined : `${clean.replace(devices, '$&-')}.${extension}`
}
