import { writeTarball } from '@dispatch/marketplace'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import core from '../../core/package.json' with { type: 'json' }
import kit from '../../core/packages/conformance/package.json' with { type: 'json' }
import project from '../../package.json' with { type: 'json' }
import { type Built, bundleCreator, bundleKit, bundleSdk } from './kit-bundle.ts'
import { licencesOf } from './licences.ts'
import { sdkFiles, tarballName } from './sdk-files.ts'
import { declareSdk, typesEntry } from './sdk-types.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What `npm init dispatch-provider` runs. */
const creator = {
  ...core,
  name: 'create-dispatch-provider',
  description: 'Writes the repository of an adapter for Document Dispatch, with its types, its kit and its tests.'
}

/** Writes what an adapter in its own repository needs: the tarballs of `@dispatch/core`, with its types, and of the conformance kit. */
export async function writeSdk (directory: string): Promise<string[]> {
  return await writeAll(directory, await sdkTarballs())
}

/** Writes the same, and `create-dispatch-provider`, which has both inside of it: a registry makes its tarball an `npm init` target. */
export async function writeCreator (directory: string): Promise<string[]> {
  const [sdk, created] = await Promise.all([sdkTarballs(), bundleCreator()])
  const vendor = sdk.map(([name, bytes]): [string, Uint8Array] => [`vendor/${name}`, bytes])
  const bytes = await packed(creator, { ...created, files: new Map([...created.files, ...vendor]) }, {
    bin: { 'create-dispatch-provider': './create.js' }
  })
  return await writeAll(directory, [...sdk, [tarballName(creator), bytes]])
}

async function sdkTarballs (): Promise<[string, Uint8Array][]> {
  const [sdk, types, command] = await Promise.all([bundleSdk(), declareSdk(), bundleKit()])
  return [
    [
      sdkFiles.core,
      await packed(core, { ...sdk, files: new Map([...sdk.files, ...types]) }, {
        private: true,
        exports: { './provider': { types: `./${typesEntry}`, default: './provider.js' } }
      })
    ],
    [
      sdkFiles.kit,
      await packed(kit, command, {
        private: true,
        bin: { 'dispatch-provider': './own.js', 'dispatch-conformance': './command.js' },
        dependencies: { esbuild: project.dependencies.esbuild }
      })
    ]
  ]
}

async function writeAll (directory: string, tarballs: readonly [string, Uint8Array][]): Promise<string[]> {
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
  const json = { name, version, description, license, type: 'module', engines, ...own }
  return writeTarball(new Map<string, Uint8Array>([
    ...files,
    ['package.json', Buffer.from(`${JSON.stringify(json, null, 2)}\n`)],
    ['LICENSE', await readFile(join(root, 'LICENSE'))],
    ['LICENSES.txt', Buffer.from(licencesOf(foreign))]
  ]))
}
