import { at, type EventReading, type Json, type Static, textOf, Type } from '@dispatch/core/provider'

type Status = 'started' | 'viewed' | 'signed' | 'completed' | 'declined' | 'expired' | 'cancelled'

/** The statuses of sent envelopes, as delivery statuses. */
export const statuses: Readonly<Record<string, Status>> = {
  sent: 'started',
  delivered: 'viewed',
  signed: 'signed',
  completed: 'completed',
  declined: 'declined',
  voided: 'cancelled',
  'voided.expired': 'expired'
}

export const events: Readonly<Record<string, Status>> = {
  'envelope-sent': 'started',
  'recipient-delivered': 'viewed',
  'envelope-delivered': 'viewed',
  'recipient-completed': 'signed',
  'envelope-completed': 'completed',
  'recipient-declined': 'declined',
  'envelope-declined': 'declined',
  'envelope-voided': 'cancelled',
  'envelope-voided.expired': 'expired'
}

const anything = Type.Unsafe<Json>({})

/** An envelope, with what may say why it is in its status. */
export const Reasoned = Type.Object({
  status: Type.String(),
  voidedReason: Type.Optional(anything),
  recipients: Type.Optional(anything)
})

/** `recipientId`: the signer whom it is about. `envelopeSummary` is there if the configuration of Connect includes data. */
export const Event = Type.Object({
  event: Type.String(),
  generatedDateTime: Type.String(),
  data: Type.Object({
    envelopeId: Type.String(),
    recipientId: Type.Optional(Type.String()),
    envelopeSummary: Type.Optional(anything)
  })
})

/** Events have no id, and their `retryCount` changes when one is sent again. */
export function read ({ event, generatedDateTime: time, data: { envelopeId: remoteId, recipientId = '', envelopeSummary: summary = null } }:
  Static<typeof Event>): EventReading
{
  const participant = signersOf(summary).filter((signer) => textOf(signer, '/recipientId') === recipientId)
    .map((signer) => textOf(signer, '/email'))[0]
  return {
    remoteId,
    type: wordOf(event, summary),
    eventId: [event, remoteId, recipientId, time].join(' '),
    ...(participant !== undefined && { participant }),
    ...(ends.includes(event) && reasonOf(summary, recipientId))
  }
}

const ends: readonly string[] = ['recipient-declined', 'envelope-declined', 'envelope-voided']

/**
 * The word of an envelope or an event. An envelope that expires is voided, with this reason:
 * https://support.docusign.com/en/articles/How-can-I-differentiate-between-Expired-and-Voided-envelopes.
 */
export function wordOf (word: string, envelope: Json): string {
  return word.endsWith('voided') && textOf(envelope, '/voidedReason')?.startsWith('Envelope has expired') === true
    ? `${word}.expired`
    : word
}

/** Why an envelope was voided, or why signers have declined: all of them, or the one with the id. */
export function reasonOf (envelope: Json, recipientId = ''): { reason?: string } {
  const declined = signersOf(envelope).filter((signer) => recipientId === '' || textOf(signer, '/recipientId') === recipientId)
    .map((signer) => textOf(signer, '/declinedReason'))
  const reason = [textOf(envelope, '/voidedReason'), ...declined].filter((text) => text !== undefined && text !== '').join('; ')
  return reason === '' ? {} : { reason }
}

function signersOf (envelope: Json): readonly Json[] {
  const signers = at(envelope, '/recipients/signers')
  return Array.isArray(signers) ? signers as readonly Json[] : []
}
