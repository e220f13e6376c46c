import type { GuideLanguage } from '@dispatch/contract'
import { isInFolder } from '@dispatch/vendor-io'
import { constants, open, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { InstalledProvider } from './load.ts'

/** How much of a guide is read, in bytes. */
const maxBytes = 32 * 1024

/** A guide, and whether it goes on in its file. */
export type Guide = { guide: string, cut: boolean }

/**
 * The page of a provider, in Markdown, for those who set it up: the README.md of its folder, in another language its `guide.fr.md`, which
 * says how to set it up alone. Undefined where there is none to read.
 */
export async function readGuide (
  { folder }: Pick<InstalledProvider, 'folder'>,
  language: GuideLanguage = 'en'
): Promise<Guide | undefined> {
  try {
    const path = await realpath(join(folder, language === 'en' ? 'README.md' : `guide.${language}.md`))
    return isInFolder(folder, path) ? await beginningOf(path) : undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && unreadable.includes(error.code)) return undefined
    throw error
  }
}

/** What the system says where there is no such file, or none that may be read. */
const unreadable: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO']

/** The text of a file, cut behind a whole character; undefined where it is no file. */
async function beginningOf (path: string): Promise<Guide | undefined> {
  // Without the flag, a named pipe would hold a thread until somebody writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!(await file.stat()).isFile()) return undefined
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(maxBytes + 1) })
    const guide = new TextDecoder().decode(buffer.subarray(0, Math.min(bytesRead, maxBytes)), { stream: true })
    return { guide, cut: bytesRead > maxBytes }
  } finally {
    await file.close()
  }
}
