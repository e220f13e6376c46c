import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

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
  await mkdir(folder, { recursive: true })
  return {
    async write (name, text) {
      const part = join(folder, `${name}.part`)
      try {
        await writeSynced(part, text)
        await rename(part, join(folder, name))
      } catch (error) {
        await rm(part, { force: true })
        throw error
      }
      await syncFolder(folder)
    },
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

async function writeSynced (path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder (folder: string): Promise<void> {
  const directory = await open(folder, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function undefinedWhereMissing (error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}
