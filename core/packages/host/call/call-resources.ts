import type { JsonObject, Log } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import { type CompanyDisk, type Connection, createDocuments, createFiles, createHttp, createSmtp, type HttpOptions, type KeepDocument,
  type Network, type Notebook, type OwnDocuments, type ReadDocument, type Redactor } from '@dispatch/vendor-io'
import { type CallProgress, failureError, type LeaseCheck } from '@dispatch/vendor-io/outcome'
import { runAsHost } from '../contain/stray-errors.ts'
import { allowedHosts } from '../manifest/allowed-hosts.ts'
import type { Context } from '../manifest/context.ts'
import { provesRefusal } from '../manifest/errors.ts'
import type { Manifest } from '../manifest/manifest.ts'

/**
 * What the caller of a verb provides. `account` names the configuration: access tokens and connections are kept for this configuration
 * only. `checkpoint.id` is what an earlier attempt saved. Without a `disk`, the provider has no disk to write to. `holds` is called just
 * before each write to the network or the disk; when the caller no longer holds the lease of the dispatch, nothing is written.
 * `connection` signs in where the manifest has `connect`.
 */
export type CallResources = {
  network: Network
  account: string
  connection?: Connection
  documents: { read: ReadDocument, keep: KeepDocument }
  checkpoint: { id?: string, save: (id: string) => Promise<void> }
  disk?: CompanyDisk
  holds?: LeaseCheck
}

/** One call of a verb, or of the provider's check without a service. `own` are its documents; `limit` is in milliseconds. */
export type VerbCall = {
  manifest: Manifest
  service: ServiceName | undefined
  settings: JsonObject
  resources: CallResources
  own: OwnDocuments
  progress: CallProgress
  ended: AbortSignal
  limit: number
  log: Log
  notebook?: Notebook
  redact: Pick<Redactor, 'text' | 'json' | 'conceal'>
  now: () => Date
}

/** The functions of one call that reach the network and the disk. */
export type CallApis = Pick<Context<JsonObject, JsonObject>, 'http' | 'smtp' | 'documents' | 'files' | 'checkpoint' | 'checkpointed'>

/** Makes the functions of one call. They end with it. */
export function createCallApis (call: VerbCall): CallApis {
  const { manifest, settings, resources } = call
  const { holds = () => true } = resources
  const { network: { transport: wire, accessTokens: tokens, mailers }, checkpoint: { id } } = resources
  const targets = allowedHosts(manifest, { ...resources.connection?.facts, ...settings })
  const { notProcessed = [], idempotency } = offered(call) ?? {}
  const { documents, read } = createDocuments({ ...call, ...resources })
  const options: HttpOptions = {
    ...call,
    ...resources,
    documents: { ...resources.documents, read },
    holds,
    transport: wire,
    accessTokens: tokens,
    targets,
    errors: manifest.errors,
    provesRefusal: (status, body) => provesRefusal(manifest.errors.refusals ?? [], status, body),
    notProcessed,
    keyed: idempotency?.kind === 'key'
  }
  return {
    http: createHttp(options),
    smtp: createSmtp({ ...options, mailers, conceal: call.redact.conceal }),
    documents,
    files: createFiles({ ...call, ...resources, documents: options.documents, holds, provider: manifest.code }),
    checkpoint: checkpointOf(call),
    ...(id !== undefined && { checkpointed: id })
  }
}

function offered ({ manifest: { services }, service }: VerbCall): Manifest['services'][ServiceName] {
  return service === undefined ? undefined : services[service]
}

const longestCheckpoint = 500

function checkpointOf (call: VerbCall): (id: string) => Promise<void> {
  const { manifest: { code }, service, resources: { checkpoint }, progress, ended } = call
  return async (id) => {
    if (offered(call)?.checkpoint !== true) {
      throw new TypeError(`The provider "${code}" reached a checkpoint, but its service "${service ?? ''}" declares none.`)
    }
    if (typeof id !== 'string' || id === '' || id.length > longestCheckpoint) {
      throw new TypeError(`A checkpoint must be a text of 1 to ${longestCheckpoint} characters: the vendor's id of the draft.`)
    }
    if (ended.aborted) {
      throw failureError({ word: 'provider_unavailable', message: 'The call ended before its checkpoint.', ours: true })
    }
    await runAsHost(() => checkpoint.save(id)).catch((cause: unknown) => {
      throw failureError({ word: 'provider_unavailable', message: 'The checkpoint could not be recorded.', ours: true }, cause)
    })
    progress.passCheckpoint()
  }
}
