import { fileTypeFromBuffer } from 'file-type'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { cleanFilename } from '../../services/filename.ts'
import type { ReceivedFile } from '../command.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import { expiryOf, storageKeyOf } from './content.ts'

/**
 * Stores a file that comes with a request, hashed on its way. Its type is what its first bytes say; only where they say
 * nothing, a text stays a text and all else is bytes. What the stream throws is thrown; nothing is left then.
 */
export async function receiveFile (
  { files, newId, now }: Pick<PipelineDependencies, 'files' | 'newId' | 'now'>,
  companyId: number,
  { bytes, filename, contentType }: { bytes: Readable, filename: string, contentType: string }
): Promise<ReceivedFile> {
  const time = now()
  const documentId = newId()
  const storageKey = storageKeyOf(companyId, time, documentId)
  const discard = (): Promise<void> => files.remove(storageKey)
  try {
    const { size, sha256, head } = await files.receive(storageKey, bytes)
    const sniffed = await fileTypeFromBuffer(head)
    return {
      document: {
        documentId,
        filename: nameOf(filename, sniffed?.ext),
        contentType: sniffed?.mime ?? plainType(contentType),
        size,
        sha256,
        storageKey,
        expiresAt: expiryOf(time)
      },
      discard
    }
  } catch (error) {
    await discard()
    throw error
  }
}

/** Receives a file for a company. */
export type Receive = (companyId: number, file: { bytes: Readable, filename: string, contentType: string }) => Promise<ReceivedFile>

/** Types that no first bytes can tell; a page or a script is none of them, because a browser would run it. */
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
