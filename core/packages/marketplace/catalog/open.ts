import { MarketplaceRefusal } from '../refusal.ts'
import { checkKid, type PrivateKey, type PublicKey } from './keys.ts'
import { type CatalogPayload, readPayload } from './payload.ts'
import { sign, verify } from './signature.ts'

/** Bytes: a thousand adapters with ten versions each have about 10 MiB. */
export const catalogLimit = 16 * 1024 * 1024

/** A catalog that may be read. `trusted`: the keys that may sign the next one; whoever reads catalogs keeps them, and the serial. */
export type Catalog = Readonly<CatalogPayload & { trusted: readonly PublicKey[], isExpired: boolean }>

/** `keys`: those that are trusted. `lastSerial`: that of the catalog that was read from the same source before. */
export type Opening = { keys: readonly PublicKey[], lastSerial?: number, now: Date }

/**
 * Reads a signed catalog. Throws a {@link MarketplaceRefusal} where its key is not trusted, it was changed, or is older than the last one.
 * An expired catalog is read, because it still says what was revoked; nothing new is installed from it.
 */
export async function openCatalog (jws: string, { keys, lastSerial = 0, now }: Opening): Promise<Catalog> {
  if (Buffer.byteLength(jws) > catalogLimit) {
    throw new MarketplaceRefusal('catalog_too_large', `A catalog may have at most ${catalogLimit} bytes.`)
  }
  const payload = readPayload(parsed(await verify('catalog', jws.trim(), keys)))
  if (payload.serial < lastSerial) {
    throw new MarketplaceRefusal('catalog_rolled_back',
      `Its serial is ${payload.serial}, but ${lastSerial} was read before: an older catalog does not come back.`)
  }
  const trusted = await Promise.all((payload.keys ?? keys).map(checkKid))
  return { ...payload, trusted, isExpired: Date.parse(payload.expires) <= now.getTime() }
}

function parsed (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MarketplaceRefusal('catalog_invalid', 'The content of the catalog must be JSON.', { cause })
  }
}

/** Signs the content of a catalog. Its form is checked before. */
export async function signCatalog (payload: unknown, key: PrivateKey): Promise<string> {
  return await sign('catalog', JSON.stringify(readPayload(payload)), key)
}
