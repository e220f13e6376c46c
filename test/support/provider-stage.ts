import { randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { Test } from 'tap'
import type { JsonObject } from '../../core/packages/common/json.ts'
import type { ReceivedRequest } from '../../core/packages/conformance/vendor/requests.ts'
import type { Vendor } from '../../core/packages/conformance/vendor/vendor.ts'
import type { CallResources } from '../../core/packages/host/call/call-resources.ts'
import { type CallContext, callDispatch, type Outcome } from '../../core/packages/host/call/dispatch.ts'
import { type FailedCall, invoke, type Returned } from '../../core/packages/host/call/invoke.ts'
import { type InstalledProvider, loadProvider } from '../../core/packages/host/load/load.ts'
import type { VerbName } from '../../core/packages/host/manifest/verbs.ts'
import type { ServiceContracts, ServiceName } from '../../core/packages/services/names.ts'
import { createDocumentSpool } from '../../core/packages/vendor-io/documents/document-spool.ts'
import { callContext, outside } from '../fixtures/providers/call.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { absent, vendorApi } from './vendor-api.ts'
import { vendorOf } from './vendor.ts'

/** What a call of a stage differs in. `checkpointed`: what an earlier attempt saved. */
export type More = Partial<Omit<CallContext, 'resources'>> & { checkpointed?: string }

/** One provider of `providers/` before a vendor of its own. */
export type Stage = {
  provider: InstalledProvider
  vendor: Vendor
  /** What the calls saved, in order. */
  checkpoints: string[]
  dispatch: <Name extends ServiceName>(service: Name, request: ServiceContracts[Name]['dispatch'], more?: More) => Promise<Outcome>
  /** Any other verb: what it returned, or how it failed. */
  ask: (service: ServiceName, verb: VerbName, query: JsonObject, more?: More) => Promise<unknown>
}

/** The bytes of every document on a stage. */
export const content = Buffer.from('%PDF-1.7 one page')

/** Everything that the providers of this test file sent, by vendor. */
const sent = new Map<string, ReceivedRequest[]>()

/** Sets up a stage; `settings` are those of every call. */
export async function stageOf (t: Test, code: string, settings: JsonObject): Promise<Stage> {
  const folder = await realpath(new URL(`../../providers/${code}`, import.meta.url).pathname)
  const provider = await loadProvider(folder, 'as it is', 10)
  const { vendor, network } = await vendorOf(t)
  const spool = createDocumentSpool({ folder: await directory(t), newId: randomUUID, limit: 1024 * 1024 })
  const checkpoints: string[] = []
  t.teardown(() => sent.set(code, [...sent.get(code) ?? [], ...vendor.requests]))

  const contextOf = ({ checkpointed, ...more }: More): CallContext => {
    const save = (id: string): Promise<void> => {
      checkpoints.push(id)
      return Promise.resolve()
    }
    const checkpoint: CallResources['checkpoint'] = { save, ...(checkpointed !== undefined && { id: checkpointed }) }
    const documents = { read: () => Promise.resolve(Readable.from([content])), keep: spool.keep }
    return callContext({ settings, ...more, resources: outside({ network, documents, checkpoint }) })
  }
  return {
    provider,
    vendor,
    checkpoints,
    dispatch: (service, request, more = {}) => callDispatch(provider, service, request, contextOf(more)),
    async ask (service, verb, query, more = {}) {
      const called: Returned | FailedCall = await invoke(provider, service, verb, query, contextOf(more))
      return 'outcome' in called ? called : called.returned
    }
  }
}

/**
 * Holds all that was sent on the stages of this file against the vendor's own description. To be called last. `hosts` serve
 * the API too; addresses of `links` were read in the vendor's answers and are no part of it.
 */
export async function describesAll (
  t: Test,
  code: string,
  { hosts = [], links = [] }: { hosts?: readonly string[], links?: readonly string[] } = {}
): Promise<void> {
  const api = await vendorApi(code, hosts)
  await t.test('every request fits the vendor\'s own description', { skip: api === undefined && absent }, (t) => {
    const requests = (sent.get(code) ?? []).filter(({ host }) => !links.includes(host))
    t.ok(requests.length > 0)
    for (const request of requests) t.same(api?.problems(request), [], `${request.method} ${request.path}`)
    t.end()
  })
}
