import { compile, errorMessageOf } from '@dispatch/common'
import { isInFolder } from '@dispatch/vendor-io'
import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import semver from 'semver'
import { type Static, Type } from 'typebox'
import host from '../package.json' with { type: 'json' }
import { ProviderLoadError } from './load-error.ts'
import type { Publisher } from './pins.ts'

/** What providers import, and its version. */
const sdk = { name: '@dispatch/core', version: host.version }
export const sdkVersion = sdk.version

/** A name, or a name with an e-mail address (npm's "people fields"). */
const Person = Type.Union([Type.String(), Type.Object({ name: Type.String(), email: Type.Optional(Type.String()) })])

/** The part of a package.json that the host reads. */
const PackageJson = Type.Object({
  name: Type.String({ minLength: 1 }),
  author: Type.Optional(Person),
  publisher: Type.Optional(Type.String({ minLength: 1 })),
  version: Type.String(),
  main: Type.Optional(Type.String()),
  exports: Type.Optional(Type.Unknown()),
  peerDependencies: Type.Optional(Type.Record(Type.String(), Type.String()))
})
type PackageJson = Static<typeof PackageJson>

const fitPackage = compile(PackageJson)

/** The package of a provider: its version, the absolute path of its entry, and its publisher. */
export type Package = { version: string, entry: string, publisher: Publisher }

/**
 * Reads the package.json of a folder (a real path). Throws a {@link ProviderLoadError} unless it is a provider for this core's contract.
 */
export async function readPackage (folder: string): Promise<Package> {
  const json = await readJson(join(folder, 'package.json'))
  const fit = fitPackage(json)
  if (!fit.ok) throw new ProviderLoadError(`package.json: ${fit.problems.map(({ path, message }) => `${path} ${message}`).join(' ')}`)
  if (semver.valid(fit.value.version) === null) {
    throw new ProviderLoadError(`package.json: /version "${fit.value.version}" is not a semantic version such as 1.0.0.`)
  }
  checkRange(fit.value)
  return { version: fit.value.version, entry: await entryOf(folder, fit.value), publisher: publisherOf(fit.value) }
}

/** `publisher` where there is one, else `author`. */
function publisherOf ({ name, publisher, author }: PackageJson): Publisher {
  const person = typeof author === 'object' ? [author.name, ...author.email === undefined ? [] : [`<${author.email}>`]].join(' ') : author
  return { packageName: name, author: publisher ?? person ?? null }
}

async function readJson (path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new ProviderLoadError(`package.json cannot be read: ${errorMessageOf(cause)}`, { cause })
  }
}

function checkRange ({ peerDependencies = {} }: PackageJson): void {
  const range = peerDependencies[sdk.name]
  if (range === undefined) {
    throw new ProviderLoadError(`package.json has no version range of ${sdk.name} in peerDependencies, such as "^${sdk.version}".`)
  }
  if (semver.validRange(range) === null) throw new ProviderLoadError(`package.json: "${range}" is not a version range of ${sdk.name}.`)
  if (!semver.satisfies(sdk.version, range)) {
    throw new ProviderLoadError(`It is made for ${sdk.name} ${range}, but this is ${sdk.version}.`)
  }
}

async function entryOf (folder: string, { exports, main }: PackageJson): Promise<string> {
  const entry = targetOf(exports) ?? main ?? 'index.js'
  const path = await realpath(join(folder, entry)).catch((cause: unknown) => {
    throw new ProviderLoadError(`The entry "${entry}" of package.json cannot be read: ${errorMessageOf(cause)}`, { cause })
  })
  if (!isInFolder(folder, path)) throw new ProviderLoadError(`The entry "${entry}" of package.json lies outside the folder.`)
  return path
}

/** The module behind `exports` for an import: a path, the subpath ".", or conditions (Node's "Conditional exports"). */
function targetOf (exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports
  if (typeof exports !== 'object' || exports === null) return undefined
  const [, target] = Object.entries(exports).find(([key]) => ['.', 'node', 'import', 'default'].includes(key)) ?? []
  return targetOf(target)
}
