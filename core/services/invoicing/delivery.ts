import { type DeliveryRules, staysPaid } from '../delivery.ts'

export const delivery = {
  transitions: {
    // A platform has the file, and reports later whether it accepts it.
    received: ['open', 'accepted', 'rejected', 'paid', 'uncollectible', 'void'],
    // The customer has the document. An invoice is to be paid, a quote to be accepted.
    open: ['accepted', 'rejected', 'paid', 'uncollectible', 'void'],
    accepted: [],
    rejected: [],
    // Written off. Some of these invoices are still paid later.
    uncollectible: ['paid', 'void'],
    paid: [],
    void: []
  },
  refusals: { rejected: `It was refused after its acceptance. ${staysPaid} Correct the cause and send a new dispatch.` }
} as const satisfies DeliveryRules
