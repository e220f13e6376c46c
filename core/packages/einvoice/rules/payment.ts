import { type How, readHow } from '../read/payment.ts'
import { type EInvoiceRule, rule, type RuleInput } from './rule.ts'

/** Whether the data give it, and the means of payment leave it out. */
function isLeftOut (name: keyof How, { data, invoice: { payment } }: RuleInput): boolean {
  return readHow(data)[name] !== undefined && payment?.[name] === undefined
}

/** What is said of a payment belongs to its means: an invoice has one (BG-16). */
export const paymentRules: readonly EInvoiceRule[] = [
  rule('other_means', '/payment/card', 'These means of payment carry no card: leave it out, or say 48 (card) as the means.',
    (subject) => !isLeftOut('card', subject)),
  rule('other_means', '/payment/mandate',
    'These means of payment carry no mandate: leave it out, or say 59 or 49 (direct debit) as the means.',
    (subject) => !isLeftOut('mandate', subject))
]

/** Sellers state their bank details on every invoice: that one leaves them out is told, and no error. */
export const paymentAdvice: readonly EInvoiceRule[] = [
  rule('other_means', '/bankDetails',
    'A direct debit and a payment by card carry no account of the seller: the e-invoice leaves the bank details out.',
    (subject) => !isLeftOut('account', subject))
]
