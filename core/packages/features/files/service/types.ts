import { extname } from 'node:path'

/** The content type that the ending of a name says, where the first bytes of such a file show it. */
const ofEndings: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  zip: 'application/zip',
  gz: 'application/gzip',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet'
}

/** Endings of texts, which no first bytes show, and the types of the same. */
const textEndings = new Set(['txt', 'csv', 'json', 'md', 'html', 'htm', 'xml', 'ics', 'eml', 'svg'])
const isText = (type: string): boolean => type.startsWith('text/') || /[/+](json|xml)$/.test(type)

/** Packages of several files: of those whose first bytes show no more than that. */
const packages = /^application\/(vnd\.openxmlformats|vnd\.oasis\.opendocument)/

/**
 * What keeps a file from being what its name and its declared type say: a sentence; undefined where nothing does. `found`: the type that
 * its first bytes show.
 */
export function contradictionIn ({ filename, declared, found, head }: {
  filename: string
  declared: string
  found: string
  head: Uint8Array
}): string | undefined {
  const ending = extname(filename).slice(1).toLowerCase()
  const [type = ''] = declared.toLowerCase().split(';').map((part) => part.trim())
  const named = ofEndings[ending]
  const said = Object.values(ofEndings).includes(type) ? type : undefined
  for (const claimed of [named, said]) {
    if (claimed !== undefined && !isSame(claimed, found)) return sentence(claimed, found)
  }
  const isSaidText = textEndings.has(ending) || (named === undefined && isText(type))
  if (isSaidText && (head.includes(0) || !(isText(found) || found === 'application/octet-stream'))) return sentence('a text', found)
  return undefined
}

function isSame (claimed: string, found: string): boolean {
  return claimed === found || (packages.test(claimed) && found === 'application/zip')
}

function sentence (claimed: string, found: string): string {
  return `The file is said to be ${claimed}, but its bytes are ${found === 'application/octet-stream' ? 'not' : found}.`
}
