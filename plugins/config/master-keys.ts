import { readMasterKey } from '@dispatch/accounts'
import { createKeyring, type Keyring } from '@dispatch/common'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'

/**
 * Opens the keyring with the configured master key and, during a key rotation, the previous one. Throws a MasterKeyError, or a ConfigError
 * when both keys are the same or a production key is not random.
 */
export async function openKeyring ({ environment, dataDirectory, masterKey, masterKeyFile, previousMasterKey, previousMasterKeyFile }:
  Config): Promise<Keyring>
{
  const made = environment === 'development' ? developmentKeyFile(dataDirectory) : undefined
  const key = await readMasterKey({ value: masterKey, file: masterKeyFile, made })
  if (environment === 'production' && new Set(key).size < fewestDistinctBytes) {
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

/** The fewest different bytes in 32 random ones. A key with fewer was made up by a person. */
const fewestDistinctBytes = 20

/** The file of the development master key, in the data directory. */
export function developmentKeyFile (dataDirectory: string): string {
  return join(dataDirectory, 'master.key')
}
