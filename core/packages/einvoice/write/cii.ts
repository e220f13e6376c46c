import type { Attachment, EInvoiceModel, TaxGroup } from '../model/model.ts'
import { hasCustomerTaxId, profiles, reaches } from '../model/profiles.ts'
import type { Totals } from '../model/totals.ts'
import { ciiLine } from './cii-line.ts'
import { ciiAllowanceCharge, ciiPeriod, ciiReference, date, object } from './cii-parts.ts'
import { ciiParty, ciiPayee, ciiRepresentative, ciiShipTo } from './cii-party.ts'
import { ciiPayment, ciiTerms } from './cii-payment.ts'
import { document, group, value, type XmlFragment } from './xml.ts'

const unece = 'urn:un:unece:uncefact:data:standard'
const namespaces = {
  'xmlns:rsm': `${unece}:CrossIndustryInvoice:100`,
  'xmlns:ram': `${unece}:ReusableAggregateBusinessInformationEntity:100`,
  'xmlns:qdt': `${unece}:QualifiedDataType:100`,
  'xmlns:udt': `${unece}:UnqualifiedDataType:100`
} as const

/** The invoice or credit note in UN/CEFACT CII D16B, which a Factur-X contains too. */
export function writeCii (invoice: EInvoiceModel, totals: Totals): string {
  const { number, type, notes, lines } = invoice
  const { specification, level } = profiles[invoice.profile]
  return document('rsm:CrossIndustryInvoice', namespaces, [
    group('rsm:ExchangedDocumentContext', [
      group('ram:BusinessProcessSpecifiedDocumentContextParameter', [value('ram:ID', invoice.businessProcess)]),
      group('ram:GuidelineSpecifiedDocumentContextParameter', [value('ram:ID', specification)])
    ]),
    group('rsm:ExchangedDocument', [
      value('ram:ID', number),
      value('ram:TypeCode', type),
      date('ram:IssueDateTime', invoice.date),
      ...notes.map(({ code, text }) => group('ram:IncludedNote', [value('ram:Content', text), value('ram:SubjectCode', code)]))
    ]),
    group('rsm:SupplyChainTradeTransaction', [
      ...reaches(level, 'BASIC') ? lines.map(ciiLine) : [],
      agreement(invoice),
      delivery(invoice),
      settlement(invoice, totals)
    ])
  ])
}

function agreement (invoice: EInvoiceModel): XmlFragment {
  const { references: { buyer, salesOrder, order, contract, tender, project, ...references }, attachments, seller, customer } = invoice
  return group('ram:ApplicableHeaderTradeAgreement', [
    value('ram:BuyerReference', buyer),
    ciiParty('ram:SellerTradeParty', seller, seller),
    ciiParty('ram:BuyerTradeParty', customer, { taxId: hasCustomerTaxId(invoice.profile, 'CII') ? customer.taxId : undefined }),
    ciiRepresentative(invoice),
    ciiReference('ram:SellerOrderReferencedDocument', salesOrder),
    ciiReference('ram:BuyerOrderReferencedDocument', order),
    ciiReference('ram:ContractReferencedDocument', contract),
    ...attachments.map(attachment),
    tender === undefined
      ? ''
      : group('ram:AdditionalReferencedDocument', [value('ram:IssuerAssignedID', tender), value('ram:TypeCode', '50')]),
    object(references.object),
    // The schema requires a name besides the identifier.
    project === undefined ? '' : group('ram:SpecifiedProcuringProject', [value('ram:ID', project), value('ram:Name', 'Project reference')])
  ])
}

/** A supporting document of type 916 (UNTDID 1001). */
function attachment ({ id, url, description, content, mediaType, filename }: Attachment): XmlFragment {
  return group('ram:AdditionalReferencedDocument', [
    value('ram:IssuerAssignedID', id),
    value('ram:URIID', url),
    value('ram:TypeCode', '916'),
    value('ram:Name', description),
    value('ram:AttachmentBinaryObject', content, { mimeCode: mediaType, filename })
  ])
}

function delivery (invoice: EInvoiceModel): XmlFragment {
  const content = [
    ciiShipTo(invoice),
    group('ram:ActualDeliverySupplyChainEvent', [date('ram:OccurrenceDateTime', invoice.delivery?.date)]),
    ciiReference('ram:DespatchAdviceReferencedDocument', invoice.references.despatch),
    ciiReference('ram:ReceivingAdviceReferencedDocument', invoice.references.receipt)
  ]
  // The schema requires the element, with any content.
  return group('ram:ApplicableHeaderTradeDelivery', content) || '<ram:ApplicableHeaderTradeDelivery/>'
}

