import { type DeliveryRules, staysPaid } from '../delivery.ts'

export const delivery = {
  transitions: {
    queued: ['sent', 'delivered', 'failed'],
    // The mobile network has the message. Whether the phone receives it is reported later, or never.
    sent: ['delivered', 'failed'],
    delivered: [],
    failed: []
  },
  refusals: { failed: `The message did not reach the phone. ${staysPaid}` }
} as const satisfies DeliveryRules
