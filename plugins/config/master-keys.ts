import { createKeyring, type Keyring, readMasterKey } from '@dispatch/core'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'

/**
 * The keyring of the configured master key and, while it is being replaced, the one before. Throws a MasterKeyError, or a
 * ConfigError when they are the same.
 */
export async function openKeyring ({ environment, dataDirectory, masterKey, masterKeyFile, previousMasterKey, previousMasterKeyFile }:
  Config): Promise<Keyring>
{
  const made = environment === 'development' ? developmentKeyFile(dataDirectory) : undefined
  const key = await readMasterKey({ value: masterKey, file: masterKeyFile, made })
  if (environment === 'production' && new Set(key).size < fewestBytes) {
    throw new ConfigError('DISPATCH_MASTER_KEY is not random: take one from `openssl rand -base64 32`.')
  }
  if (previousMasterKey === undefined && previousMasterKeyFile === undefined) return createKeyring(key)
  const previous = await readMasterKey({ value: previousMasterKey, file: previousMasterKeyFile }, 'DISPATCH_MASTER_KEY_PREVIOUS')
  if (key.equals(previous)) {
    throw new ConfigError(
      'DISPATCH_MASTER_KEY_PREVIOUS is the key of DISPATCH_MASTER_KEY: it must be the one that was used before, or absent.'
    )
  }
  return createKeyring(key, previous)
}

/** Different ones among 32 random bytes: fewer do not happen, but in a key that somebody made up. */
const fewestBytes = 20

/** Where development keeps its master key, beside the data that it protects. */
export function developmentKeyFile (dataDirectory: string): string {
  return join(dataDirectory, 'master.key')
}
