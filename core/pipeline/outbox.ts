import type { JsonObject } from '@dispatch/common'
import type { CallbackType } from '@dispatch/contract'
import type { OwnerQueries } from '@dispatch/database'
import type { DispatchRef } from '../store/dispatch/runs.ts'

/** Tells companies, by callbacks, what becomes of their dispatches. */
export type Outbox = {
  /** To be called in the transaction that records the event; nothing happens where nobody is to be told. */
  enqueue: (queries: OwnerQueries, dispatch: DispatchRef, type: CallbackType) => Promise<void>
  /** The same for an event that is about the company and no single dispatch; `url`: who is told besides its endpoints. */
  tell: (queries: OwnerQueries, companyId: number, event: { type: CallbackType, data: JsonObject, url?: string }) => Promise<void>
}
