import type { Keyring } from '@dispatch/common'
import { sealStored } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { checkMasterKeys, countSecretsByMasterKey, createDataKeys, hasDataKeys, type KeyPlace, renewDataKeys, rewrapDataKeys, rewrapSecrets,
  SealedColumns } from '@dispatch/tables'
import { type Config, readConfig } from '../../plugins/config/config.ts'
import { openKeysPlace } from '../../plugins/config/data-keys.ts'
import { openFiles } from '../../plugins/config/files.ts'
import { openKeyring } from '../../plugins/config/master-keys.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { openDataDirectory } from '../data-directory.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'

/** Replaces the master key while the service runs, and data keys that are lost; seals what was stored before there were any. */
export const keys: Command = {
  summary: 'keys rotate   wraps every stored secret in DISPATCH_MASTER_KEY; the key before is DISPATCH_MASTER_KEY_PREVIOUS\n' +
    '  keys renew    lets companies whose data key is lost for good get another one; what it sealed stays closed\n' +
    '  keys seal     seals what was stored before DISPATCH_KEYS was set',
  async run ([action, ...rest], env) {
    const work = actions.get(action ?? '')
    if (work === undefined || rest.length > 0) {
      throw new Error('It is "keys rotate", "keys renew" or "keys seal", without anything behind it.')
    }
    const config = readConfig(env)
    openDataDirectory(config.dataDirectory)
    const keyring = await openKeyring(config)
    const place = await openedPlace(config)
    const sealedColumns = new SealedColumns()
    await withDatabase(config, async (database) => {
      await checkMasterKeys(database, keyring)
      await work({ config, database, keyring, place, sealedColumns })
    }, [sealedColumns])
  }
}

type Needs = { config: Config, database: Database, keyring: Keyring, place: KeyPlace | undefined, sealedColumns: SealedColumns }

const actions = new Map<string, (needs: Needs) => Promise<void>>([['rotate', rotate], ['renew', renew], ['seal', seal]])

async function openedPlace (config: Config): Promise<KeyPlace | undefined> {
  const place = openKeysPlace(config, createLogger(config.logLevel))
  await place?.ready()
  return place
}

async function rotate ({ database, keyring, place }: Needs): Promise<void> {
  if (place === undefined && await hasDataKeys(database)) {
    throw new Error('The database names data keys, and DISPATCH_KEYS is not set: without it they would stay under the key before.')
  }
  const wrapped = place && await rewrapDataKeys(database, { place, keyring })
  const rows = await rewrapSecrets(database, keyring)
  const secrets = (await countSecretsByMasterKey(database)).get(keyring.kid) ?? 0
  console.log(
    `${rows} rows were rewrapped; all ${secrets} secrets${wrapped === undefined ? '' : ` and the data keys (${wrapped})`} are under ` +
      `the master key ${keyring.kid}.${
        rows > 0 ? ' Restart every process without DISPATCH_MASTER_KEY_PREVIOUS; keep the old key as long as backups need it.' : ''
      }`
  )
}

async function renew ({ database, place }: Needs): Promise<void> {
  if (place === undefined) throw new Error('DISPATCH_KEYS is not set: there are no data keys to renew.')
  const renewed = await renewDataKeys(database, { place })
  console.log(renewed.length === 0
    ? 'Every data key that the database names is there: nothing was changed.'
    : `Companies that get another data key with what they store next: ${renewed.join(', ')}.`)
}

async function seal ({ config, database, keyring, place, sealedColumns }: Needs): Promise<void> {
  if (place === undefined) throw new Error('DISPATCH_KEYS is not set: there are no data keys to seal with.')
  const log = createLogger(config.logLevel)
  const keys = createDataKeys({ place, keyring, database, log })
  await keys.ready()
  sealedColumns.use(keys)
  const sealed = await sealStored(database, openFiles(config, { keys, log }))
  console.log(`${sealed.values} values of the database and ${sealed.files} files were sealed that were stored as they are.` + (
    sealed.left > 0 ? ` ${sealed.left} values are left, which others were changing: run it again.` : ''
  ))
}
