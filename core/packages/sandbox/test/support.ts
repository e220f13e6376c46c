import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Test } from 'tap'
import { callContext, invoice, memoryLog, outside } from '../../../../test/fixtures/providers/call.ts'
import { directory, provide } from '../../../../test/fixtures/providers/folders.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import type { Vendor } from '../../conformance/vendor/vendor.ts'
import { type CallContext, callDispatch, type CallLimits, type Outcome } from '../../host/call/dispatch.ts'
import type { InstalledProvider } from '../../host/load/load.ts'
import { createDocumentSpool } from '../../vendor-io/documents/document-spool.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../provider.ts'

/** An adapter in a process of its own, before a vendor. */
export type Outpost = {
  sandbox: Sandbox
  provider: InstalledProvider
  vendor: Vendor
  log: ReturnType<typeof memoryLog>
  dispatch: (more?: Partial<CallContext> & { account?: string, checkpointed?: string }, limits?: CallLimits) => Promise<Outcome>
}

/** The source of an adapter: what its dispatch does, what stands above it, what its service declares besides, its settings. */
export type Source = { dispatch: string, head?: string, service?: string, settings?: string }

/** The bytes of the document of every call. */
export const content = Buffer.from('x')

/** Milliseconds in which a process starts, and an adapter is loaded, on the busiest machine. */
const startWithin = 300_000

/** Where requests of these adapters go. */
export const api = 'https://api.acme.test'

export async function outpost (
  t: Test,
  { dispatch, head = '', service = '', settings = 'token: Type.Optional(Secret())' }: Source,
  options: Partial<SandboxOptions> = {}
): Promise<Outpost> {
  const root = await directory(t)
  const log = memoryLog()
  const sandbox = await createSandbox({ cache: `${root}/cache`, log, startLimit: startWithin, ...options })
  t.teardown(() => sandbox.close())
  const folder = await provide(root, 'acme', { 'index.js': sourceOf({ dispatch, head, service, settings }) })
  const provider = await sandbox.load(folder, 'digest', startWithin / 1000)
  const { vendor, network } = await vendorOf(t)
  const spool = createDocumentSpool({ folder: root, newId: randomUUID, limit: 1024 * 1024 })
  return {
    sandbox,
    provider,
    vendor,
    log,
    dispatch: ({ account = 'company 1', checkpointed, ...more } = {}, limits) => {
      const documents = { read: () => Promise.resolve(Readable.from([content])), keep: spool.keep }
      const checkpoint = { save: () => Promise.resolve(), ...(checkpointed !== undefined && { id: checkpointed }) }
      const resources = outside({ network, account, documents, checkpoint })
      return callDispatch(provider, 'invoicing', invoice(), callContext({ log, ...more, resources }), limits)
    }
  }
}

/** The functions of an adapter, by the reference of the call in which its dispatch calls each: one adapter for many tests. */
export function actsOf (codes: readonly (readonly [reference: string, code: string])[]): string {
  const acts = codes.map(([reference, code]) => `${JSON.stringify(reference)}: async (context, request) => { ${code} }`)
  return `const acts = { ${acts.join(',\n')} }`
}

function sourceOf ({ dispatch, head, service, settings }: Required<Source>): string {
  return `import { defineProvider, outcomeUnknown, refused, Secret, Type } from '@dispatch/core/provider'
${head}
export default defineProvider({
  code: 'acme',
  name: 'Acme',
  hosts: ['api.acme.test'],
  settings: Type.Object({ ${settings} }),
  services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, ${service} async dispatch (request, context) { ${dispatch} } } }
})
`
}
