import { document, group, value, type XmlFragment } from '../write/xml.ts'
import { BrokenReport, checkReport } from './check-report.ts'
import { type EReport, type PaidInvoice, type ReportedInvoice, type ReportedLine, type ReportedParty, type ReportedPayment,
  type ReportedSales, type ReportedTax, reportProfile } from './report.ts'

/** Writes a report in the format of the tax authority. Throws {@link BrokenReport} with the rules that it breaks. */
export function writeReport (report: EReport): string {
  const problems = checkReport(report)
  if (problems.length > 0) throw new BrokenReport(problems)
  const { id, issued, type, sender, declarant, period } = report
  const name = report.kind === 'transactions' ? 'TransactionsReport' : 'PaymentsReport'
  return document('Report', {}, [
    group('ReportDocument', [
      value('Id', id),
      group('IssueDateTime', [value('DateTimeString', issued.replaceAll(/\D/g, '').slice(0, 14))]),
      value('TypeCode', type),
      group('Sender', [value('Id', sender.id, { schemeId: '0238' }), value('Name', sender.name), value('RoleCode', 'WK')]),
      group('Issuer', [value('Id', declarant.siren, { schemeId: '0002' }), value('Name', declarant.name),
        value('RoleCode', declarant.role)])
    ]),
    group(name, [
      group('ReportPeriod', [day('StartDate', period.start), day('EndDate', period.end)]),
      ...(report.kind === 'transactions'
        ? [...report.invoices.map(invoice), ...report.days.map(sales)]
        : [...report.invoices.map(paid), ...report.days.map((payment) => group('Transactions', [paymentOf(payment)]))])
    ])
  ])
}

function invoice (given: ReportedInvoice): XmlFragment {
  const { seller, customer, representative, delivery, period } = given
  return group('Invoice', [
    value('ID', given.number),
    day('IssueDate', given.date),
    value('TypeCode', given.type),
    value('CurrencyCode', given.currency),
    day('DueDate', given.dueDate),
    value('TaxDueDateTypeCode', given.taxPointCode),
    ...given.notes.map(({ code, text }) => group('IncludedNote', [value('Subject', code), value('Content', text)])),
    group('BusinessProcess', [value('ID', given.process), value('TypeID', reportProfile)]),
    ...given.preceding.map(({ number, date }) => group('ReferencedDocument', [value('ID', number), day('IssueDate', date)])),
    party('Seller', seller),
    party('Buyer', customer),
    group('SellerTaxRepresentative', [value('TaxRegistrationId', representative, { schemeId: 'VAT' })]),
    group('Delivery', [day('Date', delivery?.date), group('Location', [value('CountryId', delivery?.country)])]),
    group('InvoicePeriod', [day('StartDate', period?.start), day('EndDate', period?.end)]),
    ...given.adjustments.map(adjustment),
    group('MonetaryTotal', [value('TaxExclusiveAmount', given.base), value('TaxAmount', given.tax, { CurrencyCode: 'EUR' })]),
    ...given.taxes.map(tax),
    ...given.lines.map(line)
  ])
}

function party (name: string, { id, vatId, country }: ReportedParty): XmlFragment {
  return group(name, [
    value('CompanyId', id?.id, { schemeId: id?.scheme }),
    value('TaxRegistrationId', vatId, { qualifyingId: 'VAT' }),
    group('PostalAddress', [value('CountryId', country)])
  ])
}

function adjustment ({ isCharge, amount, category, rate }: ReportedInvoice['adjustments'][number]): XmlFragment {
  const parts = [value('Amount', amount), value('TaxCategoryCode', category), value('TaxPercent', rate)]
  return group('AllowanceCharge', parts, { ChargeIndicator: String(isCharge) })
}

function tax ({ base, amount, category, rate, reason, reasonCode }: ReportedTax): XmlFragment {
  return group('TaxSubTotal', [
    value('TaxableAmount', base),
    value('TaxAmount', amount),
    group('TaxCategory', [
      value('Code', category),
      value('Percent', rate),
      value('TaxExemptionReason', reason),
      value('TaxExemptionReasonCode', reasonCode)
    ])
  ])
}

function line ({ name, quantity, unit, price }: ReportedLine): XmlFragment {
  return group('Line', [
    value('BilledQuantity', quantity, { UnitCode: unit }),
    group('Price', [value('PriceAmount', price)]),
    group('Product', [value('Name', name)])
  ])
}

function sales ({ date, currency, category, base, tax, count, taxes }: ReportedSales): XmlFragment {
  return group('Transactions', [
    day('Date', date),
    value('TransactionsCurrency', currency),
    value('CategoryCode', category),
    value('TaxExclusiveAmount', base),
    value('TaxTotal', tax),
    value('TransactionsCount', String(count)),
    ...taxes.map(({ rate, base, amount }) =>
      group('TaxSubtotal', [value('TaxPercent', rate), value('TaxableAmount', base), value('TaxTotal', amount)])
    )
  ])
}

function paid ({ number, date, payment }: PaidInvoice): XmlFragment {
  return group('Invoice', [value('InvoiceID', number), day('IssueDate', date), paymentOf(payment)])
}

function paymentOf ({ date, parts }: ReportedPayment): XmlFragment {
  return group('Payment', [
    day('Date', date),
    ...parts.map(({ rate, amount }) =>
      group('SubTotals', [value('TaxPercent', rate), value('CurrencyCode', 'EUR'), value('Amount', amount)])
    )
  ])
}

/** YYYYMMDD */
function day (name: string, date: string | undefined): XmlFragment {
  return value(name, date?.replaceAll('-', ''))
}
