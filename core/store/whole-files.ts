import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { makeFolder, place } from './files.ts'

/** Files of one ending in a folder, each of them whole or not there, whenever their process dies. Processes may share the folder. */
export type WholeFiles = {
  /** Resolves when the file would survive a loss of power. What could not be written leaves nothing behind. */
  write: (name: string, text: string) => Promise<void>
  /** Their names, sorted. */
  names: () => Promise<string[]>
  /** Undefined where another process has removed it. */
  read: (name: string) => Promise<string | undefined>
  remove: (name: string) => Promise<void>
  /** Keeps a file that nobody can read from being read again; answers its name from now on. */
  setAside: (name: string) => Promise<string>
}

/** Opens the folder, which is made where there is none. `ending`: with its dot. */
export async function openWholeFiles (folder: string, ending: string): Promise<WholeFiles> {
  await makeFolder(folder)
  return {
    async write (name, text) { await place(join(folder, name), Readable.from([Buffer.from(text)])) },
    names: async () => (await readdir(folder)).filter((name) => name.endsWith(ending)).sort(),
    read: (name) => readFile(join(folder, name), 'utf8').catch(undefinedWhereMissing),
    remove: (name) => rm(join(folder, name), { force: true }),
    async setAside (name) {
      const aside = `${name}.unreadable`
      await rename(join(folder, name), join(folder, aside))
      return aside
    }
  }
}

function undefinedWhereMissing (error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}
