import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Asset, assetOf } from './asset.ts'

/** The largest bundle, in bytes, and how long it may take, in milliseconds. */
const limits = { maxBuffer: 4 * 1024 * 1024, timeout: 60_000 }

/** The scripts of the pages on which templates are written: as texts (CodeMirror and what we have around it), and block by block. */
export const editors = ['text', 'blocks'] as const
type Editor = typeof editors[number]

const built: Partial<Record<Editor, Promise<Asset> | undefined>> = {}

/**
 * The script of an editor. It is built when it is first asked for, in about 0.2 s, and kept in memory: nothing is written. Rejects where it
 * cannot be built; the pages work without it, and the next who asks has it tried again.
 */
export function editorScript (name: Editor): Promise<Asset> {
  return built[name] ??= build(name).catch((error: unknown) => {
    built[name] = undefined
    throw error
  })
}

/** The program of esbuild is run as it is: its API for Node would leave a process behind, and stopping that one stops other builds too. */
async function build (name: Editor): Promise<Asset> {
  const entry = fileURLToPath(new URL(`script/editor/${name}.ts`, import.meta.url))
  const program = createRequire(import.meta.resolve('esbuild')).resolve(`@esbuild/${process.platform}-${process.arch}/bin/esbuild`)
  const { stdout: bytes } = await promisify(execFile)(program, [entry, '--bundle', '--minify', '--format=esm', '--target=es2024',
    '--charset=utf8', '--tsconfig-raw={}', '--log-level=error'], { ...limits, encoding: 'buffer', env: {} })
  return assetOf(bytes, '/console/editor', 'js')
}
