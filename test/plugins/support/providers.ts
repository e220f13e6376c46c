import type { Context, JsonObject, ServiceContracts } from '@dispatch/core/provider'
import type { Test } from 'tap'
import { directory, provide } from '../../fixtures/providers/folders.ts'
import { shippedProviders } from '../../support/service.ts'

export type Handler = (request: ServiceContracts['invoicing']['dispatch'], call: Context<JsonObject, JsonObject>) => Promise<unknown>

/** What a provider of a test says about itself, as source text. */
export type Facts = { settings?: string, requestSettings?: string, service?: string, errors?: string, version?: string }

/** Where the providers, which run in the test's own process, find their handlers. */
const shared = Symbol.for('handlers of test providers')
const handlers = new Map<string, Handler>()
Reflect.set(globalThis, shared, handlers)

const defaults = { settings: '{}', requestSettings: '{}', errors: '{ map: {} }', service: 'documentTypes: [\'INVOICE\'], idempotency: { kind: \'none\' }' }

/** The handler is taken when the provider is loaded: another version of it has its own. */
function source (code: string, facts: Facts): string {
  const { settings, requestSettings, errors, service } = { ...defaults, ...facts }
  return `
import { defineProvider, Host, Secret, Type } from '@dispatch/core/provider'
const dispatch = globalThis[Symbol.for('${String(shared.description)}')].get('${code}')
export default defineProvider({
  code: '${code}',
  name: 'Test ${code}',
  settings: Type.Object(${settings}),
  requestSettings: Type.Object(${requestSettings}),
  errors: ${errors},
  services: { invoicing: { ${service}, dispatch } }
})`
}

/** A directory of providers that tests drive: each one's dispatch is a function of the test. */
export type TestProviders = {
  /** For `config.providerDirectories`: the shipped ones are there too. */
  directories: string[]
  /** Writes the folder of a provider, or another version of it. */
  add: (code: string, facts: Facts, handler: Handler) => Promise<void>
}

export async function testProviders (t: Test): Promise<TestProviders> {
  const folder = await directory(t)
  return {
    directories: [shippedProviders, folder],
    async add (code, facts, handler) {
      handlers.set(code, handler)
      await provide(folder, code, { 'index.js': source(code, facts), 'package.json': { version: facts.version ?? '1.0.0' } })
    }
  }
}

/** A provider that accepts everything. */
export const accepts: Handler = (_request, { reference }) => Promise.resolve({ id: `accepted-${reference}`, status: 'created' })
