import type { EInvoiceModel } from '../model/model.ts'
import { type EInvoiceRule, rule } from './rule.ts'

/** Legal statements of a French invoice, by their subject (Code de commerce, L441-9 and L441-10). */
const statements = {
  PMT: 'the fixed sum for the costs of recovery',
  PMD: 'the penalties for late payment',
  AAB: 'the discount for early payment, or that there is none'
} as const

function isFrench ({ seller, customer }: EInvoiceModel): boolean {
  return seller.address.country === 'FR' && customer.address.country === 'FR'
}

/** The requirements of French platforms between French companies (BR-FR-*). They are warnings, because nobody else requires them. */
export const frenchRules: readonly EInvoiceRule[] = [
  ...Object.entries(statements).map(([code, meaning]) =>
    rule('BR-FR-05', '/statements', `A French invoice has a statement with the code ${code}: ${meaning}.`, ({ invoice }) =>
      !isFrench(invoice) || invoice.notes.some((note) => note.code === code))
  ),
  rule('BR-FR-10', '/seller/registration', 'A French seller states its SIREN: nine digits with the scheme 0002.',
    ({ invoice }) => !isFrench(invoice) || isSiren(invoice.seller)),
  rule('BR-FR-11', '/customer/registration', 'A French customer is named with its SIREN: nine digits with the scheme 0002.',
    ({ invoice }) => !isFrench(invoice) || isSiren(invoice.customer))
]

function isSiren ({ registration }: EInvoiceModel['seller']): boolean {
  return registration?.scheme === '0002' && /^\d{9}$/.test(registration.id)
}
