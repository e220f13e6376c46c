import { type DeliveryRules, staysPaid } from '../delivery.ts'

export const delivery = {
  transitions: {
    started: ['viewed', 'signed', 'completed', 'declined', 'expired', 'failed', 'cancelled'],
    viewed: ['signed', 'completed', 'declined', 'expired', 'failed', 'cancelled'],
    signed: ['completed', 'declined', 'expired', 'failed', 'cancelled'],
    // A signer has declined. Some vendors still let them sign later.
    declined: ['completed'],
    completed: [],
    expired: [],
    // The vendor cannot go on with it: its file is broken, or no signer can be reached.
    failed: [],
    cancelled: []
  },
  nearlyLast: ['declined'],
  refusals: {
    declined: `A signer has declined to sign. ${staysPaid}`,
    failed: `The vendor could not go on after its acceptance. ${staysPaid}`
  },
  defers: true,
  // Everybody has signed.
  document: { from: 'completed', before: 'signed' }
} as const satisfies DeliveryRules
