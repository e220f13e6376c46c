import type { Keyring } from '@dispatch/common'
import type { DeliveryService } from '@dispatch/contract'
import { type CallContext, callReceived, callReceivedFile, callSay, canSay, failedCall, type Host, type InstalledProvider, lookUpSaid,
  offeredTo, type QueryResult, type Said, type SaidKnown, type SayResult } from '@dispatch/host'
import { type ServiceName, serviceNames } from '@dispatch/services'
import type { Readable } from 'node:stream'
import type { Configurations } from '../store/configuration/configurations.ts'
import { chooseProvider } from './choose.ts'
import { ownCallContext, type OwnCalls } from './own-call.ts'
import type { Serving } from './serving.ts'
import { createConfigurationCheck, openConfiguration } from './vault.ts'

/** A provider by which a company can receive e-invoices. `problem`: why it cannot now; `says`: whether their senders can be answered. */
export type ReceptionSource = { provider: string, name: string, sandbox: boolean, says: boolean, problem?: string }

/** From whom something has come. `sandbox`: through the test environment. */
export type ReceivedFrom = { companyId: number, provider: string, sandbox: boolean }

/** A stored file, and how it is removed again. */
export type KeptFile = {
  document: { documentId: string, filename: string, contentType: string, size: number, sha256: string, storageKey: string }
  discard: () => Promise<void>
}

/** Stores a file of a company. */
type Keep = (
  companyId: number,
  file: { bytes: Readable, filename: string, contentType: string, folder: 'received' }
) => Promise<KeptFile>

/** What a vendor has received: the ids of the files, where the next question goes on, and whether there is more already. */
export type Listed = { received: readonly { id: string, at?: Date }[], cursor: string, more: boolean, sandbox: boolean }

/**
 * The e-invoices that come to a company through its providers, by the company's own configurations. Nothing is remembered here: who asks
 * keeps what was found.
 */
export type Reception = {
  sources: (companyId: number) => Promise<ReceptionSource[]>
  list: (of: { companyId: number, provider: string }, query: { since: Date, cursor?: string }) => Promise<QueryResult<Listed>>
  /** Fetches a file and stores it in a folder of the storage; whoever does not record it discards it. */
  fetch: (from: ReceivedFrom, id: string, folder: 'received') => Promise<QueryResult<KeptFile>>
  /** Says something of what has come. `statusId`: our reference of what is said, by which the vendor finds it. */
  say: (from: ReceivedFrom, statusId: string, said: Said) => Promise<SayResult>
  /** What became of something that was said so many seconds ago. */
  lookUp: (from: ReceivedFrom, said: { statusId: string, since: number }) => Promise<SaidKnown>
}

type Options = OwnCalls & { configurations: Pick<Configurations, 'latest'>, host: Host, keyring: Keyring, receive: Keep }

/** The configuration by which a vendor is asked, or why it cannot be. */
type Reached = { ok: true, service: ServiceName, serving: Serving } | { ok: false, why: string, passes: true }

