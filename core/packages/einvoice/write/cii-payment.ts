import type { EInvoiceModel, Payment } from '../model/model.ts'
import { date } from './cii-parts.ts'
import { group, value, type XmlFragment } from './xml.ts'

export function ciiPayment (payment: Payment | undefined): XmlFragment {
  if (payment === undefined) return ''
  const { means, text, card, mandate, account } = payment
  return group('ram:SpecifiedTradeSettlementPaymentMeans', [
    value('ram:TypeCode', means),
    value('ram:Information', text),
    group('ram:ApplicableTradeSettlementFinancialCard', [value('ram:ID', card?.number), value('ram:CardholderName', card?.holder)]),
    group('ram:PayerPartyDebtorFinancialAccount', [value('ram:IBANID', mandate?.account)]),
    account === undefined ? '' : group('ram:PayeePartyCreditorFinancialAccount', [
      value('ram:IBANID', account.iban),
      value('ram:AccountName', account.holder),
      value('ram:ProprietaryID', account.other)
    ]),
    group('ram:PayeeSpecifiedCreditorFinancialInstitution', [value('ram:BICID', account?.bic)])
  ])
}

export function ciiTerms ({ paymentTerms, dueDate, payment }: EInvoiceModel): XmlFragment {
  return group('ram:SpecifiedTradePaymentTerms', [
    value('ram:Description', paymentTerms),
    date('ram:DueDateDateTime', dueDate),
    value('ram:DirectDebitMandateID', payment?.mandate?.reference)
  ])
}
