import type { EInvoiceModel, Payment, Text } from '../model/model.ts'
import { group, value, type XmlFragment } from './xml.ts'

/** The means of payment, once for each account. */
export function ublPayment ({ payment, dueDate, isCreditNote }: EInvoiceModel): XmlFragment {
  if (payment === undefined) return ''
  const due = isCreditNote ? dueDate : undefined
  // The due date, the text, the card and the mandate stand in one of them (UBL-SR-45, -46, -54, -55).
  const bare = { ...payment, text: undefined, card: undefined, mandate: undefined }
  return meansFor(payment.account, payment, due) + payment.otherAccounts.map((account) => meansFor(account, bare, undefined)).join('')
}

function meansFor (account: Payment['account'], { means, text, reference, card, mandate }: Payment, dueDate: Text): XmlFragment {
  return group('cac:PaymentMeans', [
    value('cbc:PaymentMeansCode', means, { name: text }),
    value('cbc:PaymentDueDate', dueDate),
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
