import { integrityOf } from '../integrity.ts'
import type { AdapterPackage } from '../package/inspect.ts'
import { offerOf } from '../package/manifest.ts'
import { MarketplaceRefusal } from '../refusal.ts'
import type { PrivateKey } from './keys.ts'
import type { CatalogVersion, Publisher } from './payload.ts'
import { sign, verify } from './signature.ts'

/** What a catalog says of a package that follows from its bytes. */
export type Listing = Omit<CatalogVersion, 'place' | 'released' | 'signature' | 'attested'>

export function listingOf (found: AdapterPackage): Listing {
  const { manifest, files, integrity, size } = found
  return {
    version: manifest.provider.version,
    integrity,
    size,
    manifest: integrityOf(files.get('manifest.json') ?? Buffer.alloc(0)),
    sdk: manifest.sdk,
    conformance: manifest.conformance,
    offer: offerOf(manifest)
  }
}

/** A version of an adapter with its bytes. */
type Stated = { code: string, version: string, integrity: string }

/** What a publisher signs: that these bytes are this version of this adapter. */
function statementOf ({ code, version, integrity }: Stated): string {
  return JSON.stringify({ code, version, integrity })
}

export function statedBy ({ manifest: { provider: { code, version } }, integrity }: AdapterPackage): Stated {
  return { code, version, integrity }
}

/** The signature of a publisher on its package. */
export async function signPackage (found: AdapterPackage, key: PrivateKey): Promise<string> {
  return await sign('package', statementOf(statedBy(found)), key)
}

/** Throws a MarketplaceRefusal unless one of the keys of the publisher has signed this version, where it has keys. */
export async function checkPublisher (stated: Stated, { id, keys }: Publisher, signature?: string): Promise<void> {
  if (keys === undefined) return
  if (signature !== undefined && await verify('package', signature, keys) === statementOf(stated)) return
  throw new MarketplaceRefusal('signature_invalid',
    `${stated.code} ${stated.version} must be signed with a key of its publisher, "${id}": "npm run provider pack --key" does it.`)
}
