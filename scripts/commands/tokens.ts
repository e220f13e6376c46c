import { createKeyStore, rotateSigningKey } from '@dispatch/accounts'
import { readConfig } from '../../plugins/config/config.ts'
import { openKeyring } from '../../plugins/config/master-keys.ts'
import { openDataDirectory } from '../data-directory.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'

/** What happens to the previous keys, and the sentence that reports it. */
const actions = {
  rotate: { older: 'kept', effect: 'it signs in two minutes, and tokens of the key before stay good' },
  revoke: { older: 'revoked', effect: 'within a minute every token that was signed before is refused' }
} as const

/** Replaces the key that signs access tokens, while the service runs. */
export const tokens: Command = {
  summary: 'tokens rotate|revoke   makes a new key for access tokens; revoke ends all tokens that are there, for a key that became known',
  async run ([name = '', ...rest], env) {
    const action = Object.entries(actions).find(([one]) => one === name)?.[1]
    if (action === undefined || rest.length > 0) throw new Error('It is "tokens rotate" or "tokens revoke", without anything behind it.')
    const config = readConfig(env)
    openDataDirectory(config.dataDirectory)
    const keyring = await openKeyring(config)
    await withDatabase(config, async (database) => {
      const kid = await rotateSigningKey({ store: createKeyStore(database), keyring, now: () => new Date() }, action.older)
      console.log(`Access tokens have the new key ${kid}: ${action.effect}.`)
    })
  }
}
