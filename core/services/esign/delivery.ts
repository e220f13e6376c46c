import { type DeliveryRules, staysPaid } from '../delivery.ts'

export const delivery = {
  transitions: {
    started: ['viewed', 'signed', 'completed', 'declined', 'expired', 'cancelled'],
    viewed: ['signed', 'completed', 'declined', 'expired', 'cancelled'],
    signed: ['completed', 'declined', 'expired', 'cancelled'],
    // A signer has declined. Some vendors still let them sign later.
    declined: ['completed'],
    completed: [],
    expired: [],
    cancelled: []
  },
  nearlyLast: ['declined'],
  refusals: { declined: `A signer has declined to sign. ${staysPaid}` },
  defers: true,
  // Everybody has signed.
  document: { from: 'completed', before: 'signed' }
} as const satisfies DeliveryRules