/** Asks providers what companies have received, and tells vendors what companies answer to it. */
export function createReception (options: Options): Reception {
  const { configurations, host, keyring, log, receive } = options
  const problemsOf = createConfigurationCheck(keyring, log)

  async function reach ({ companyId, provider: code, sandbox }: { companyId: number, provider: string, sandbox?: boolean }): Promise<
    Reached
  > {
    const company = await configurations.latest(companyId)
    const chooser = { host: offeredTo(host, companyId), company, problemsOf: problemsOf.bind(undefined, companyId) }
    const service = serviceOf(chooser.host.find(code))
    if (service === undefined) return unreached(`By the provider "${code}" no e-invoices are received any more.`)
    // Nobody is the user 0: the configurations of users are not the company's.
    const choice = chooseProvider(chooser, { userId: 0 }, service, code)
    if (!choice.chosen) return unreached(choice.problem.message)
    if (sandbox !== undefined && choice.configuration.sandbox !== sandbox) {
      return unreached(`It came through ${sandbox ? 'the test environment' : 'production'} of "${code}", which is not set up now.`)
    }
    return { ok: true, service, serving: choice }
  }

  function contextOf (
    { companyId, serving: { provider, configuration } }: { companyId: number, serving: Serving },
    about = {}
  ): CallContext {
    const settings = openConfiguration(keyring, companyId, configuration)
    return ownCallContext(options, { companyId, provider, configuration, settings }, about)
  }

  return {
    async sources (companyId) {
      const offered = offeredTo(host, companyId)
      const { configurations: stored } = await configurations.latest(companyId)
      const sources = offered.entries().flatMap((entry) => {
        if (entry.state !== 'installed') return []
        const configured = stored.find(({ providerCode, userId }) => providerCode === entry.code && userId === null)
        const provider = offered.find(entry.code)
        const service = serviceOf(provider)
        if (configured === undefined || provider === undefined || service === undefined) return []
        return [{ provider: entry.code, name: provider.manifest.name, sandbox: configured.sandbox, says: canSay(provider, service) }]
      })
      return Promise.all(sources.map(async (source) => {
        const reached = await reach({ companyId, provider: source.provider })
        return reached.ok ? source : { ...source, problem: reached.why }
      }))
    },

    async list (of, { since, cursor }) {
      const reached = await reach(of)
      if (!reached.ok) return reached
      const { service, serving } = reached
      const query = { since: since.toISOString(), ...(cursor !== undefined && { cursor }) }
      const listed = await callReceived(serving.provider, service, query, contextOf({ ...of, serving }))
      if (!listed.ok) return listed
      const { received, ...place } = listed.value
      return {
        ok: true,
        value: {
          ...place,
          received: received.map(({ id, at }) => ({ id, ...momentOf(at) })),
          sandbox: serving.configuration.sandbox
        }
      }
    },

    async fetch (from, id, folder) {
      const reached = await reach(from)
      if (!reached.ok) return reached
      const { service, serving } = reached
      const kept: KeptFile[] = []
      const context = contextOf({ ...from, serving }, {
        keep: async (bytes: Readable, about: { filename: string, contentType: string }) => {
          const file = await receive(from.companyId, { bytes, ...about, folder })
          kept.push(file)
          const { documentId, filename, contentType, size, sha256 } = file.document
          return { id: documentId, filename, contentType, size, sha256 }
        }
      })
      const fetched = await callReceivedFile(serving.provider, service, { id }, context)
      const file = fetched.ok ? kept.find(({ document }) => document.documentId === fetched.value.id) : undefined
      for (const other of kept) if (other !== file) await other.discard()
      if (!fetched.ok) return fetched
      return file === undefined
        ? { ok: false, why: `What "${from.provider}" handed out is no file of this call.` }
        : { ok: true, value: file }
    },

    async say (from, statusId, said) {
      const reached = await reach(from)
      if (!reached.ok) return failedCall('provider_unavailable', `${reached.why} Nothing was sent.`, { ours: true })
      const { service, serving } = reached
      if (!canSay(serving.provider, service)) {
        return failedCall('provider_error', `By the provider "${from.provider}" nothing can be said of what was received.`, { ours: true })
      }
      return callSay(serving.provider, service, said, contextOf({ ...from, serving }, { reference: statusId }))
    },

    async lookUp (from, said) {
      const reached = await reach(from)
      if (!reached.ok) return { is: 'unknown', message: reached.why }
      const { service, serving } = reached
      return lookUpSaid(serving.provider, service as DeliveryService, said, contextOf({ ...from, serving }, { reference: said.statusId }))
    }
  }
}

function unreached (why: string): Reached {
  return { ok: false, why, passes: true }
}

/** The service by which e-invoices come to a vendor's customers. */
function serviceOf (provider: InstalledProvider | undefined): ServiceName | undefined {
  return serviceNames.find((name) => provider?.manifest.services[name]?.verbs.includes('received') === true)
}

/** A time that there is not, such as a thirteenth month, says nothing. */
function momentOf (at = ''): { at?: Date } {
  const moment = new Date(at)
  return Number.isNaN(moment.getTime()) ? {} : { at: moment }
}
