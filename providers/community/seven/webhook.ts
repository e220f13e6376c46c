import { type Static, Type } from '@dispatch/core/provider'

/** What becomes of a message, or what somebody has written to a number of the account. */
const Event = Type.Union([
  Type.Object({
    webhook_event: Type.Literal('dlr'),
    data: Type.Object({ msg_id: Type.String({ minLength: 1 }), status: Type.String({ minLength: 1 }), timestamp: Type.String() })
  }),
  Type.Object({
    webhook_event: Type.Literal('sms_mo'),
    data: Type.Object({ id: Type.String({ minLength: 1 }), sender: Type.String(), text: Type.String() })
  })
])

/** Each the whole text of an answer. */
const replies = { STOP: 'stop', START: 'start' } as const

export const statuses = {
  ACCEPTED: 'queued',
  BUFFERED: 'queued',
  TRANSMITTED: 'sent',
  DELIVERED: 'delivered',
  NOTDELIVERED: 'failed',
  EXPIRED: 'failed',
  REJECTED: 'failed',
  FAILED: 'failed'
} as const

export const webhook = {
  verify: {
    kind: 'signature',
    signed: [
      'time',
      { text: '\n' },
      { header: 'X-Nonce' },
      { text: '\n' },
      'method',
      { text: '\n' },
      'address',
      { text: '\n' },
      { hash: 'md5', of: ['body'] }
    ],
    at: { header: 'X-Signature' },
    algorithm: 'hmac-sha256',
    encoding: 'hex',
    key: { secret: 'signingKey' },
    time: { at: { header: 'X-Timestamp' } }
  },
  body: Event,
  read: eventOf,
  events: statuses,
  replies
} as const

function eventOf (event: Static<typeof Event>) {
  if (event.webhook_event === 'dlr') {
    const { msg_id: remoteId, status: type, timestamp } = event.data
    return { remoteId, type, eventId: `${remoteId} ${type} ${timestamp}` }
  }
  const { id: remoteId, sender, text } = event.data
  const written = text.trim().toUpperCase()
  // It writes numbers without their +.
  return {
    remoteId,
    eventId: remoteId,
    type: Object.hasOwn(replies, written) ? written : 'received',
    recipient: sender.replace(/^(?=\d)/, '+')
  }
}
