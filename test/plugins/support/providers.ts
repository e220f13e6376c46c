import type { Context, JsonObject, ServiceContracts } from '@dispatch/core/provider'
import type { ServiceName } from '@dispatch/services'
import { get } from 'node:http'
import type { Test } from 'tap'
import { directory, provide } from '../../fixtures/providers/folders.ts'
import { shippedProviders } from '../../support/service.ts'

export type Handler = (request: ServiceContracts['invoicing']['dispatch'], call: Context<JsonObject, JsonObject>) => Promise<unknown>

/** Any other verb. */
export type Verb = (request: any, call: Context<JsonObject, JsonObject>) => Promise<unknown>

/**
 * What a provider of a test says about itself, as source text. `of`: its one service, invoicing unless told; `more`: whatever else stands
 * beside its code.
 */
export type Facts = {
  of?: ServiceName
  settings?: string
  requestSettings?: string
  service?: string
  errors?: string
  version?: string
  more?: string
}

/** Where the providers, which run in the test's own process, find their handlers. */
const shared = Symbol.for('handlers of test providers')
const handlers = new Map<string, Record<string, Verb>>()
Reflect.set(globalThis, shared, handlers)

const defaults = {
  of: 'invoicing',
  settings: '{}',
  requestSettings: '{}',
  errors: '{ map: {} }',
  more: '',
  service: 'documentTypes: [\'INVOICE\'], idempotency: { kind: \'none\' }'
}

/** The verbs are taken when the provider is loaded: another version of it has its own. */
function source (code: string, facts: Facts): string {
  const { of, settings, requestSettings, errors, more, service } = { ...defaults, ...facts }
  return `
import { AllowedSenders, defineProvider, Host, Secret, Type } from '@dispatch/core/provider'
const verbs = globalThis[Symbol.for('${String(shared.description)}')].get('${code}')
export default defineProvider({
  code: '${code}',
  name: 'Test ${code}',
  settings: Type.Object(${settings}),
  requestSettings: Type.Object(${requestSettings}),
  hosts: ['api.vendor.example'],
  ${more}
  errors: ${errors},
  services: { ${of}: { ${service}, ...verbs } }
})`
}

/** A directory of providers that tests drive: each one's dispatch is a function of the test. */
export type TestProviders = {
  /** For `config.providerDirectories`: the shipped ones are there too. */
  directories: string[]
  /** Writes the folder of a provider, or another version of it. */
  add: (code: string, facts: Facts, dispatch: Handler, verbs?: Record<string, Verb>) => Promise<void>
}

export async function testProviders (t: Test): Promise<TestProviders> {
  const folder = await directory(t)
  return {
    directories: [shippedProviders, folder],
    async add (code, facts, dispatch, verbs = {}) {
      handlers.set(code, { dispatch, ...verbs })
      await provide(folder, code, { 'index.js': source(code, facts), 'package.json': { version: facts.version ?? '1.0.0' } })
    }
  }
}

/** Has a request leave this process, which reaches nobody: what a provider does afterwards it may have done at its vendor. */
export function asksNobody (): Promise<unknown> {
  return new Promise((resolve) => get({ host: '127.0.0.1', port: 1 }).on('error', resolve))
}

/** A provider that accepts everything. */
export const accepts: Handler = (_request, { reference }) => Promise.resolve({ id: `accepted-${reference}`, status: 'created' })
