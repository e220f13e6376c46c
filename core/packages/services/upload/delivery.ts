import { type DeliveryRules, staysPaid } from '../delivery.ts'

export const delivery = {
  transitions: {
    // The vendor has the file, and works on it: it checks, converts or archives it.
    processing: ['available', 'failed', 'deleted'],
    available: ['deleted'],
    // The vendor has not stored it after its acceptance.
    failed: [],
    deleted: []
  },
  nearlyLast: ['available'],
  refusals: { failed: `The vendor has not stored the file after its acceptance. ${staysPaid}` },
  since: '1.1.0'
} as const satisfies DeliveryRules
