import { type EventReading, type Static, Type } from '@dispatch/core/provider'
import type { Transaction } from './api.ts'

type Status = 'started' | 'signed' | 'completed' | 'declined' | 'expired' | 'cancelled'

/** The reasons of a stalled action that are refusals: https://apps.universign.com/docs/developer_tools/webhooks/. */
const refusals = ['action_refusal', 'signature_refusal', 'consultation_refusal', 'review_refusal'] as const

/** The transaction itself, or an action of one participant. Other events have another kind of object. */
const Subject = Type.Union([
  Type.Object({ id: Type.String({ pattern: '^tx_' }) }),
  Type.Object({
    transaction_id: Type.String({ pattern: '^tx_' }),
    participant_email: Type.Optional(Type.String()),
    stalled_reason: Type.Optional(Type.Union([Type.String(), Type.Null()]))
  })
])

export const Event = Type.Object({ id: Type.String(), type: Type.String(), payload: Type.Object({ object: Subject }) })

/** The word of a waiting action, followed by its reason: only a refusal has a status of its own. */
export function read ({ id: eventId, type, payload: { object } }: Static<typeof Event>): EventReading {
  if (!('transaction_id' in object)) return { eventId, remoteId: object.id, type }
  const { transaction_id: remoteId, participant_email: participant, stalled_reason: reason } = object
  return {
    eventId,
    remoteId,
    type: typeof reason === 'string' ? `${type}.${reason}` : type,
    ...(participant !== undefined && { participant })
  }
}

export const events: Readonly<Record<string, Status>> = {
  'transaction.lifecycle.started': 'started',
  'transaction.lifecycle.completed': 'completed',
  'transaction.lifecycle.expired': 'expired',
  'transaction.lifecycle.cancelled': 'cancelled',
  'action.closed': 'signed',
  ...Object.fromEntries(refusals.map((reason) => [`action.stalled.${reason}`, 'declined' as const]))
}

/** The words of a polled transaction. */
export const statuses: Readonly<Record<string, Status>> = {
  started: 'started',
  completed: 'completed',
  archived: 'completed',
  cancelled: 'cancelled',
  expired: 'expired',
  ...Object.fromEntries(refusals.map((reason) => [reason, 'declined' as const]))
}

/** The state of a transaction. Neither a refusal nor waiting changes it. */
export function wordOf ({ state, stalled_reason: reason }: Transaction): string {
  return state === 'started' && typeof reason === 'string' && Object.hasOwn(statuses, reason) ? reason : state
}
