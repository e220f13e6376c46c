import { type Static, Type } from '@dispatch/core/provider'

/** https://www.twilio.com/docs/messaging/guides/track-outbound-message-status */
export const Event = Type.Object({ MessageSid: Type.String(), MessageStatus: Type.String(), ErrorCode: Type.Optional(Type.String()) })

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

export function eventOf ({ MessageSid: remoteId, MessageStatus: type, ErrorCode: errorCode }: Static<typeof Event>) {
  return { remoteId, type, eventId: `${remoteId} ${type}`, ...(errorCode !== undefined && { errorCode }) }
}
