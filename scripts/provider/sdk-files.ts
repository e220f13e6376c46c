import core from '../../core/package.json' with { type: 'json' }
import kit from '../../core/packages/conformance/package.json' with { type: 'json' }

/** The names of the tarballs, as "npm pack" gives them. */
export const sdkFiles = { core: tarballName(core), kit: tarballName(kit) }

export function tarballName ({ name, version }: { name: string, version: string }): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}
