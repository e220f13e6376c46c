import { migrate, mustKnow, schemaState } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { checkMasterKeys, makeIndexes, type Migrations, release } from '@dispatch/tables'
import { readConfig } from '../../plugins/config/config.ts'
import { openKeyring } from '../../plugins/config/master-keys.ts'
import { findFeatures, migrationsOf } from '../../plugins/features/find-features.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { openDataDirectory } from '../data-directory.ts'
import type { Command } from './command.ts'
import { withConnection } from './database.ts'

/** Brings the schema up to date before a start, or only tells what that would do. */
export const migration: Command = {
  summary: 'migrate [--check]   brings the database up to date, or only tells whether it is: exit code 2 where migrations are to run',
  async run ([option, ...rest], env) {
    if (rest.length > 0 || (option !== undefined && option !== '--check')) throw new Error('It is "migrate" or "migrate --check".')
    const config = readConfig(env)
    openDataDirectory(config.dataDirectory)
    const keyring = await openKeyring(config)
    const prove = (database: Database) => checkMasterKeys(database, keyring)
    const ofFeatures = migrationsOf(await findFeatures())
    await withConnection(config, async (database) => {
      if (option === '--check') await check(database, prove, ofFeatures)
      else {
        const log = createLogger(config.logLevel)
        tell((await migrate(database, { prove: () => prove(database), ofFeatures, log })).pending, 'were run')
        if (!await makeIndexes(database, { log })) console.log('Another process makes the indexes.')
      }
    })
  }
}

async function check (database: Database, prove: (database: Database) => Promise<void>, ofFeatures: Migrations): Promise<void> {
  const state = await schemaState(database, ofFeatures)
  mustKnow(state)
  await prove(database)
  if (state.unknown.length > 0) {
    console.log(`The database is of version ${state.newest}; version ${release} can work beside it.`)
    return
  }
  tell(state.pending, 'are to run')
  if (state.pending.length > 0) process.exitCode = 2
}

function tell (migrations: readonly string[], what: string): void {
  console.log(migrations.length === 0
    ? `The database is up to date for version ${release}.`
    : `${migrations.length} migrations ${what}: ${migrations.join(', ')}.`)
}
