import { open, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isInFolder } from './folder.ts'
import type { InstalledProvider } from './load.ts'

/** How much of a guide is read, in bytes. */
const mostBytes = 32 * 1024

/** The page of a provider, in Markdown, for those who set it up: the README.md of its folder. Undefined where there is none. */
export async function readGuide ({ folder }: Pick<InstalledProvider, 'folder'>): Promise<string | undefined> {
  try {
    const path = await realpath(join(folder, 'README.md'))
    if (!isInFolder(folder, path)) return undefined
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(mostBytes) })
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
