import * as esbuild from 'esbuild'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The files of a package by their paths, and the files of other packages that are part of them (absolute paths). */
export type Built = { files: Map<string, Uint8Array>, foreign: string[] }

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Modules that are reached at run time alone, each in the way in which the bundle reaches it. */
const reached: Readonly<Record<string, readonly [written: string, bundled: string]>> = {
  'core/packages/host/load/modules.ts': ['\'../provider.ts\'', '\'./provider.js\''],
  // Written so, it becomes a part of the bundle, and is run with the first number still.
  'core/packages/services/phone.ts': ['load(\'libphonenumber-js/max\')', 'require(\'libphonenumber-js/max\')'],
  'core/packages/conformance/in-child.ts': ['\'child.ts\'', '\'child.js\''],
  'core/packages/conformance/child.ts': ['\'pulse.ts\'', '\'pulse.js\'']
}

/**
 * Bundles the kit: its command and that of a repository, the process in which it runs and the thread that watches it, and what providers
 * import, which must be the same modules as the kit's own.
 * `machine` stays a file of its own, because it tells its own frames from a provider's by the name of its file.
 */
export async function bundleKit (): Promise<Built> {
  return await bundle({
    command: 'scripts/provider/kit-command.ts',
    own: 'scripts/provider/own-command.ts',
    child: 'core/packages/conformance/child.ts',
    pulse: 'core/packages/conformance/pulse.ts',
    provider: 'core/packages/host/provider.ts',
    machine: 'core/packages/conformance/run/machine.ts'
  })
}

/** Bundles what writes the repository of a new adapter. */
export async function bundleCreator (): Promise<Built> {
  return await bundle({ create: 'scripts/provider/create-command.ts' })
}

/** Bundles what providers import, for the tests of their own that an author writes. */
export async function bundleSdk (): Promise<Built> {
  return await bundle({ provider: 'core/packages/host/provider.ts' })
}

async function bundle (entryPoints: Record<string, string>): Promise<Built> {
  const { outputFiles, metafile: { inputs } } = await esbuild.build({
    absWorkingDir: root,
    entryPoints,
    outdir: 'bundled',
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    minifySyntax: true,
    legalComments: 'none',
    // The one is a dependency of the kit, the other one of the repository.
    external: ['esbuild', 'typescript'],
    logLevel: 'silent',
    // CommonJS packages in a bundle ask for modules of Node with `require`.
    banner: { js: 'import { createRequire as requireOf } from \'node:module\'; const require = requireOf(import.meta.url);' },
    plugins: [bundledPaths]
  })
  return {
    files: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])),
    foreign: Object.keys(inputs).filter((path) => path.includes('node_modules/')).map((path) => join(root, path))
  }
}

const bundledPaths: esbuild.Plugin = {
  name: 'bundled-paths',
  setup (build) {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const change = Object.entries(reached).find(([name]) => path === join(root, name))?.[1]
      if (change === undefined) return undefined
      const text = await readFile(path, 'utf8')
      if (!text.includes(change[0])) throw new Error(`${path} no longer has ${change[0]}, which the bundle replaces.`)
      return { contents: text.replace(...change), loader: 'ts' }
    })
  }
}
