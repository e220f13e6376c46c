import { type Static, Type } from '@dispatch/core/provider'

/**
 * A status (https://www.twilio.com/docs/messaging/guides/track-outbound-message-status), or what somebody has written
 * (https://www.twilio.com/docs/messaging/guides/webhook-request), of which a messaging service says whether it is an opt-out.
 */
export const Event = Type.Object({
  MessageSid: Type.String(),
  MessageStatus: Type.Optional(Type.String()),
  ErrorCode: Type.Optional(Type.String()),
  From: Type.Optional(Type.String()),
  Body: Type.Optional(Type.String()),
  OptOutType: Type.Optional(Type.String())
})

/** https://www.twilio.com/docs/messaging/api/message-resource#message-status-values */
export const statuses = {
  accepted: 'queued',
  scheduled: 'queued',
  queued: 'queued',
  sending: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  read: 'delivered',
  failed: 'failed',
  undelivered: 'failed',
  canceled: 'failed'
} as const

/** By these words, each the whole text, recipients want no more, or again more: https://www.twilio.com/docs/messaging/tutorials/opt-out-keywords. */
const keywords: Readonly<Record<string, readonly string[]>> = {
  STOP: ['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'],
  START: ['START', 'YES', 'UNSTOP']
}

export const replies = { STOP: 'stop', START: 'start' } as const

export function eventOf ({ MessageSid: remoteId, MessageStatus: status, ErrorCode: errorCode, From: recipient, Body = '', OptOutType }:
  Static<typeof Event>)
{
  if (status !== undefined) {
    return { remoteId, type: status, eventId: `${remoteId} ${status}`, ...(errorCode !== undefined && { errorCode }) }
  }
  const written = Body.trim().toUpperCase()
  const type = OptOutType ?? Object.keys(keywords).find((word) => keywords[word]?.includes(written)) ?? 'received'
  return { remoteId, type, eventId: `${remoteId} ${type}`, ...(recipient !== undefined && { recipient }) }
}
