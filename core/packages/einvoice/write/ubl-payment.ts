import type { EInvoiceModel, Text } from '../model/model.ts'
import { group, value, type XmlFragment } from './xml.ts'

export function ublPayment ({ payment, dueDate, isCreditNote }: EInvoiceModel): XmlFragment {
  if (payment === undefined) return ''
  const { means, text, reference, card, account, mandate } = payment
  return group('cac:PaymentMeans', [
    value('cbc:PaymentMeansCode', means, { name: text }),
    isCreditNote ? value('cbc:PaymentDueDate', dueDate) : '',
    value('cbc:PaymentID', reference),
    // The schema requires a network, for which EN 16931 has no term.
    card === undefined ? '' : group('cac:CardAccount', [
      value('cbc:PrimaryAccountNumberID', card.number),
      value('cbc:NetworkID', 'NA'),
      value('cbc:HolderName', card.holder)
    ]),
    account === undefined ? '' : group('cac:PayeeFinancialAccount', [
      value('cbc:ID', account.iban ?? account.other),
      value('cbc:Name', account.holder),
      group('cac:FinancialInstitutionBranch', [value('cbc:ID', account.bic)])
    ]),
    mandate === undefined ? '' : group('cac:PaymentMandate', [
      value('cbc:ID', mandate.reference),
      group('cac:PayerFinancialAccount', [value('cbc:ID', mandate.account)])
    ])
  ])
}

/** The terms of payment. German rules require a line break after a discount, which is a line that begins with # (DE-R-018). */
export function ublTerms ({ paymentTerms, dueDate, isCreditNote }: EInvoiceModel): Text {
  const terms = paymentTerms ?? (isCreditNote ? dueDate : undefined)
  const last = terms?.slice(terms.lastIndexOf('\n') + 1).trim()
  return last?.startsWith('#') === true ? `${terms}\n` : terms
}
