import { type DeliveryRules, staysPaid } from '../delivery.ts'

export const delivery = {
  transitions: {
    // A server that has taken an e-mail may still send it back, and one of several recipients may not get it.
    delivered: ['bounced'],
    bounced: [],
    // The vendor has not sent it after its acceptance.
    failed: []
  },
  marks: ['opened', 'clicked', 'complained'],
  nearlyLast: ['delivered'],
  refusals: {
    bounced: `A mail server has sent the e-mail back. ${staysPaid}`,
    failed: `The vendor has not sent the e-mail after its acceptance. ${staysPaid}`
  },
  since: '1.1.0',
  recipients: true
} as const satisfies DeliveryRules
