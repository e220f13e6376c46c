import { errorMessageOf } from '@dispatch/common'
import { isInFolder } from '@dispatch/vendor-io'
import { createHash } from 'node:crypto'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { ProviderLoadError } from './load-error.ts'

/**
 * The subfolders of a directory that have a package.json, by name. A link must stay inside the directory. Rejects when the directory cannot
 * be read.
 */
export async function providerFolders (directory: string): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => !name.startsWith('.') && name !== 'node_modules').sort()
  const folders = names.map((name) => join(directory, name))
  const packages = await Promise.all(folders.map((folder) => stat(join(folder, 'package.json')).then(() => true, () => false)))
  return folders.filter((_, index) => packages[index])
}

/** The real path of a folder. Throws a {@link ProviderLoadError} when it is outside the directory. */
export async function realFolder (directory: string, folder: string): Promise<string> {
  const real = await realpath(folder)
  if (!isInFolder(await realpath(directory), real)) throw new ProviderLoadError(`A link to ${real}, outside the directory of providers.`)
  return real
}

/**
 * The SHA-256 of everything in a folder, names and contents. Another digest means another version of the provider. Throws a {@link
 * ProviderLoadError} on a link that leaves the folder, except in installed dependencies, where such links are usual.
 */
export async function folderDigest (folder: string): Promise<string> {
  const hash = createHash('sha256')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = new Map(
    entries.filter((entry) => !entry.isDirectory()).map((entry) => [join(entry.parentPath, entry.name), entry.isFile()])
  )
  for (const [path, isPlain] of [...paths].sort(([one], [other]) => one < other ? -1 : 1)) {
    const name = relative(folder, path)
    const unreadable = (cause: unknown): never => {
      throw new ProviderLoadError(`${name} cannot be read: ${errorMessageOf(cause)}`, { cause })
    }
    // A link to a folder is not entered, so what is no link itself is where its path says.
    const real = isPlain ? path : await realpath(path).catch(unreadable)
    const dependency = name.split(sep).includes('node_modules')
    if (!isInFolder(folder, real) && !dependency) throw new ProviderLoadError(`${name} is a link to a place outside the folder.`)
    const content = isPlain || (await stat(real)).isFile() ? await readFile(real).catch(unreadable) : Buffer.alloc(0)
    hash.update(`${name}\0${relative(folder, real)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
