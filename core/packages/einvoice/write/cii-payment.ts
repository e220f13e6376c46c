import type { EInvoiceModel, Payment } from '../model/model.ts'
import { endedTerms } from '../model/payment-terms.ts'
import { date } from './cii-parts.ts'
import { group, value, type XmlFragment } from './xml.ts'

/** Each means of payment, once for each of its accounts. */
export function ciiPayment ({ payment, otherPayments }: EInvoiceModel): XmlFragment {
  return [...payment === undefined ? [] : [payment], ...otherPayments].flatMap((one) =>
    [one.account, ...one.otherAccounts].map((account) => meansFor(account, one))
  ).join('')
}

function meansFor (account: Payment['account'], { means, text, card, mandate }: Payment): XmlFragment {
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
    value('ram:Description', endedTerms(paymentTerms)),
    date('ram:DueDateDateTime', dueDate),
    value('ram:DirectDebitMandateID', payment?.mandate?.reference)
  ])
}
