import type { Actor } from '@dispatch/accounts'
import type { Mode, ServicePath, Version } from '@dispatch/contract'
import type { NewDocument } from '../store/calls/document-row.ts'

/**
 * A request for one or more services, as it came in. The client waits unless the mode says otherwise. `sandbox`: the vendors do it in their
 * test environments. `strict`: what would only be warned of is refused. `version`: of the API, the usual one unless given.
 * `traceparent`: of the request's trace (W3C Trace Context), where it is traced. `batchId`: of which batch it is a row; it lets go
 * first whatever is asked for by itself. `approval`: the one that it has, with the ids of the rules by which it was
 * asked for, or the batch whose approval counts, with its rows, its price and when all rows were checked: null while some are not.
 * `seen`: what its sender was shown (`Review`); where another dispatch would come of it, it is refused.
 * `asOf`: the time of the database, seconds ago at most, where one asks once for many commands.
 */
export type DispatchCommand = {
  actor: Actor
  services: ServicePath
  body: unknown
  requestId: string
  mode?: Mode
  sandbox?: true
  strict?: true
  version?: Version
  traceparent?: string
  idempotencyKey?: string
  batchId?: string
  approval?: { approvalId: string, rules: readonly string[] } | { batchId: string, rows: number, credits: number, checkedAt: Date | null }
  seen?: string
  asOf?: Date
  /** The id that the dispatch gets, where the service itself asks for it; any new one unless given. */
  dispatchId?: string
  /** Who has prepared it, where the service itself asks for it: where a rule wants a second person, somebody else has to send it. */
  preparedBy?: number
  file?: ReceivedFile
}

/** A file that came with a request and is stored. `discard` removes it when the request was not recorded. */
export type ReceivedFile = { document: NewDocument, discard: () => Promise<void> }
