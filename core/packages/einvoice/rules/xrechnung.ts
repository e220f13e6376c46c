import { isPlainAddress } from '@dispatch/common'
import { isIban } from '../model/check-digits.ts'
import { germanRules } from './national.ts'
import { sharedRules } from './peppol.ts'
import { type EInvoiceRule, rule, ruleOfEach } from './rule.ts'
import { sharedTotalsRules } from './totals.ts'

/** The requirements of XRechnung 3.0 beyond EN 16931. */
export const xrechnungRules: readonly EInvoiceRule[] = [...sharedRules, ...sharedTotalsRules, ...germanRules]

const types = ['326', '380', '384', '389', '381', '875', '876', '877']

/** What XRechnung 3.0 warns of. */
export const xrechnungAdvice: readonly EInvoiceRule[] = [
  rule('BR-DE-17', '/type', `XRechnung is made for the types ${types.join(', ')} (BT-3).`, ({ invoice }) => types.includes(invoice.type)),
  rule('BR-DE-19', '/bankDetails/iban', 'A SEPA credit transfer (58) names a correct IBAN (BT-84).',
    ({ invoice: { payment } }) => payment?.means !== '58' || isIban(payment.account?.iban ?? '')),
  rule('BR-DE-20', '/payment/mandate/account', 'A SEPA direct debit (59) names a correct IBAN (BT-91).',
    ({ invoice: { payment } }) => payment?.means !== '59' || isIban(payment.mandate?.account ?? '')),
  rule('BR-DE-26', '/precedingInvoices', 'A corrected invoice (384) names the invoice that it corrects (BG-3).',
    ({ invoice: { type, precedingInvoices } }) => type !== '384' || precedingInvoices.length > 0),
  rule('BR-DE-27', '/seller/phone', 'The phone of the seller\'s contact has at least three digits (BT-42).',
    ({ invoice: { seller: { contact } } }) => contact?.phone === undefined || /(\d.*){3}/s.test(contact.phone)),
  rule('BR-DE-28', '/seller/email', 'The e-mail address of the seller\'s contact is one (BT-43).',
    ({ invoice: { seller: { contact } } }) => contact?.email === undefined || isPlainAddress(contact.email)),
  rule('BR-DE-TMP-32', '/delivery/date', 'An invoice says when it was delivered, or its period, or the period of each line (BT-72, BG-14).',
    ({ invoice: { delivery, period, lines } }) =>
      delivery?.date !== undefined || period !== undefined || lines.every((line) => line.period !== undefined)),
  ruleOfEach('BR-TMP-2', 'The address of a supporting document begins with its scheme, such as https: (BT-124).',
    ({ invoice }) => invoice.attachments.map(({ url }, index) => ({ url, index })), ({ index }) => `/attachments/${index}/url`,
    ({ url }) => url === undefined || /^[a-z][a-z0-9+.-]+:/i.test(url))
]
