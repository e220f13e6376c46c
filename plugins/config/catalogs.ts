import { type PublicKey, readPublicKey } from '@dispatch/marketplace'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ConfigError } from './config-error.ts'

/** A catalog of adapters: its directory or address, and the files of the keys whose signatures count. */
export type CatalogConfig = { address: string, keyFiles: string[] }

/** Where a catalog is, and whose signatures count when it is read for the first time. */
export type CatalogLocation = { address: string, keys: readonly PublicKey[] }

/** Reads a list such as `https://adapters.example.com/#/etc/dispatch/adapters.public.json`, its parts separated by spaces. */
export function catalogsOf (text: string): { catalogs?: CatalogConfig[] } {
  const catalogs = text.split(/\s+/).filter((part) => part !== '').map((part): CatalogConfig => {
    const [address = '', keys = '', ...rest] = part.split('#')
    const keyFiles = keys.split(',').filter((file) => file !== '').map((file) => resolve(file))
    if (address === '' || keyFiles.length === 0 || rest.length > 0 ||
      (/^[a-z][a-z0-9+.-]+:/i.test(address) && !address.startsWith('https://')))
    {
      throw new ConfigError(
        `DISPATCH_CATALOGS has "${part}"; each part must be a directory or an https:// address, "#", and the file of its public key.`
      )
    }
    return { address: address.startsWith('https://') ? address : resolve(address), keyFiles }
  })
  return catalogs.length === 0 ? {} : { catalogs }
}

/** The name of the key that signs the demo catalog, in its folder. */
export const demoKey = 'demo'

/**
 * The catalogs with their keys: those that are configured, then the demo catalog, once it has its key. Throws a {@link ConfigError} for a
 * key that cannot be read.
 */
export async function readCatalogLocations ({ catalogs = [], demoCatalog }: {
  catalogs?: readonly CatalogConfig[]
  demoCatalog?: string
}): Promise<CatalogLocation[]> {
  const demo = demoCatalog === undefined ? [] : [{ address: demoCatalog, keyFiles: [join(demoCatalog, `${demoKey}.public.json`)] }]
  const locations = [...catalogs, ...demo.filter(({ keyFiles }) => keyFiles.every((file) => existsSync(file)))]
  return await Promise.all(locations.map(async ({ address, keyFiles }) => ({ address, keys: await Promise.all(keyFiles.map(readKey)) })))
}

async function readKey (file: string): Promise<PublicKey> {
  try {
    return await readPublicKey(await readFile(file, 'utf8'))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(`The key ${file} of DISPATCH_CATALOGS cannot be used: ${reason}`, { cause })
  }
}