function settlement (invoice: EInvoiceModel, totals: Totals): XmlFragment {
  const { currency, taxCurrency, payment, adjustments, precedingInvoices, references } = invoice
  const { level } = profiles[invoice.profile]
  return group('ram:ApplicableHeaderTradeSettlement', [
    value('ram:CreditorReferenceID', payment?.mandate?.creditorId),
    value('ram:PaymentReference', payment?.reference),
    value('ram:TaxCurrencyCode', taxCurrency),
    value('ram:InvoiceCurrencyCode', currency),
    ciiPayee(invoice),
    ciiPayment(invoice),
    ...reaches(level, 'BASIC_WL') ? totals.taxes.map((tax, index) => taxGroup(tax, invoice, index)) : [],
    ciiPeriod(invoice.period),
    ...adjustments.map((adjustment) => ciiAllowanceCharge(adjustment)),
    ciiTerms(invoice),
    summation(invoice, totals),
    ...precedingInvoices.map((preceding) =>
      group('ram:InvoiceReferencedDocument', [
        value('ram:IssuerAssignedID', preceding.number),
        date('ram:FormattedIssueDateTime', preceding.date, 'qdt:DateTimeString')
      ])
    ),
    group('ram:ReceivableSpecifiedTradeAccountingAccount', [value('ram:ID', references.accounting)])
  ])
}

/** UNTDID 2475: CII uses it where the semantic model and UBL use UNTDID 2005. */
const taxPointCodes: Readonly<Record<string, string>> = { 3: '5', 35: '29', 432: '72' }

/** The tax point is in the first group only (CII-SR-461). */
function taxGroup (
  { amount, exemption, base, category, rate: known }: TaxGroup,
  { taxPointDate, taxPointCode, profile }: EInvoiceModel,
  index: number
): XmlFragment {
  const rate = known ?? (profiles[profile].rates === 'always' ? base.sub(base) : undefined)
  return group('ram:ApplicableTradeTax', [
    value('ram:CalculatedAmount', amount.toFixed(2)),
    value('ram:TypeCode', 'VAT'),
    value('ram:ExemptionReason', exemption?.reason),
    value('ram:BasisAmount', base.toFixed(2)),
    value('ram:CategoryCode', category),
    value('ram:ExemptionReasonCode', exemption?.code),
    index === 0 ? date('ram:TaxPointDate', taxPointDate, 'udt:DateString') : '',
    taxPointCode === undefined ? '' : value('ram:DueDateTypeCode', taxPointCodes[taxPointCode]),
    value('ram:RateApplicablePercent', rate?.toFixed())
  ])
}

function summation (
  { profile, adjustments, currency, taxCurrency, taxCurrencyAmount, prepaid, rounding }: EInvoiceModel,
  { lines, charges, allowances, base, tax, total, due }: Totals
): XmlFragment {
  const has = (kind: 'allowance' | 'charge'): boolean => adjustments.some((adjustment) => adjustment.kind === kind)
  return group('ram:SpecifiedTradeSettlementHeaderMonetarySummation', [
    reaches(profiles[profile].level, 'BASIC_WL') ? value('ram:LineTotalAmount', lines.toFixed(2)) : '',
    has('charge') ? value('ram:ChargeTotalAmount', charges.toFixed(2)) : '',
    has('allowance') ? value('ram:AllowanceTotalAmount', allowances.toFixed(2)) : '',
    value('ram:TaxBasisTotalAmount', base.toFixed(2)),
    value('ram:TaxTotalAmount', tax.toFixed(2), { currencyID: currency }),
    taxCurrency === undefined || taxCurrency === currency
      ? ''
      : value('ram:TaxTotalAmount', taxCurrencyAmount?.toFixed(2), { currencyID: taxCurrency }),
    value('ram:RoundingAmount', rounding?.toFixed(2)),
    value('ram:GrandTotalAmount', total.toFixed(2)),
    value('ram:TotalPrepaidAmount', prepaid?.toFixed(2)),
    value('ram:DuePayableAmount', due.toFixed(2))
  ])
}
