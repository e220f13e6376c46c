import type { Accounts, MailedSecrets } from '@dispatch/accounts'
import type { JsonObject, Keyring, Log } from '@dispatch/common'
import type { CallbackType } from '@dispatch/contract'
import type { Database, OwnerQueries } from '@dispatch/database'
import type { Renderer, TemplateWorkers } from '@dispatch/documents'
import type { FileStore } from '@dispatch/files'
import type { Breakers, Host } from '@dispatch/host'
import type { PreparedJobs } from '@dispatch/tables'
import type { DocumentSpool, EndedCall, Network } from '@dispatch/vendor-io'
import type { Connections } from '../configuration/connections.ts'
import type { Directories } from '../configuration/directories.ts'
import type { Configurations } from '../store/configuration/configurations.ts'
import type { DispatchRef, StepRef } from '../store/dispatch/runs.ts'
import type { SayingLook } from '../store/vendor/sayings.ts'
import type { ApprovalDesk } from './approval-desk.ts'
import type { FileShelf } from './file-shelf.ts'
import type { RecipientBook } from './recipients.ts'
import type { DocumentUrl } from './respond/result.ts'
import type { Leases } from './run/leases.ts'
import type { OutcomeSpool } from './run/outcome-spool.ts'
import type { Templates } from './templates.ts'

/** The jobs of what goes on later: at once, not before so many seconds have passed, or at a time. */
export type PipelineJobs = {
  dispatch: (dispatch: DispatchRef, seconds?: number) => PreparedJobs
  /** Of a dispatch that is due at a time (ISO 8601), to which it may have been moved; `inBatch`: as {@link batched} then. */
  scheduled: (dispatch: DispatchRef, dueAt: string, inBatch?: boolean) => PreparedJobs
  /** Of a dispatch of a batch: whatever is asked for singly within the next minute goes before it. */
  batched: (dispatch: DispatchRef) => PreparedJobs
  deferred: (dispatch: DispatchRef, step: Pick<StepRef, 'stepId'>, seconds?: number) => PreparedJobs
  saying: (look: SayingLook, seconds: number) => PreparedJobs
}

/** Tells companies, by callbacks, what becomes of their dispatches. */
export type Outbox = {
  /** To be called in the transaction that records the event; nothing happens where nobody is to be told. */
  enqueue: (queries: OwnerQueries, dispatch: DispatchRef, type: CallbackType) => Promise<void>
  /** The same for an event that is about the company and no single dispatch; `url`: who is told besides its endpoints. */
  tell: (queries: OwnerQueries, companyId: number, event: { type: CallbackType, data: JsonObject, url?: string }) => Promise<void>
}

/** What the pipeline works with. */
export type PipelineDependencies = {
  database: Database
  configurations: Configurations
  connections: Pick<Connections, 'signIn'>
  templates: Templates
  files: FileStore
  host: Host
  breakers: Breakers
  network: Network
  spool: DocumentSpool
  /** The folder on the operator's disk that providers may write to. */
  diskRoot?: string
  renderer: Renderer
  templateWorkers: TemplateWorkers
  documentUrl: DocumentUrl
  /** The start of the URLs that vendors know. */
  publicUrl: string
  mailedSecrets: MailedSecrets
  leases: Leases
  outcomes: OutcomeSpool
  /** Where calls of providers are noted. */
  exchanges?: { add: (call: EndedCall) => void }
  jobs: PipelineJobs
  /** What is known of those to whom companies send. */
  recipients: readonly RecipientBook[]
  /** Who receives e-invoices, as directories know it. */
  directories: Pick<Directories, 'unknownIn'>
  /** What companies want two people for. */
  approvals: readonly ApprovalDesk[]
  /** The files that companies have uploaded for their dispatches. */
  shelves: readonly FileShelf[]
  accounts: Accounts
  outbox: Outbox
  keyring: Keyring
  log: Log
  now: () => Date
  /** A UUIDv7. */
  newId: () => string
}
