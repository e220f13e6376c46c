import { type PackageManifest, writePackage } from '@dispatch/marketplace'
import { deriveManifest } from '../../core/packages/host/manifest/derive.ts'

/**
 * A small adapter for invoices, whose answers have its version as their status. `head` stands above its code, `wait` are the seconds that
 * it takes. `says`: what its manifest says otherwise than its code.
 */
export type Packing = {
  code: string
  version: string
  hosts?: readonly string[]
  settings?: object
  publisher?: string
  head?: string
  wait?: number
  /** The source of what a dispatch does before it answers. */
  does?: string
  says?: object
  sdk?: string
  changelog?: string
  /** The source of its function that migrates settings. */
  migrate?: string
  /** Its fixtures, by their names. */
  fixtures?: Record<string, object>
  /** How many cases of the kit its manifest says it passed. Catalogs list only what has passed. */
  conforms?: number
}

/** The bytes of a package, as an author packs it. */
export function packed ({
  head = '',
  wait = 0,
  does = '',
  says = {},
  sdk = '^1.0.0',
  publisher = 'Acme Ltd',
  changelog = '',
  migrate,
  conforms,
  fixtures = {},
  ...facts
}: Packing): Uint8Array {
  const { code, version } = facts
  const provider = manifestOf(facts)
  const manifest = {
    v: 1,
    package: `${code}-adapter`,
    publisher,
    sdk,
    licence: 'MIT',
    changelog,
    conformance: conforms === undefined ? { status: 'not_run' } : { status: 'passed', kit: '1.0.0', passed: conforms, skipped: 0 },
    provider: { ...provider, ...says }
  } as const satisfies PackageManifest
  const { settings, hosts } = provider
  const source = `import { defineProvider } from '@dispatch/core/provider'
${head}
export default defineProvider({
  code: '${code}',
  name: 'Sample ${code}',
  hosts: ${JSON.stringify(hosts)},
  settings: ${JSON.stringify(settings)},
  ${migrate === undefined ? '' : `migrateSettings: ${migrate},`}
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      idempotency: { kind: 'none' },
      async dispatch (request, context) {
        await context.wait(${wait})
        ${does}
        return { id: '1', status: '${version}' }
      }
    }
  }
})
`
  const texts = { 'index.js': source, 'README.md': `# ${code}\n` }
  const shown = Object.entries(fixtures).map(([name, fixture]) => [`fixtures/${name}.json`, JSON.stringify(fixture)] as const)
  const files = [...Object.entries(texts), ...shown].map(([path, text]) => [path, Buffer.from(text)] as const)
  return writePackage(manifest, new Map(files)).bytes
}

function manifestOf ({ code, version, hosts = ['api.acme.test'], settings = { type: 'object', properties: {} } }: Packing) {
  const services = { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, dispatch: () => undefined } }
  const fit = deriveManifest({ code, name: `Sample ${code}`, hosts, settings, services }, version)
  if (!fit.ok) throw new TypeError(JSON.stringify(fit.problems))
  return fit.value
}
