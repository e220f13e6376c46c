import { deriveManifest } from '@dispatch/host'
import { writePackage } from '@dispatch/marketplace'

/** What every adapter of the benchmarks asks for. */
export const requested = { hosts: ['api.bench.test'], services: ['invoicing'] }

/** The package of an adapter that accepts every invoice, with its version as the status. `ballast`: bytes of further code. */
export function packageOf (code: string, version: string, ballast = 0): Uint8Array {
  const facts = { code, name: `Bench ${code}`, hosts: requested.hosts, settings: { type: 'object', properties: {} } }
  const service = { documentTypes: ['INVOICE'], idempotency: { kind: 'none' } }
  const fit = deriveManifest({ ...facts, services: { invoicing: { ...service, dispatch: () => undefined } } }, version)
  if (!fit.ok) throw new TypeError(JSON.stringify(fit.problems))
  const manifest = {
    v: 1,
    package: `${code}-adapter`,
    publisher: 'Bench Ltd',
    sdk: '*',
    licence: 'MIT',
    changelog: '',
    conformance: { status: 'passed', kit: '1.0.0', passed: 1, skipped: 0 },
    provider: fit.value
  } as const
  const source = `import { defineProvider } from '@dispatch/core/provider'
export const ballast = '${Buffer.from(crypto.getRandomValues(new Uint8Array(Math.min(ballast, 65_536)))).toString('hex')}'
${
    Array.from({ length: Math.floor(ballast / 100) },
      (_, line) => `export const line${line} = () => '${line.toString().padStart(64, 'x')}'`).join('\n')
  }
export default defineProvider({ ...${JSON.stringify(facts)}, services: { invoicing: { ...${JSON.stringify(service)},
  dispatch: async () => ({ id: '1', status: '${version}' }) } } })
`
  return writePackage(manifest, new Map([['index.js', Buffer.from(source)]])).bytes
}
