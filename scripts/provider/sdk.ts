import { writeTarball } from '@dispatch/marketplace'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import core from '../../core/package.json' with { type: 'json' }
import kit from '../../core/packages/conformance/package.json' with { type: 'json' }
import { type Built, bundleKit, bundleSdk } from './kit-bundle.ts'
import { licencesOf } from './licences.ts'
import { declareSdk, typesEntry } from './sdk-types.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The names of the tarballs, as "npm pack" gives them. */
export const sdkFiles = { core: tarballName(core), kit: tarballName(kit) }

/** Writes what an adapter in its own repository needs: the tarballs of `@dispatch/core`, with its types, and of the conformance kit. */
export async function writeSdk (directory: string): Promise<string[]> {
  const [sdk, types, command] = await Promise.all([bundleSdk(), declareSdk(), bundleKit()])
  const tarballs: [string, Uint8Array][] = [
    [
      sdkFiles.core,
      await packed(core, { ...sdk, files: new Map([...sdk.files, ...types]) }, {
        exports: { './provider': { types: `./${typesEntry}`, default: './provider.js' } }
      })
    ],
    [sdkFiles.kit, await packed(kit, command, { bin: { 'dispatch-conformance': './command.js' } })]
  ]
  await mkdir(directory, { recursive: true })
  return await Promise.all(tarballs.map(async ([name, bytes]) => {
    const path = join(directory, name)
    await writeFile(path, bytes)
    return path
  }))
}

type Source = { name: string, version: string, description: string, license: string, engines: { node: string } }

async function packed (
  { name, version, description, license, engines }: Source,
  { files, foreign }: Built,
  own: object
): Promise<Uint8Array> {
  const json = { name, version, description, license, private: true, type: 'module', engines, ...own }
  return writeTarball(new Map<string, Uint8Array>([
    ...files,
    ['package.json', Buffer.from(`${JSON.stringify(json, null, 2)}\n`)],
    ['LICENSE', await readFile(join(root, 'LICENSE'))],
    ['LICENSES.txt', Buffer.from(licencesOf(foreign))]
  ]))
}

function tarballName ({ name, version }: { name: string, version: string }): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}
