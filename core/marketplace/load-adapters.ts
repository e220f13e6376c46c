import { isForSdk } from '@dispatch/marketplace'
import { isDeepStrictEqual } from 'node:util'
import { failureError } from '../host/call/failure.ts'
import { errorMessageOf } from '../host/call/load-error.ts'
import type { Log } from '../host/call/log.ts'
import type { OtherProviders } from '../host/host.ts'
import type { ProviderEntry } from '../host/load/discover.ts'
import type { InstalledProvider } from '../host/load/load.ts'
import { isSamePublisher, publisherInWords } from '../host/load/pins.ts'
import type { Sandbox } from '../host/sandbox/provider.ts'
import core from '../package.json' with { type: 'json' }
import type { Database } from '../store/db/database.ts'
import { type EnabledAdapter, listEnabledAdapters } from '../store/vendor/adapters.ts'
import type { AdapterFiles } from './adapter-files.ts'
import { entryName } from './take-in.ts'

type AdapterHost = { database: Database, files: AdapterFiles, sandbox: () => Promise<Sandbox>, log: Log }

/**
 * Loads the adapters that the database wants to run. Nothing of them runs until they are called: what they say of themselves is known from
 * when they were taken in. One that cannot be loaded is refused, and does not affect the others; its loaded version stays in service.
 */
export function createAdapterLoader (host: AdapterHost): OtherProviders {
  let loaded: ReadonlyMap<string, InstalledProvider> = new Map()
  return async () => {
    const wanted = await listEnabledAdapters(host.database)
    const entries = (await Promise.all(wanted.map((adapter) => entriesOf(host, adapter, loaded.get(adapter.code))))).flat()
    loaded = new Map(entries.flatMap((entry) => entry.state === 'installed' ? [[entry.code, entry]] : []))
    return entries
  }
}

async function entriesOf (host: AdapterHost, adapter: EnabledAdapter, before: InstalledProvider | undefined): Promise<ProviderEntry[]> {
  const { code, integrity, companies } = adapter
  const reason = obstacleOf(adapter)
  if (reason !== undefined) return [{ state: 'refused', folder: integrity, code, reason }]
  if (before?.digest === integrity && isDeepStrictEqual(before.companies ?? null, companies)) return [before]
  try {
    return [await load(host, adapter)]
  } catch (error) {
    const refused = { state: 'refused', folder: integrity, code, reason: errorMessageOf(error) } as const
    return before === undefined ? [refused] : [before, refused]
  }
}

/** Why an adapter may not run here, in a sentence. */
function obstacleOf ({ code, sdk, publisher, pin }: EnabledAdapter): string | undefined {
  if (!isForSdk(sdk, core.version)) return `It is made for @dispatch/core ${sdk}, but this is ${core.version}.`
  if (pin === undefined || isSamePublisher(pin, publisher)) return undefined
  return `The code "${code}" belongs to ${publisherInWords(pin)}; this is ${publisherInWords(publisher)}.`
}

async function load ({ files, sandbox, log }: AdapterHost, adapter: EnabledAdapter): Promise<InstalledProvider> {
  const { code, version, publisher, integrity, companies } = adapter
  const folder = await files.place(adapter)
  const verify = async (): Promise<void> => {
    await files.place(adapter).catch((err: unknown) => {
      log.error({ err, provider: code, version }, 'the files of an adapter are not what was taken in')
      throw failureError({ word: 'provider_unavailable', message: `The provider "${code}" cannot be started here.`, ours: true }, err)
    })
  }
  const entry = `${folder}/${entryName}`
  const provider = await (await sandbox()).open({ folder, digest: integrity, version, publisher, entry, verify }, adapter.definition)
  return companies === null ? provider : Object.freeze({ ...provider, companies })
}
