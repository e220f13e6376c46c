import { MarketplaceRefusal } from '../refusal.ts'
import { checkKid, type PrivateKey, type PublicKey } from './keys.ts'
import { checkPublisher } from './listing.ts'
import { type CatalogPayload, readPayload } from './payload.ts'
import { sign, verify } from './signature.ts'

/** Bytes: a thousand adapters with ten versions each have about 10 MiB. */
export const catalogLimit = 16 * 1024 * 1024

/** Days that a catalog is good at most, whatever it says of itself: whoever holds back the next one is noticed by then. */
export const maxDays = 90
/** Milliseconds. */
const day = 86_400_000

/**
 * A catalog that may be read. `trusted`: the keys that may sign the next one; whoever reads catalogs keeps them, and the serial. `expires`:
 * at most {@link maxDays} after it was issued, and after it was read.
 */
export type Catalog = Readonly<CatalogPayload & { trusted: readonly PublicKey[], isExpired: boolean }>

/**
 * `keys`: those that are trusted. `last`: the text of the catalog that was read from the same source before, whoever had signed it, and its
 * serial. `now`: when it was read.
 */
export type Opening = { keys: readonly PublicKey[], last?: { serial: number, jws: string }, now: Date }

/**
 * Reads a signed catalog. Throws a {@link MarketplaceRefusal} where its key is not trusted, it was changed, is older than the last one, or
 * has its serial and other content.
 * An expired catalog is read, because it still says what was revoked; nothing new is installed from it.
 */
export async function openCatalog (jws: string, { keys, last, now }: Opening): Promise<Catalog> {
  if (Buffer.byteLength(jws) > catalogLimit) {
    throw new MarketplaceRefusal('catalog_too_large', `A catalog may have at most ${catalogLimit} bytes.`)
  }
  const payload = readPayload(parsed(await verify('catalog', jws.trim(), keys)))
  if (last !== undefined) refuseOlder(payload, jws, last)
  const trusted = await Promise.all((payload.keys ?? keys).map(checkKid))
  const latest = Math.min(Date.parse(payload.issued), now.getTime()) + maxDays * day
  const expires = Date.parse(payload.expires) > latest ? new Date(latest).toISOString() : payload.expires
  return { ...payload, expires, trusted, isExpired: Date.parse(expires) <= now.getTime() }
}

function refuseOlder ({ serial }: CatalogPayload, jws: string, last: NonNullable<Opening['last']>): void {
  if (serial < last.serial) {
    throw new MarketplaceRefusal('catalog_rolled_back',
      `Its serial is ${serial}, but ${last.serial} was read before: an older catalog does not come back.`)
  }
  if (serial === last.serial && contentOf(jws) !== contentOf(last.jws)) {
    throw new MarketplaceRefusal('serial_reused',
      `Its serial is ${serial}, as that of the catalog that was read before, and its content is another: a change needs a higher serial.`)
  }
}

/** The content of a signed text as it stands there: whoever signs it again leaves it as it is. */
function contentOf (jws: string): string | undefined {
  return jws.trim().split('.')[1]
}

function parsed (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MarketplaceRefusal('catalog_invalid', 'The content of the catalog must be JSON.', { cause })
  }
}

/**
 * Signs the content of a catalog. Its form is checked before, and that each package is signed whose publisher has keys.
 */
export async function signCatalog (payload: unknown, key: PrivateKey): Promise<string> {
  const content = readPayload(payload)
  const publishers = new Map(content.publishers.map((one) => [one.id, one]))
  for (const { code, publisher, versions } of content.adapters) {
    const known = publishers.get(publisher)
    if (known === undefined) continue
    for (const { version, integrity, signature } of versions) await checkPublisher({ code, version, integrity }, known, signature)
  }
  return await sign('catalog', JSON.stringify(content), key)
}
