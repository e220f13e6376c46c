import { type DocumentHandle, type EventReading, refused, type Reported, type Static, textOf, Type } from '@dispatch/core/provider'
import { recorded, referenceOf, sentDocument } from './outbox.ts'
import type { Call } from './settings.ts'

/** The statuses of signed, posted, texted and invoiced documents: the simulator's words are ours. */
export const signing = {
  started: 'started',
  viewed: 'viewed',
  signed: 'signed',
  completed: 'completed',
  declined: 'declined',
  expired: 'expired',
  failed: 'failed',
  cancelled: 'cancelled'
} as const
export const mailing = {
  accepted: 'accepted',
  printed: 'printed',
  mailed: 'mailed',
  in_transit: 'in_transit',
  delivered: 'delivered',
  returned: 'returned',
  failed: 'failed',
  cancelled: 'cancelled'
} as const

export const texting = { queued: 'queued', sent: 'sent', delivered: 'delivered', failed: 'failed' } as const
export const emailing = { delivered: 'delivered', bounced: 'bounced', failed: 'failed' } as const
/** What only events tell of an e-mail is no status. */
export const mailbox = {
  ...emailing,
  opened: 'opened',
  clicked: 'clicked',
  complained: 'complained'
} as const
export const paying = {
  received: 'received',
  made_available: 'made_available',
  taken_charge_of: 'taken_charge_of',
  open: 'open',
  suspended: 'suspended',
  disputed: 'disputed',
  partly_accepted: 'partly_accepted',
  accepted: 'accepted',
  rejected: 'rejected',
  uncollectible: 'uncollectible',
  partly_paid: 'partly_paid',
  paid: 'paid',
  void: 'void'
} as const
export const storing = { processing: 'processing', available: 'available', failed: 'failed', deleted: 'deleted' } as const

/**
 * The statuses in which a cancellation is possible: not everybody has signed, or the letter is not yet in the post. A second cancellation
 * changes nothing.
 */
const cancellable: readonly string[] = ['started', 'viewed', 'signed', 'accepted', 'printed', 'cancelled']

const text = Type.String({ minLength: 1, maxLength: 200 })

/**
 * One format for the events of signatures and letters: the id of the event, one of the words, and the id from the answer to the dispatch.
 */
export const Event = Type.Object({ id: text, type: text, transaction: text, reason: Type.Optional(Type.String()) })

export function read ({ id: eventId, type, transaction: remoteId, reason }: Static<typeof Event>): EventReading {
  return { eventId, remoteId, type, ...(reason !== undefined && { reason }) }
}

/** The key in the state of the last word that was sent, by the id from the answer. */
const keyOf = (id: string): string => `delivery:${id}`

/** The last status, from the last event or from the answer to the dispatch. */
export async function status ({ id }: { id: string }, call: Call): Promise<Reported> {
  const accepted = await recorded(referenceOf(id), call)
  if (accepted === undefined) throw refused('not_found', 'The simulator has accepted nothing under this id.')
  const reported = await call.state.get(keyOf(id)) ?? null
  const reason = textOf(reported, '/reason')
  return { status: textOf(reported, '') ?? textOf(reported, '/status') ?? accepted.status, ...(reason !== undefined && { reason }) }
}

/** Takes back an accepted dispatch. It sends no event. */
export async function cancel ({ id }: { id: string }, call: Call): Promise<Reported> {
  const before = await status({ id }, call)
  if (!cancellable.includes(before.status)) throw refused('too_late', `It cannot be cancelled any more: it is ${before.status}.`)
  await call.state.put(keyOf(id), 'cancelled')
  return { status: 'cancelled' }
}

/** Nobody really signs: after completion, the signed copy is the sent document. */
export async function signedCopy ({ id }: { id: string }, call: Call): Promise<DocumentHandle> {
  const { status: reached } = await status({ id }, call)
  if (reached !== 'completed') throw refused('not_completed', `Not everybody has signed: it is ${reached}.`)
  return await sentDocument(referenceOf(id), call)
}
