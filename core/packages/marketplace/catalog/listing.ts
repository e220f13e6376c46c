import { integrityOf } from '../integrity.ts'
import type { AdapterPackage } from '../package/inspect.ts'
import { offerOf } from '../package/manifest.ts'
import type { PrivateKey, PublicKey } from './keys.ts'
import type { CatalogVersion } from './payload.ts'
import { sign, verify } from './signature.ts'

/** What a catalog says of a package that follows from its bytes. */
export type Listing = Omit<CatalogVersion, 'place' | 'released' | 'signature'>

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

/** What a publisher signs: that these bytes are this version of this adapter. */
function statementOf ({ manifest: { provider: { code, version } }, integrity }: AdapterPackage): string {
  return JSON.stringify({ code, version, integrity })
}

/** The signature of a publisher on its package. */
export async function signPackage (found: AdapterPackage, key: PrivateKey): Promise<string> {
  return await sign('package', statementOf(found), key)
}

/** Whether one of the keys has signed this package. Throws a MarketplaceRefusal for a signature by another key. */
export async function isSigned (found: AdapterPackage, signature: string, keys: readonly PublicKey[]): Promise<boolean> {
  return await verify('package', signature, keys) === statementOf(found)
}
