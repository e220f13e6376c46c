import { type DocumentHandle, type Received, Type } from '@dispatch/core/provider'
import { ask } from './api.ts'
import { earlier } from './lifecycle.ts'
import type { Call } from './settings.ts'

/** A flow as a search has it. What the platform itself has turned away is nothing that its customer has received. */
const Incoming = Type.Object({
  flowId: Type.String({ minLength: 1 }),
  updatedAt: Type.String({ minLength: 1 }),
  submittedAt: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  acknowledgement: Type.Optional(Type.Union([Type.Null(), Type.Object({ status: Type.String() })]))
})
const Page = Type.Object({ results: Type.Array(Incoming) })

/** The most flows of an answer. */
const max = 100

/** Seconds of what was listed before that are listed again: the platform's clock may be behind, and flows may be found late. */
const overlap = 3600

/**
 * Invoices of suppliers, by the time of their last change. A search has no other place to go on from, and leaves out what changed at that
 * very moment: a full answer goes on from the moment before its last one.
 */
export async function listReceived (
  { since, cursor }: { since: string, cursor?: string },
  call: Call
): Promise<{ received: Received[], cursor: string, more: boolean }> {
  const updatedAfter = cursor ?? since
  const json = { limit: max, where: { flowType: ['SupplierInvoice'], updatedAfter } }
  const { results } = await call.http.post(...ask(call, 'flows/search', { json }), Page)
  const flows = results.toSorted((one, other) => one.updatedAt < other.updatedAt ? -1 : 1)
  const more = flows.length >= max
  return {
    received: flows.filter(({ acknowledgement }) => acknowledgement?.status !== 'Error').map(receivedOf),
    cursor: more ? placeIn(flows.map(({ updatedAt }) => updatedAt)) : later(since, earlier(call.now(), overlap)),
    more
  }
}

export async function receivedFile (id: string, call: Call): Promise<DocumentHandle> {
  const [url, asked] = ask(call, `flows/${encodeURIComponent(id)}`, { query: { docType: 'Original' } })
  return call.http.download(url, { ...asked, filename: id })
}

function receivedOf ({ flowId: id, submittedAt }: { flowId: string, submittedAt?: string | null }): Received {
  return { id, ...(typeof submittedAt === 'string' && { at: submittedAt }) }
}

/** Before the last moment of a full answer; of that moment itself where it has no other. */
function placeIn (moments: readonly string[]): string {
  const last = moments.at(-1) ?? ''
  return moments.findLast((moment) => moment < last) ?? last
}

/** Both as `toISOString` writes them. */
function later (one: string, other: string): string {
  return one > other ? one : other
}
