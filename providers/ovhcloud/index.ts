import { defineProvider, failureOf, refused, Type, unavailable } from '@dispatch/core/provider'
import { type Call, Settings } from './settings.ts'
import { ask } from './sign.ts'

const Ids = Type.Array(Type.Integer())
const Sent = Type.Object({ ids: Ids, invalidReceivers: Type.Optional(Type.Array(Type.String())) })
const Job = Type.Object({ tag: Type.Optional(Type.Union([Type.String(), Type.Null()])) })
const Message = Type.Object({ deliveryReceipt: Type.Integer(), ptt: Type.Optional(Type.Union([Type.Integer(), Type.Null()])) })

/** So many waiting messages are read to find one: the list of them has no filter. */
const maxJobs = 40

const waiting = 'waiting'
const failed = [2, 16]
const [minute, hour] = [60, 3600]

export default defineProvider({
  code: 'ovhcloud',
  name: 'OVHcloud SMS',
  docs: 'https://eu.api.ovh.com/console/?section=%2Fsms&branch=v1',
  hosts: ['eu.api.ovh.com', 'ca.api.ovh.com'],
  settings: Settings,
  errors: {
    at: ['/errorCode', '/class'],
    message: '/message',
    map: {
      INVALID_CREDENTIAL: 'authentication_error',
      INVALID_KEY: 'authentication_error',
      INVALID_SIGNATURE: 'authentication_error',
      NOT_CREDENTIAL: 'authentication_error',
      NOT_GRANTED_CALL: 'authentication_error',
      // The clocks differ: the request was not read.
      QUERY_TIME_OUT: 'provider_unavailable'
    }
  },
  check: (call) => call.http.get(...ask(call, 'GET', ''), Type.Object({ name: Type.String() })),
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'lookup', visibleAfter: 10 * minute },
      // The deliveryReceipt of a message: https://help.ovhcloud.com/csm/en-gb-sms-users
      statuses: { [waiting]: 'queued', 0: 'queued', 1: 'delivered', 2: 'failed', 4: 'queued', 8: 'sent', 16: 'failed' },
      poll: { after: 5 * minute, every: 2 * hour, until: 72 * hour },

      async dispatch ({ sms: { phoneNumber, message, sender: own } }, call) {
        const sender = own ?? call.settings.sender
        const { ids: [id], invalidReceivers: [invalid] = [] } = await call.http.post(...ask(call, 'POST', '/jobs', {
          message,
          receivers: [phoneNumber],
          ...(sender === undefined ? { senderForResponse: true } : { sender }),
          // It is no advertising, so no words about how to stop it are added, and it is sent at night, too.
          noStopClause: true,
          priority: 'high',
          charset: 'UTF-8',
          tag: call.reference
        }), Sent)
        // A number to which nothing is sent is told with 200.
        if (id === undefined) throw refused('invalid_receiver', `OVHcloud sends nothing to ${invalid ?? phoneNumber}.`, '/sms/phoneNumber')
        return { id: String(id), status: waiting }
      },

      async lookup ({ reference }, call) {
        const [sent] = await call.http.get(...ask(call, 'GET', `/outgoing?tag=${encodeURIComponent(reference)}`), Ids)
        const id = sent ?? await findWaiting(reference, call)
        return id === undefined ? { found: 'absent' } : { found: 'accepted', response: { id: String(id), status: waiting } }
      },

      async status ({ id }, call) {
        try {
          const { deliveryReceipt, ptt } = await call.http.get(...ask(call, 'GET', `/outgoing/${encodeURIComponent(id)}`), Message)
          return {
            status: String(deliveryReceipt),
            ...(failed.includes(deliveryReceipt) && typeof ptt === 'number' && { reason: `ptt ${ptt}` })
          }
        } catch (error) {
          // A message that waits is not among those that were sent.
          if (failureOf(error)?.status !== 404) throw error
          return { status: waiting }
        }
      }
    }
  }
})

async function findWaiting (reference: string, call: Call): Promise<number | undefined> {
  const ids = await call.http.get(...ask(call, 'GET', '/jobs'), Ids)
  if (ids.length > maxJobs) {
    throw unavailable(`${ids.length} messages wait at OVHcloud: the one that is looked for cannot be found among them.`)
  }
  for (const id of ids) {
    const { tag } = await call.http.get(...ask(call, 'GET', `/jobs/${id}`), Job)
    if (tag === reference) return id
  }
  return undefined
}
