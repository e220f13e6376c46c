import { type How, readHow } from '../read/payment.ts'
import { type EInvoiceRule, rule, type RuleInput } from './rule.ts'

/** Whether the data give a value that the means of payment leave out. */
function isLeftOut (name: keyof How, { data, invoice: { payment } }: RuleInput): boolean {
  return readHow(data)[name] !== undefined && payment?.[name] === undefined
}

/** The payment facts belong to the means of payment: an invoice has one (BG-16). */
export const paymentRules: readonly EInvoiceRule[] = [
  rule('other_means', '/payment/card', 'These means of payment do not use a card: leave the card out, or give 48 (card) as the means.',
    (subject) => !isLeftOut('card', subject)),
  rule('other_means', '/payment/mandate',
    'These means of payment do not use a mandate: leave it out, or give 59 or 49 (direct debit) as the means.',
    (subject) => !isLeftOut('mandate', subject))
]

/** Sellers state their bank details on every invoice. If an invoice leaves them out, this is a warning and not an error. */
export const paymentAdvice: readonly EInvoiceRule[] = [
  rule('other_means', '/bankDetails',
    'A direct debit or a card payment does not use the seller\'s account: the e-invoice leaves the bank details out.',
    (subject) => !isLeftOut('account', subject))
]
