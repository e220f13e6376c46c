import { type DeliveryRules, staysPaid } from '../delivery.ts'

export const delivery = {
  transitions: {
    accepted: ['printed', 'mailed', 'in_transit', 'delivered', 'returned', 'failed', 'cancelled'],
    printed: ['mailed', 'in_transit', 'delivered', 'returned', 'failed', 'cancelled'],
    mailed: ['in_transit', 'delivered', 'returned', 'failed'],
    in_transit: ['delivered', 'returned', 'failed'],
    // A letter that was put into the letter box can still be returned.
    delivered: ['returned'],
    returned: [],
    // The vendor has refused the letter after its acceptance, or lost it.
    failed: [],
    cancelled: []
  },
  nearlyLast: ['delivered'],
  refusals: {
    failed: `The vendor refused the letter after its acceptance, or could not deliver it. The recipient does not get it. ${staysPaid} ` +
      'Correct the cause and send a new dispatch.'
  },
  defers: true
} as const satisfies DeliveryRules
