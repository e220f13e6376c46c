import { type DeliveryRules, staysPaid } from '../delivery.ts'

/** How a customer ends it, and what may follow a part of that. */
const ends = ['rejected', 'partly_paid', 'uncollectible', 'paid', 'void'] as const
const answers = ['partly_accepted', 'accepted', ...ends] as const

export const delivery = {
  transitions: {
    // A platform has the file, and reports later whether it accepts it.
    received: ['made_available', 'taken_charge_of', 'open', 'suspended', 'disputed', ...answers],
    // The platform of the customer shows it to them.
    made_available: ['taken_charge_of', 'open', 'suspended', 'disputed', ...answers],
    // The customer works on it.
    taken_charge_of: ['open', 'suspended', 'disputed', ...answers],
    // The customer has the document. An invoice is to be paid, a quote to be accepted.
    open: ['suspended', 'disputed', ...answers],
    // The customer waits for something that is missing.
    suspended: ['disputed', ...answers],
    disputed: answers,
    partly_accepted: ['accepted', ...ends],
    // Some vendors tell of the payment of what was accepted.
    accepted: ['partly_paid', 'uncollectible', 'paid', 'void'],
    rejected: [],
    partly_paid: ['uncollectible', 'paid', 'void'],
    // Written off. Some of these invoices are still paid later.
    uncollectible: ['paid', 'void'],
    paid: [],
    void: []
  },
  nearlyLast: ['accepted'],
  refusals: { rejected: `It was refused after its acceptance. ${staysPaid} Correct the cause and send a new dispatch.` }
} as const satisfies DeliveryRules
