import { acceptPublisher } from '../../core/provider-publishers.ts'
import { readConfig } from '../../plugins/config/config.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'

/** Gives a provider code to another publisher. */
export const providers: Command = {
  summary: 'providers accept <code> <package> [<author>]   gives the code, with the secrets stored for it, to another publisher',
  async run ([action, code, packageName, author = null, ...rest], env) {
    if (action !== 'accept' || code === undefined || packageName === undefined || rest.length > 0) {
      throw new Error('It is "providers accept <code> <package> [<author>]", as the reason of the refusal has them.')
    }
    await withDatabase(readConfig(env),
      (database) => acceptPublisher(database, code, { packageName, author }, { author: null, at: new Date() }))
    console.log(`The code "${code}" belongs to the package "${packageName}"${author === null ? '' : ` by "${author}"`} from now on.`)
  }
}
