import { memoizeByIdentity } from '@dispatch/common'
import { listField, objectField, textField } from '../model/fields.ts'
import type { Payment } from '../model/model.ts'
import { asWhole, type How, readHow } from '../read/payment.ts'
import { type EInvoiceRule, only, rule, type RuleInput, ruleOfEach } from './rule.ts'

/** A way to pay with its place: that of the invoice, and further ones. */
type Way = { payment: Payment, at: string, bank: string, given: How }

/** Each way to pay that the invoice has. */
const ways = memoizeByIdentity(({ data, invoice: { payment, otherPayments } }: RuleInput): Way[] => {
  const others = listField(data, 'otherPayments')
  return [
    ...payment === undefined ? [] : [{ payment, at: '/payment', bank: '/bankDetails', given: readHow(data) }],
    ...otherPayments.map((other, index) => ({
      payment: other,
      at: `/otherPayments/${index}`,
      bank: `/otherPayments/${index}/bankDetails`,
      given: readHow(asWhole(others[index] ?? {}))
    }))
  ]
})

/** A rule about each way to pay. */
function ruleOfWays (id: string, message: string, at: (way: Way) => string, holds: (way: Way) => boolean): EInvoiceRule {
  return ruleOfEach(id, message, ways, at, holds)
}

/** Whether the data give no value that the means of payment leave out. */
const usesAll = (name: keyof How) => ({ payment, given }: Way): boolean => given[name] === undefined || payment[name] !== undefined

const shortCard = ruleOfWays('BR-51', 'Of a card\'s number an invoice shows the first 6 and the last 4 digits at most: 10 in all (BT-87).',
  ({ at }) => `${at}/card/number`, ({ payment: { card } }) => card === undefined || card.number.length <= 10)

/** The payment facts belong to the means of payment: an invoice has one (BG-16), but for the extended profiles. */
export const paymentRules: readonly EInvoiceRule[] = [
  ruleOfWays('other_means', 'These means of payment do not use a card: leave the card out, or give 48 (card) as the means.',
    ({ at }) => `${at}/card`, usesAll('card')),
  ruleOfWays('other_means', 'These means of payment do not use a mandate: leave it out, or give 59 or 49 (direct debit) as the means.',
    ({ at }) => `${at}/mandate`, usesAll('mandate')),
  ruleOfWays('BR-49', 'A further way to pay says its means (BT-81), or has the account or the card of which they follow.',
    ({ at }) => `${at}/means`, ({ payment: { means } }) => means !== ''),
  ruleOfWays('BR-61', 'A credit transfer (30, 58) needs the account: an iban or an account (BT-84).', ({ bank }) => bank,
    ({ payment: { means, account } }) => !['30', '58'].includes(means) || account !== undefined),
  ...only(['CII', 'FACTUR_X'], [shortCard]),
  ...only(['UBL'], [
    rule('UBL-SR-47', '/otherPayments', 'In UBL an invoice has one means of payment (BT-81); CII in the EXTENDED profiles can have others.',
      ({ invoice: { otherPayments } }) => otherPayments.length === 0)
  ]),
  ruleOfEach('BG-19', 'A further way to pay has no mandate of its own: its reference and the creditor are those of payment.',
    ({ data }) => listField(data, 'otherPayments').map((given, index) => ({ mandate: objectField(given, 'mandate'), index })),
    ({ index }) => `/otherPayments/${index}/mandate`,
    ({ mandate }) => ['reference', 'creditorId'].every((name) => textField(mandate, name) === undefined))
]

/** Sellers state their bank details on every invoice. If an invoice leaves them out, this is a warning and not an error. */
export const paymentAdvice: readonly EInvoiceRule[] = [
  ruleOfWays('other_means',
    'A direct debit or a card payment does not use the seller\'s account: the e-invoice leaves the bank details out.', ({ bank }) => bank,
    usesAll('account')),
  ...only(['UBL'], [shortCard])
]
