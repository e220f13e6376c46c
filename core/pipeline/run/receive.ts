import type { FileStore } from '@dispatch/files'
import { cleanFilename } from '@dispatch/services'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import type { ReceivedFile } from '../command.ts'
import { usualExpiry } from '../document-expiry.ts'
import { type FileFolder, storageKeyOf } from './content.ts'

/**
 * Stores a file that comes with a request, and computes its hash. Its type is detected from its first bytes; where they tell nothing, a
 * declared plain text keeps its type and everything else is `application/octet-stream`. `folder`: of the storage. Throws what the stream
 * throws, and keeps no file.
 */
export async function receiveFile (
  { files, newId, now }: { files: FileStore, newId: () => string, now: () => Date },
  companyId: number,
  { bytes, filename, contentType, folder }: { bytes: Readable, filename: string, contentType: string, folder?: FileFolder }
): Promise<ReceivedFile & { head: Uint8Array }> {
  const time = now()
  const documentId = newId()
  const storageKey = storageKeyOf(companyId, time, documentId, folder)
  const discard = (): Promise<void> => files.remove(storageKey)
  try {
    const { size, sha256, head } = await files.receive(storageKey, bytes)
    // Loaded with the first file.
    const { fileTypeFromBuffer } = await import('file-type')
    const sniffed = await fileTypeFromBuffer(head)
    return {
      document: {
        documentId,
        filename: nameOf(filename, sniffed?.ext),
        contentType: sniffed?.mime ?? plainType(contentType),
        size,
        sha256,
        storageKey,
        expiresAt: usualExpiry(time)
      },
      discard,
      head
    }
  } catch (error) {
    await discard()
    throw error
  }
}

/** Receives a file for a company. `head`: its first bytes. */
export type Receive = (
  companyId: number,
  file: { bytes: Readable, filename: string, contentType: string, folder?: FileFolder }
) => Promise<ReceivedFile & { head: Uint8Array }>

/** Types that first bytes cannot tell. HTML and scripts are left out, because a browser would run them. */
const plainTypes = new Set(['text/plain', 'text/csv', 'application/json'])

function plainType (given: string): string {
  const [type = ''] = given.toLowerCase().split(';')
  return plainTypes.has(type.trim()) ? type.trim() : 'application/octet-stream'
}

function nameOf (given: string, sniffed: string | undefined): string {
  const extension = extname(given).slice(1)
  const stem = extension === '' ? given : given.slice(0, -extension.length - 1)
  const kept = /^[A-Za-z0-9]{1,10}$/.test(extension) ? extension : sniffed ?? 'bin'
  return cleanFilename(stem, kept) ?? `file.${kept}`
}
