import { compile } from '@dispatch/common'
import { ProviderLoadError } from '@dispatch/host'
import { isInFolder } from '@dispatch/vendor-io'
import { hash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { getCompileCacheDir } from 'node:module'
import { extname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Type } from 'typebox'

const main = fileURLToPath(new URL('inside/main.ts', import.meta.url))

/** What every bundle is made with: modules of Node stay what they are. */
const common = { bundle: true, write: false, platform: 'node', format: 'esm', target: 'node26', logLevel: 'silent' } as const

/**
 * The one file that the process of an adapter runs, made of this core's sources and kept in `cache` under its hash: such a process needs
 * to read nothing else of the service. It is remembered in the folder `memory`, so that it is made once for the same sources.
 */
export async function makeRuntime (cache: string, memory = getCompileCacheDir() ?? cache): Promise<string> {
  bundled ??= remembered(memory).then((known) => known ?? bundle(memory)).catch((error: unknown) => {
    bundled = undefined
    throw error
  })
  return await keep(cache, await bundled)
}

/** Made once: the sources of a running service do not change. */
let bundled: Promise<Uint8Array> | undefined

async function bundle (memory: string): Promise<Uint8Array> {
  const { build } = await import('esbuild')
  const { outputFiles: [made], metafile: { inputs } } = await build({
    ...common,
    entryPoints: [main],
    banner: { js: requireOf },
    metafile: true
  })
  if (made === undefined) throw new Error('The runtime of adapters could not be bundled.')
  await remember(memory, made.contents, [...Object.keys(inputs).map((path) => resolve(path)), ...makers])
  return made.contents
}

/** What else decides what is in the bundle: how it is made, and by which version of the bundler. */
const makers = [import.meta.url, import.meta.resolve('esbuild/package.json')].map((url) => fileURLToPath(url))

/** How a runtime was made. `digest`: of the sources. `made`: the SHA-256 of the runtime, which is its name. */
const fitRecipe = compile(Type.Object({ sources: Type.Array(Type.String()), digest: Type.String(), made: Type.String() }))
const recipeName = 'runtime.json'

/** The runtime that was made of the same sources; undefined where there is none, or where any of them has changed. */
async function remembered (memory: string): Promise<Uint8Array | undefined> {
  try {
    const recipe = fitRecipe(JSON.parse(await readFile(join(memory, recipeName), 'utf8')))
    if (!recipe.ok) return undefined
    const { sources, digest, made } = recipe.value
    if (!sources.includes(main) || await digestOf(sources) !== digest) return undefined
    const runtime = await readFile(join(memory, `${made}.mjs`))
    return hash('sha256', runtime) === made ? runtime : undefined
  } catch {
    return undefined
  }
}

/** Where it cannot be written, it is made again by the next process. */
async function remember (memory: string, runtime: Uint8Array, sources: readonly string[]): Promise<void> {
  try {
    const made = hash('sha256', runtime)
    await place(memory, `${made}.mjs`, runtime)
    await place(memory, recipeName, JSON.stringify({ sources, digest: await digestOf(sources), made }))
  } catch {
    // The folder is full or cannot be written.
  }
}

async function digestOf (sources: readonly string[]): Promise<string> {
  const digests = await Promise.all(sources.map(async (path) => hash('sha256', await readFile(path))))
  return hash('sha256', digests.join('\n'))
}

/** CommonJS packages in the bundle ask for modules of Node with `require`. */
const requireOf = 'import { createRequire as requireOf } from \'node:module\'; const require = requireOf(import.meta.url)'

/**
 * The file that is imported of an adapter: its entry, or one file made of it where that is TypeScript, which the process could not read
 * without WebAssembly. Throws a {@link ProviderLoadError} where it imports a file outside of its folder.
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
  const name = `${hash('sha256', content).slice(0, 32)}.mjs`
  const path = join(cache, name)
  const kept = await readFile(path).catch(() => undefined)
  if (kept?.equals(content) !== true) await place(cache, name, content)
  return path
}

/** Writes a file that is there whole or not at all. */
async function place (folder: string, name: string, content: Uint8Array | string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const draft = join(folder, `${name}.${randomUUID()}`)
  await writeFile(draft, content, { mode: 0o644 })
  await rename(draft, join(folder, name))
}
