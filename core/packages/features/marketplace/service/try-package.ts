import { DispatchError, refusal } from '@dispatch/contract'
import { type InstalledProvider, LoadTimeout, ProviderLoadError, sdkVersion } from '@dispatch/host'
import { type AdapterPackage, inspectPackage, MarketplaceRefusal } from '@dispatch/marketplace'
import type { Sandbox } from '@dispatch/sandbox'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { NewPackage } from '../store/adapters.ts'
import type { AdapterFiles } from './adapter-files.ts'

/** The file that has all code of a package. */
export const entryName = 'index.js'

/** Seconds that an adapter may take to load. */
const loadLimit = 10

/** Tries a provider by the fixtures in its folder: how many were replayed, and a sentence for each difference. */
export type Smoke = (provider: InstalledProvider, folder: string) => Promise<{ replayed: number, faults: string[] }>

/**
 * `source`: the address of the catalog that the bytes came from; empty: none. `registry`: what a registry of npm says of them. `attested`:
 * what the catalog says.
 */
export type TryOptions =
  & Pick<NewPackage, 'source' | 'registry' | 'attested'>
  & { files: AdapterFiles, sandbox: () => Promise<Sandbox>, smoke: Smoke }

/**
 * Inspects a package and tries it in the sandbox: it must load there, be what its manifest says, and do what its fixtures show. Nothing of
 * it is left behind. Throws `validation_failed`, whose details have the word for what is wrong.
 */
export async function tryPackage (
  bytes: Uint8Array,
  { source, registry, attested, files, sandbox, smoke }: TryOptions
): Promise<NewPackage> {
  const found = inspect(bytes)
  const { integrity, manifest } = found
  const { code, version } = manifest.provider
  const publisher = { packageName: manifest.package, author: manifest.publisher }
  const opened = await sandbox().catch(asNoRoom)
  await using staged = await files.stage(found.files).catch(asNoRoom)
  const { folder } = staged
  const place = { folder, digest: integrity, version, publisher, entry: join(folder, entryName) }
  const definition = await tried(found, opened, place)
  const { replayed, faults } = await smoke(opened.open(place, definition, { once: true }), folder).catch(asSlow)
  if (faults.length > 0) throw refused('fails_fixtures', `It does not do what its fixtures show: ${faults.slice(0, 3).join(' ')}`)
  const digests = [...found.files].map(([path, content]) => [path, createHash('sha256').update(content).digest('hex')] as const)
  const kept = { files: Object.fromEntries(digests), bytes, source, replayed, registry, attested }
  return { integrity, code, version, publisher, manifest, definition, ...kept }
}

/** The package in these bytes, if it is sound and made for this core. Throws `validation_failed`. */
export function inspect (bytes: Uint8Array): AdapterPackage {
  try {
    return inspectPackage(bytes, { sdk: sdkVersion })
  } catch (error) {
    throw asRefusal(error, '/package')
  }
}

/** What a disk says that takes no more: that it is full, that a quota is, or a limit of the process. */
const noRoom = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** Throws the error for a client, where a file could not be written. */
export function asNoRoom (error: unknown): never {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string' || !noRoom.has(error.code)) throw error
  const message = 'The disk of the data directory is full, so that nothing was changed: make room there, and try again.'
  throw new DispatchError('service_unavailable', message, { details: [{ path: '', code: 'disk_full', message }], cause: error })
}

/**
 * The error for a client, where the inspection of a package or a catalog refuses. `path`: what of the request is refused. That a source was
 * slow is no fault of the request.
 */
export function asRefusal (error: unknown, path: string): unknown {
  if (!(error instanceof MarketplaceRefusal)) return error
  const { code, message } = error
  const details = [{ path, code, message }]
  return code === 'source_timeout'
    ? new DispatchError('timeout', message, { details, cause: error })
    : refusal('validation_failed', details)
}

/** What its process says of it. */
async function tried ({ manifest }: AdapterPackage, sandbox: Sandbox, place: Parameters<Sandbox['open']>[0]): Promise<string> {
  try {
    const definition = await sandbox.describe(place, loadLimit)
    const provider = sandbox.open(place, definition)
    if (isDeepStrictEqual(JSON.parse(JSON.stringify(provider.manifest)), manifest.provider)) return definition
  } catch (error) {
    if (error instanceof LoadTimeout) asSlow(error)
    throw error instanceof ProviderLoadError ? refused('does_not_load', error.message) : error
  }
  throw refused('manifest_differs', 'Its code says another thing of itself than its manifest.json: pack it again.')
}

/** Nobody can tell a package that hangs from a machine that is busy. */
function asSlow (error: unknown): never {
  if (!(error instanceof LoadTimeout)) throw error
  const message = `${error.message} Try again when this machine is less busy; code that never finishes would say the same.`
  throw new DispatchError('provider_unavailable', message, {
    details: [{ path: '/package', code: 'loads_too_slowly', message }],
    cause: error
  })
}

function refused (code: string, message: string): DispatchError {
  return refusal('validation_failed', [{ path: '/package', code, message }])
}
