import { ProviderLoadError } from '@dispatch/host'
import { isInFolder } from '@dispatch/vendor-io'
import { createHash } from 'node:crypto'
import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { extname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('inside/main.ts', import.meta.url))

/** What every bundle is made with: modules of Node stay what they are. */
const common = { bundle: true, write: false, platform: 'node', format: 'esm', target: 'node26', logLevel: 'silent' } as const

/**
 * The one file that the process of an adapter runs, made of this core's sources and kept in `cache` under its hash: such a process needs
 * to read nothing else of the service.
 */
export async function makeRuntime (cache: string): Promise<string> {
  bundled ??= bundle()
  return await keep(cache, await bundled)
}

/** Made once: the sources of a running service do not change. */
let bundled: Promise<Uint8Array> | undefined

async function bundle (): Promise<Uint8Array> {
  const { build } = await import('esbuild')
  const { outputFiles: [made] } = await build({ ...common, entryPoints: [main], banner: { js: requireOf } })
  if (made === undefined) throw new Error('The runtime of adapters could not be bundled.')
  return made.contents
}

/** CommonJS packages in the bundle ask for modules of Node with `require`. */
const requireOf = 'import { createRequire as requireOf } from \'node:module\'; const require = requireOf(import.meta.url)'

/**
 * What is imported of an adapter: its entry, or one file made of it where that is TypeScript, which the process could not read without
 * WebAssembly. Nothing outside of its folder gets into the file.
 */
export async function makeEntry (cache: string, folder: string, entry: string): Promise<string> {
  if (extname(entry) !== '.ts') return entry
  const { build } = await import('esbuild')
  const { outputFiles: [made], metafile: { inputs } } = await build({
    ...common,
    entryPoints: [entry],
    external: ['@dispatch/core/provider'],
    metafile: true
  })
  const outside = Object.keys(inputs).map((path) => resolve(path)).find((path) => !isInFolder(folder, path))
  if (outside !== undefined) throw new ProviderLoadError(`It imports ${relative(folder, outside)}, outside of its folder.`)
  if (made === undefined) throw new ProviderLoadError('Its TypeScript could not be bundled.')
  return await keep(cache, made.contents)
}

async function keep (cache: string, content: Uint8Array): Promise<string> {
  const path = join(cache, `${createHash('sha256').update(content).digest('hex').slice(0, 32)}.mjs`)
  if (await stat(path).then(() => true, () => false)) return path
  await mkdir(cache, { recursive: true })
  const draft = `${path}.${process.pid}`
  await writeFile(draft, content, { mode: 0o644 })
  await rename(draft, path)
  return path
}
