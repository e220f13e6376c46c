import { checkMasterKeys, countSecretsByMasterKey, rewrapSecrets } from '@dispatch/core'
import { readConfig } from '../../plugins/config/config.ts'
import { openKeyring } from '../../plugins/config/master-keys.ts'
import { openDataDirectory } from '../data-directory.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'

/** Replaces the master key while the service runs. */
export const keys: Command = {
  summary: 'keys rotate   wraps every stored secret in DISPATCH_MASTER_KEY; the key before is DISPATCH_MASTER_KEY_PREVIOUS',
  async run ([action, ...rest], env) {
    if (action !== 'rotate' || rest.length > 0) throw new Error('It is "keys rotate", without anything behind it.')
    const config = readConfig(env)
    openDataDirectory(config.dataDirectory)
    const keyring = await openKeyring(config)
    await withDatabase(config, async (database) => {
      await checkMasterKeys(database, keyring)
      const rows = await rewrapSecrets(database, keyring)
      const secrets = (await countSecretsByMasterKey(database)).get(keyring.kid) ?? 0
      console.log(`${rows} rows were rewrapped; all ${secrets} secrets are under the master key ` +
        `${keyring.kid}.${
          rows > 0 ? ' Restart every process without DISPATCH_MASTER_KEY_PREVIOUS; keep the old key as long as backups need it.' : ''
        }`)
    })
  }
}
