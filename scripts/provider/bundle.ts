import { build, type BuildFailure, type BuildOptions } from 'esbuild'
import { relative, resolve, sep } from 'node:path'

/** The code of a provider in one file, and the files of other packages that are part of it (absolute paths). */
export type Bundle = { code: Uint8Array, foreign: string[] }

const options: BuildOptions = {
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  format: 'esm',
  target: 'node26',
  charset: 'utf8',
  // The licences are in a file of their own.
  legalComments: 'none',
  external: ['@dispatch/core/provider'],
  logLevel: 'silent'
}

/** CommonJS packages in a bundle ask for modules of Node with `require`. */
const withRequire = 'import { createRequire as requireOf } from \'node:module\'; const require = requireOf(import.meta.url);\n'

/** Bundles the entry of a folder (real paths) with its own packages. Throws an Error with one sentence for each fault. */
export async function bundleProvider (folder: string, entry: string): Promise<Bundle> {
  const { outputFiles: [file] = [], metafile } = await build({ ...options, absWorkingDir: folder, entryPoints: [entry] }).catch(failed)
  const inputs = Object.keys(metafile?.inputs ?? {}).map((path) => resolve(folder, path))
  const foreign = inputs.filter((path) => path.split(sep).includes('node_modules'))
  const outside = inputs.find((path) => !foreign.includes(path) && !path.startsWith(folder + sep))
  if (outside !== undefined) throw new Error(`It imports ${relative(folder, outside)}, outside of its folder and of its packages.`)
  if (file === undefined) throw new Error('Its code could not be bundled.')
  return { code: file.text.includes('__require(') ? Buffer.from(withRequire + file.text) : file.contents, foreign }
}

function failed (error: unknown): never {
  if (!isBuildFailure(error)) throw error
  throw new Error(
    error.errors.map(({ text, location }) => location === null ? text : `${location.file}:${location.line}: ${text}`).join('\n'),
    { cause: error }
  )
}

function isBuildFailure (error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error
}
