import { isMissing, makeFolder, syncFolder } from '@dispatch/files'
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { FileDigests } from '../store/tables.ts'

/**
 * The extracted packages of adapters in a data directory: one folder each, named by its integrity. What is in the database can be extracted
 * again at any time, so nothing here has to be kept.
 */
export type AdapterFiles = {
  /**
   * The folder of a package. Every file in it is compared with what was taken in; where anything differs, or the folder is missing, the
   * package is extracted again. Rejects where that fails.
   */
  place: (desired: PlacedPackage) => Promise<string>
  /** Where {@link place} puts a package. */
  folderOf: (integrity: string) => string
  /** Extracts files beside the others. The folder goes with the end of its use, or with the first start after the end of its process. */
  stage: (files: PackageFiles) => Promise<AsyncDisposable & { folder: string }>
  /** Removes what killed processes left, and the folders that are not among the used ones. `used` is asked after the folders are listed. */
  sweep: (used: () => Promise<readonly string[]>) => Promise<void>
}

/** `integrity`: its SHA-512, as npm writes it. */
export type PlacedPackage = { integrity: string, files: FileDigests }

/** The content of each file, by its path. */
export type PackageFiles = ReadonlyMap<string, Uint8Array>

const staging = '.staging'

/** Milliseconds after which a folder counts as left behind by a process of another machine. */
const abandonedAfter = 24 * 3600 * 1000

/**
 * The files of adapters on the disk of this machine. `root` is the folder of all. `read` reads the files of a package that was installed.
 * `onChange` is told of a folder that was changed. Throws where the files are not those of the package.
 */
export function createAdapterFiles ({ root, read, onChange }: {
  root: string
  read: (integrity: string) => Promise<PackageFiles>
  onChange?: (folder: string) => void
}): AdapterFiles {
  const placing = new Map<string, Promise<string>>()

  async function stage (files: PackageFiles): Promise<AsyncDisposable & { folder: string }> {
    await makeFolder(root)
    const folder = join(root, `${staging} ${hostname()} ${process.pid} ${randomUUID()}`)
    const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
    try {
      for (const [path, bytes] of files) await writeSynced(join(folder, path), bytes)
      return { folder, [Symbol.asyncDispose]: remove }
    } catch (error) {
      await remove()
      throw error
    }
  }

  async function extract ({ integrity, files }: PlacedPackage, folder: string): Promise<void> {
    await using staged = await stage(await read(integrity))
    if (!await isWhole(staged.folder, files)) throw new Error('Its files are not what was taken in.')
    await rm(folder, { recursive: true, force: true })
    await rename(staged.folder, folder).catch(async (error: unknown) => {
      // Another process was faster.
      if (!await isWhole(folder, files)) throw error
    })
    await syncFolder(root)
  }

  const folderOf = (integrity: string): string => join(root, nameOf(integrity))

  async function placeAnew (desired: PlacedPackage): Promise<string> {
    const folder = folderOf(desired.integrity)
    if (await isWhole(folder, desired.files)) return folder
    if (await stat(folder).then(() => true, noneWhereMissing) === true) onChange?.(folder)
    await extract(desired, folder)
    return folder
  }

  return {
    stage,
    folderOf,
    place (desired) {
      const known = placing.get(desired.integrity)
      if (known !== undefined) return known
      const work = placeAnew(desired).finally(() => placing.delete(desired.integrity))
      placing.set(desired.integrity, work)
      return work
    },
    async sweep (used) {
      const names = await readdir(root).catch(noneWhereMissing)
      const kept = new Set((await used()).map(nameOf))
      for (const name of names) {
        if (name.startsWith(staging) ? await isLeft(join(root, name), name) : !kept.has(name)) {
          await rm(join(root, name), { recursive: true, force: true })
        }
      }
    }
  }
}

/** The name of a package's folder: its SHA-512 in hexadecimal. */
function nameOf (integrity: string): string {
  return Buffer.from(integrity.slice(integrity.indexOf('-') + 1), 'base64').toString('hex')
}

/** Whether a folder has these files and nothing else. */
async function isWhole (folder: string, files: FileDigests): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(noneWhereMissing)
  const paths = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  if (paths.length !== Object.keys(files).length || entries.some((entry) => !entry.isDirectory() && !entry.isFile())) return false
  for (const path of paths) {
    const digest = createHash('sha256').update(await readFile(path)).digest('hex')
    if (files[relative(folder, path)] !== digest) return false
  }
  return true
}

/** Writes a file that survives a power failure together with its folder. */
async function writeSynced (path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 })
  await using file = await open(path, 'wx', 0o644)
  await file.writeFile(bytes)
  await file.sync()
  await syncFolder(dirname(path))
}

/** Whether the process that staged a folder has ended: one of this machine that is not there, or had the number of this process. */
async function isLeft (path: string, name: string): Promise<boolean> {
  const [, machine, pid] = name.split(' ')
  if (machine === hostname()) return Number(pid) === process.pid || !isAlive(Number(pid))
  const { mtimeMs } = await stat(path)
  return Date.now() - mtimeMs > abandonedAfter
}

function isAlive (pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function noneWhereMissing (error: unknown): [] {
  if (isMissing(error)) return []
  throw error
}
