import type { Accounts } from '@dispatch/accounts'
import { demo } from '@dispatch/core'
import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import { developmentKeyFile } from './master-keys.ts'

/** Returns a sentence that says what is wrong, or undefined. */
type Check = (config: Config, accounts: Pick<Accounts, 'byEmail'>) => string | undefined | Promise<string | undefined>

/** What development allows and production must not have. */
const checks: readonly Check[] = [keyBesideData, leftoverKey, guessableWebhookAuth, demoAccounts]

/** Throws a {@link ConfigError} for the first development default that is found in production. */
export async function refuseDevelopmentDefaults (config: Config, accounts: Pick<Accounts, 'byEmail'>): Promise<void> {
  for (const check of checks) {
    const fault = await check(config, accounts)
    if (fault !== undefined) throw new ConfigError(fault)
  }
}

function keyBesideData ({ dataDirectory, masterKeyFile, previousMasterKeyFile }: Config): string | undefined {
  const beside = [masterKeyFile, previousMasterKeyFile].find((file) =>
    file !== undefined && !relative(dataDirectory, file).startsWith('..')
  )
  return beside === undefined
    ? undefined
    : `The master key ${beside} lies in the data directory: whoever copies the data would have its key; keep it elsewhere.`
}

function leftoverKey ({ dataDirectory }: Config): string | undefined {
  const file = developmentKeyFile(dataDirectory)
  return existsSync(file) ?
    `${file} is the master key of a development installation, beside the data that it protects: use another data directory, or ` +
    'move the key into DISPATCH_MASTER_KEY and delete the file.' :
    undefined
}

/** In characters: a shorter password can be found by brute force. */
const shortestPassword = 16

/** Passwords from the documentation's examples, which everybody knows. */
const documented = ['long-random-password']

function guessableWebhookAuth ({ webhookAuth }: Config): string | undefined {
  const weak = Object.entries(webhookAuth).find(([, login]) => isGuessable(login.slice(login.indexOf(':') + 1)))
  return weak === undefined ?
    undefined :
    `The password of DISPATCH_WEBHOOKS_ENDPOINT_AUTH_${weak[0]} could be guessed: it needs at least ${shortestPassword} random ` +
    `characters, for example from \`openssl rand -base64 24\`.`
}

function isGuessable (password: string): boolean {
  return password.length < shortestPassword || documented.includes(password) || new Set(password).size < shortestPassword / 2
}

async function demoAccounts (_config: Config, { byEmail }: Pick<Accounts, 'byEmail'>): Promise<string | undefined> {
  for (const { email } of [demo.admin, demo.operator]) {
    const accounts = await byEmail(email)
    if (accounts.some(({ disabled }) => !disabled)) {
      return `The database was filled for development: everybody knows its account ${email}; use another database, or disable the account ` +
        'first.'
    }
  }
  return undefined
}
