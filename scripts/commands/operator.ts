import { createOperator, recoverOperator, resetOperator } from '@dispatch/accounts'
import { seedDemo } from '@dispatch/core'
import { parseArgs } from 'node:util'
import { type Config, readConfig } from '../../plugins/config/config.ts'
import { accessEndsOf } from '../../plugins/features/feature.ts'
import { findFeatures } from '../../plugins/features/find-features.ts'
import type { Command } from './command.ts'
import { isDemo, withDatabase } from './database.ts'
import { readPassword } from './password.ts'

/**
 * Creates the first operator of an installation, or a further one; lets in one who has lost the second factor, or throws out who else has
 * got into one. The password is not an argument, because every user of the machine can read arguments.
 */
export const operator: Command = {
  summary:
    'operator create --email <address>   makes an operator of the platform; the password is asked for, or read from standard input\n' +
    '  operator reset --email <address>    removes the second factor of an operator who has lost it\n' +
    '  operator recover --email <address>  ends every way in of an operator, keys too, and sets another password, read as with create',
  async run (args, env) {
    const { action, email } = givenIn(args)
    const config = readConfig(env)
    if (action === 'reset') return reset(config, email)
    const password = await readPassword(process.stdin, process.stderr)
    if (action === 'recover') return recover(config, { email, password })
    await withDatabase(config, async (database) => {
      if (isDemo(config)) await seedDemo(database, new Date())
      const { userId } = await createOperator(database, { email, password }, new Date())
      const place = config.databaseUrl === undefined ? `, in the embedded database below ${config.dataDirectory}` : ''
      console.log(`The operator ${email} is there, as user ${userId} of the platform${place}.`)
    })
  }
}

async function reset (config: Config, email: string): Promise<void> {
  await withDatabase(config, async (database) => {
    const factors = (await findFeatures()).flatMap(({ verification }) => verification ?? [])
    const { userId } = await resetOperator(database, factors, email, new Date())
    console.log(`The password alone signs ${email} in again, user ${userId} of the platform.`)
  })
}

async function recover (config: Config, given: { email: string, password: string }): Promise<void> {
  await withDatabase(config, async (database) => {
    const { userId, keys } = await recoverOperator(database, accessEndsOf(await findFeatures()), given, new Date())
    console.log(`The new password alone lets ${given.email} in, user ${userId} of the platform; API keys revoked: ${keys}.`)
  })
}

const actions = ['create', 'reset', 'recover'] as const
type Action = typeof actions[number]

/** Without "--", npm removes the name of the option and passes on only its value. */
function givenIn (args: readonly string[]): { action: Action, email: string } {
  const { values, positionals: [given, email = values.email, ...rest] } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { email: { type: 'string' } }
  })
  const action = actions.find((one) => one === given)
  if (action !== undefined && email !== undefined && rest.length === 0) return { action, email }
  throw new Error(
    'It is "operator create --email <address>" or "operator recover --email <address>", with the password on standard input, ' +
      'or "operator reset --email <address>".'
  )
}
