import { boundedValidator, compile } from '@dispatch/common'
import { isMissing, syncFolder } from '@dispatch/files'
import { ProviderLoadError } from '@dispatch/host'
import { readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import type { AdapterFiles } from './adapter-files.ts'

const closed = { additionalProperties: false }

/** A version of an adapter that runs on this machine. */
const LockedAdapter = Type.Object({ code: Type.String(), version: Type.String(), integrity: Type.String() }, closed)
export type LockedAdapter = Static<typeof LockedAdapter>

const Lock = Type.Object({ v: Type.Literal(1), adapters: Type.Array(LockedAdapter) }, closed)
const check = boundedValidator(compile(Lock))

/** The name of the lock file in a data directory. */
export const lockName = 'adapters.lock.json'

/**
 * Which adapters run on this machine, in a file of its data directory: the database alone cannot put other bytes under a version that has
 * run here.
 */
export type LockFile = {
  /** Throws a ProviderLoadError for a file that cannot be read. */
  read: () => Promise<readonly LockedAdapter[]>
  /** Writes the file, where it says something else: the whole of it or nothing. */
  write: (adapters: readonly LockedAdapter[]) => Promise<void>
}

/**
 * The lock file of a data directory. Throws a `ProviderLoadError` where it is damaged, and for a version under which other bytes have run.
 */
export function createLockFile ({ folder, files }: { folder: string, files: Pick<AdapterFiles, 'stage'> }): LockFile {
  const path = join(folder, lockName)

  async function read (): Promise<readonly LockedAdapter[]> {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    })
    return text === undefined ? [] : adaptersIn(text, path)
  }

  return {
    read,
    async write (adapters) {
      const sorted = [...adapters].sort((one, other) => `${one.code} ${one.version}` < `${other.code} ${other.version}` ? -1 : 1)
      if (isDeepStrictEqual(await read(), sorted)) return
      const text = `${JSON.stringify({ v: 1, adapters: sorted }, null, 2)}\n`
      await using staged = await files.stage(new Map([[lockName, Buffer.from(text)]]))
      await rename(join(staged.folder, lockName), path)
      await syncFolder(dirname(path))
    }
  }
}

function adaptersIn (text: string, path: string): readonly LockedAdapter[] {
  try {
    const fit = check(JSON.parse(text))
    if (fit.ok) return fit.value.adapters
    throw new TypeError(fit.problems.map(({ path: at, message }) => `${at} ${message}`).join(' '))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ProviderLoadError(`${path} is damaged, so that nobody knows what has run here: ${reason} Restore it, or remove it.`, {
      cause
    })
  }
}

/** Why a version may not run, where other bytes have run under it; undefined: it may. */
export function lockedOut (locked: readonly LockedAdapter[], { code, version, integrity }: LockedAdapter): string | undefined {
  const known = locked.find((one) => one.code === code && one.version === version)
  if (known === undefined || known.integrity === integrity) return undefined
  return `Version ${version} of "${code}" is not the one that has run here: its integrity is ${integrity}, and ${lockName} in the data ` +
    `directory has ${known.integrity}. If other bytes were put under this version on purpose, remove it from that file.`
}
