import { errorMessageOf, ProviderLoadError } from '../call/load-error.ts'
import { folderDigest, providerFolders, realFolder } from './folder.ts'
import { type InstalledProvider, loadProvider } from './load.ts'

/** A folder (or a whole directory) that was refused, with the reason. */
export type RefusedFolder = Readonly<{ state: 'refused', folder: string, code?: string, reason: string }>
export type ProviderEntry = InstalledProvider | RefusedFolder

/** `known`: the loaded providers by folder. `loadLimit` is in seconds. */
type Reading = { known: ReadonlyMap<string, InstalledProvider>, loadLimit: number }

/**
 * All provider folders of the directories. A folder is loaded, or taken from `known` if nothing in it has changed. A broken folder is
 * refused and does not affect the others. Of two providers with the same code the first one wins, in the order of the directories and then
 * of the folder names.
 */
export async function discover (directories: readonly string[], reading: Reading): Promise<ProviderEntry[]> {
  const found = await Promise.all(directories.map((directory) => readDirectory(directory, reading)))
  return refuseDuplicates(found.flat())
}

async function readDirectory (directory: string, reading: Reading): Promise<ProviderEntry[]> {
  try {
    const folders = await providerFolders(directory)
    return await Promise.all(folders.map((folder) => readFolder(directory, folder, reading)))
  } catch (cause) {
    return [{ state: 'refused', folder: directory, reason: `The directory cannot be read: ${errorMessageOf(cause)}` }]
  }
}

async function readFolder (directory: string, folder: string, { known, loadLimit }: Reading): Promise<ProviderEntry> {
  try {
    const real = await realFolder(directory, folder)
    const digest = await folderDigest(real)
    const before = known.get(real)
    return before?.digest === digest ? before : await loadProvider(real, digest, loadLimit)
  } catch (cause) {
    const code = cause instanceof ProviderLoadError ? cause.code : undefined
    return { state: 'refused', folder, ...(code !== undefined && { code }), reason: errorMessageOf(cause) }
  }
}

function refuseDuplicates (found: readonly ProviderEntry[]): ProviderEntry[] {
  const first = new Map<string, InstalledProvider>()
  return found.map((entry) => {
    if (entry.state === 'refused') return entry
    const { code, folder } = entry
    const holder = first.get(code)
    if (holder !== undefined) {
      return { state: 'refused', folder, code, reason: `The code "${code}" belongs to ${holder.folder}, which comes first.` }
    }
    first.set(code, entry)
    return entry
  })
}
