import { createOperator, seedDemo } from '@dispatch/core'
import { parseArgs } from 'node:util'
import { readConfig } from '../../plugins/config/config.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'
import { readPassword } from './password.ts'

/**
 * Creates the first operator of an installation, or a further one. The password is not an argument, because every user of the machine can
 * read arguments.
 */
export const operator: Command = {
  summary:
    'operator create --email <address>   makes an operator of the platform; the password is asked for, or the first line of standard input',
  async run (args, env) {
    const email = emailIn(args)
    const config = readConfig(env)
    const password = await readPassword(process.stdin, process.stderr)
    await withDatabase(config, async (database) => {
      // In development, a new database first gets what the first start would give it, because it is not new afterwards.
      if (config.environment === 'development') await seedDemo(database, new Date())
      const { userId } = await createOperator(database, { email, password }, new Date())
      console.log(`The operator ${email} is there, as user ${userId} of the platform.`)
    })
  }
}

/** Without "--", npm removes the name of the option and passes on only its value. */
function emailIn (args: readonly string[]): string {
  const { values, positionals: [action, email = values.email, ...rest] } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { email: { type: 'string' } }
  })
  if (action === 'create' && email !== undefined && rest.length === 0) return email
  throw new Error('It is "operator create --email <address>", with the password on standard input.')
}
