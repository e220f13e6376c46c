import { createCompanyAccounts, platform } from '@dispatch/accounts'
import { seedDemo } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { createLazySandbox } from '@dispatch/sandbox'
import { createNetwork } from '@dispatch/vendor-io'
import { join } from 'node:path'
import { readCatalogLocations } from '../../plugins/config/catalogs.ts'
import { type Config, readConfig } from '../../plugins/config/config.ts'
import { openKeyring } from '../../plugins/config/master-keys.ts'
import type { FeatureCommand } from '../../plugins/features/command.ts'
import { findFeatures } from '../../plugins/features/find-features.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { openDataDirectory } from '../data-directory.ts'
import type { Command } from './command.ts'
import { isDemo, withDatabase } from './database.ts'

/** The commands of the features of this installation, by name. */
export async function featureCommands (): Promise<ReadonlyMap<string, Command>> {
  const features = await findFeatures()
  return new Map(features.flatMap(({ name, command }) => command === undefined ? [] : [[name, commandOf(command)]]))
}

function commandOf ({ summary, read }: FeatureCommand): Command {
  return {
    summary,
    async run (args, env) {
      const [work, config] = [read(args), readConfig(env)]
      openDataDirectory(config.dataDirectory)
      const log = createLogger('error', process.stderr)
      await withDatabase(config, async (database) => {
        await requirePlatform(config, database)
        await using opened = new AsyncDisposableStack()
        const network = opened.adopt(createNetwork({ allow: config.allowedNetworks }), ({ close }) => close())
        const cache = join(config.dataDirectory, 'sandbox')
        const sandbox = opened.adopt(createLazySandbox({ cache, walls: config.sandboxWalls, log }), ({ close }) => close())
        const [catalogLocations, keyring] = [await readCatalogLocations(config), await openKeyring(config)]
        await work({ catalogLocations, config, database, keyring, log, network, now: () => new Date(), sandbox })
      })
    }
  }
}

/** What is changed stands in the audit log of the platform, which the first start or the first operator makes. */
async function requirePlatform (config: Config, database: Database): Promise<void> {
  if (isDemo(config)) await seedDemo(database, new Date())
  const { find } = createCompanyAccounts({ database, now: () => new Date() })
  if (await find(platform.companyId) === undefined) {
    throw new Error('The database is new: first make an operator with "npm run dispatch -- operator create --email <address>".')
  }
}
