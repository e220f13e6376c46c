import { createKeyring } from '@dispatch/common'
import { smoke } from '@dispatch/conformance/smoke'
import { openDatabase } from '@dispatch/database'
import { createLazySandbox } from '@dispatch/sandbox'
import { createNetwork } from '@dispatch/vendor-io'
import { join } from 'node:path'
import { createAdapters } from '../../../core/packages/features/marketplace/service/adapters.ts'
import { createCatalogs } from '../../../core/packages/features/marketplace/service/catalogs.ts'
import { createMarketplace, type Marketplace } from '../../../core/packages/features/marketplace/service/marketplace.ts'
import type { CatalogLocation } from '../../../plugins/config/catalogs.ts'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { requested } from './adapter-package.ts'

/** The marketplace on a database and a data directory, as the command line opens it. `load` is what a service does to follow. */
export type OpenMarketplace = AsyncDisposable & {
  marketplace: Marketplace
  /** Takes a package in, and installs it. */
  install: (bytes: Uint8Array) => Promise<void>
}

export async function openMarketplace ({ databaseUrl, folder, locations = [] }: {
  databaseUrl: string
  folder: string
  locations?: readonly CatalogLocation[]
}): Promise<OpenMarketplace> {
  const log = createLogger('error', process.stderr)
  const database = openDatabase({ connectionString: databaseUrl }, { onError: (err) => log.error({ err }) })
  const sandbox = createLazySandbox({ cache: join(folder, 'sandbox'), log })
  const network = createNetwork()
  const adapters = createAdapters({ folder: join(folder, 'adapters'), database, sandbox: sandbox.open, log })
  await adapters.sweep()
  const catalogs = createCatalogs({ database, locations, transport: network.transport, now: () => new Date() })
  const keyring = createKeyring(Buffer.alloc(32, 1))
  const marketplace = createMarketplace({ database, keyring, log, ...adapters, follow: adapters.load, catalogs, smoke })
  return {
    marketplace,
    async install (bytes) {
      const { code, version } = await marketplace.add(bytes, {}, stamp())
      await marketplace.install(code, { version, consent: requested }, stamp())
    },
    async [Symbol.asyncDispose] () {
      await Promise.all([sandbox.close(), network.close()])
      await database.close()
    }
  }
}

export const stamp = () => ({ author: null, at: new Date() })
