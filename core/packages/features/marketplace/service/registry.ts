import { refusal } from '@dispatch/contract'
import { type Fetch, inspectPackage, MarketplaceRefusal, npmVersionIn, publicRegistry, readFromRegistry,
  type ReadPackage } from '@dispatch/marketplace'
import { asRefusal } from './try-package.ts'

/**
 * The package that `npm:<name>@<version>` is at a registry, and what that says of it. Throws `validation_failed` where it cannot be had
 * as it is announced.
 */
export async function readNpm (fetch: Fetch, npm: string, registry = publicRegistry): Promise<ReadPackage> {
  try {
    const requested = npmVersionIn(npm)
    if (requested === undefined) throw new MarketplaceRefusal('source_invalid', `"${npm.slice(0, 300)}" must be npm:<name>@<version>.`)
    const { bytes, facts } = await readFromRegistry(registry, requested, { fetch })
    const { manifest } = inspectPackage(bytes)
    if (manifest.package === requested.name && manifest.provider.version === requested.version) return { bytes, registry: facts }
  } catch (error) {
    throw asRefusal(error, '/npm')
  }
  const message = 'Its manifest has another name or version than the registry.'
  throw refusal('validation_failed', [{ path: '/npm', code: 'manifest_mismatch', message }])
}
