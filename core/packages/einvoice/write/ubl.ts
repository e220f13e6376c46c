import type { Decimal } from '@dispatch/common'
import type { AllowanceCharge, Attachment, EInvoiceModel, TaxGroup } from '../model/model.ts'
import { hasCustomerTaxId, profiles } from '../model/profiles.ts'
import type { Totals } from '../model/totals.ts'
import { ublNotes, ublTerms } from '../model/ubl-texts.ts'
import { ublLine } from './ubl-line.ts'
import { money, schemed, taxCategory, ublAllowanceCharge, ublPeriod, ublReference } from './ubl-parts.ts'
import { ublDelivery, ublParty, ublPayee, ublRepresentative } from './ubl-party.ts'
import { ublPayment } from './ubl-payment.ts'
import { document, group, value, type XmlFragment } from './xml.ts'

const oasis = 'urn:oasis:names:specification:ubl:schema:xsd'

/**
 * The invoice or credit note in UBL 2.1. The elements are in the order of the schema, which is different for the two.
 */
export function writeUbl (invoice: EInvoiceModel, totals: Totals): string {
  const { specification } = profiles[invoice.profile]
  const kind = invoice.isCreditNote ? 'CreditNote' : 'Invoice'
  return document(kind, {
    xmlns: `${oasis}:${kind}-2`,
    'xmlns:cac': `${oasis}:CommonAggregateComponents-2`,
    'xmlns:cbc': `${oasis}:CommonBasicComponents-2`
  }, [
    value('cbc:CustomizationID', specification),
    value('cbc:ProfileID', invoice.businessProcess),
    value('cbc:ID', invoice.number),
    value('cbc:IssueDate', invoice.date),
    ...invoice.isCreditNote ? creditNoteHead(invoice) : invoiceHead(invoice),
    value('cbc:DocumentCurrencyCode', invoice.currency),
    value('cbc:TaxCurrencyCode', invoice.taxCurrency),
    value('cbc:AccountingCost', invoice.references.accounting),
    value('cbc:BuyerReference', invoice.references.buyer),
    ublPeriod('cac:InvoicePeriod', invoice.period, invoice.taxPointCode),
    ...references(invoice),
    group('cac:AccountingSupplierParty', [
      ublParty(invoice.seller, invoice, {
        ...invoice.seller,
        creditorId: invoice.payee === undefined ? invoice.payment?.mandate?.creditorId : undefined
      })
    ]),
    group('cac:AccountingCustomerParty', [
      ublParty(invoice.customer, invoice, { taxId: hasCustomerTaxId(invoice.profile, 'UBL') ? invoice.customer.taxId : undefined })
    ]),
    ublPayee(invoice),
    ublRepresentative(invoice),
    ublDelivery(invoice.delivery),
    ublPayment(invoice),
    group('cac:PaymentTerms', [value('cbc:Note', ublTerms(invoice))]),
    ...invoice.adjustments.map((adjustment) => ublAllowanceCharge(adjustment, invoice)),
    ...taxTotals(invoice, totals),
    monetaryTotal(invoice, totals),
    ...invoice.lines.map((line) => ublLine(line, invoice))
  ])
}

function invoiceHead (invoice: EInvoiceModel): XmlFragment[] {
  return [
    value('cbc:DueDate', invoice.dueDate),
    value('cbc:InvoiceTypeCode', invoice.type),
    ...ublNotes(invoice).map((note) => value('cbc:Note', note)),
    value('cbc:TaxPointDate', invoice.taxPointDate)
  ]
}

/** A credit note states its due date with its means of payment. */
function creditNoteHead (invoice: EInvoiceModel): XmlFragment[] {
  return [
    value('cbc:TaxPointDate', invoice.taxPointDate),
    value('cbc:CreditNoteTypeCode', invoice.type),
    ...ublNotes(invoice).map((note) => value('cbc:Note', note))
  ]
}

function references ({
  references: { order, salesOrder, despatch, receipt, tender, contract, object, project },
  precedingInvoices,
  attachments,
  isCreditNote
}: EInvoiceModel): XmlFragment[] {
  const originator = ublReference('cac:OriginatorDocumentReference', tender)
  const others = [
    ublReference('cac:ContractDocumentReference', contract),
    object === undefined ? '' : group('cac:AdditionalDocumentReference', [schemed('cbc:ID', object), value('cbc:DocumentTypeCode', '130')]),
    // A credit note has no element of its own for the project.
    isCreditNote && project !== undefined
      ? group('cac:AdditionalDocumentReference', [value('cbc:ID', project), value('cbc:DocumentTypeCode', '50')])
      : '',
    ...attachments.map(attachmentReference)
  ]
  return [
    // The schema requires an order where there is a sales order. Peppol's value for none is NA.
    group('cac:OrderReference', [
      value('cbc:ID', order ?? (salesOrder === undefined ? undefined : 'NA')),
      value('cbc:SalesOrderID', salesOrder)
    ]),
    ...precedingInvoices.map(({ number, date }) =>
      group('cac:BillingReference', [group('cac:InvoiceDocumentReference', [value('cbc:ID', number), value('cbc:IssueDate', date)])])
    ),
    ublReference('cac:DespatchDocumentReference', despatch),
    ublReference('cac:ReceiptDocumentReference', receipt),
    ...isCreditNote ? [...others, originator] : [originator, ...others, ublReference('cac:ProjectReference', project)]
  ]
}

function attachmentReference ({ id, description, url, content, mediaType, filename }: Attachment): XmlFragment {
  return group('cac:AdditionalDocumentReference', [
    value('cbc:ID', id),
    value('cbc:DocumentDescription', description),
    group('cac:Attachment', [
      value('cbc:EmbeddedDocumentBinaryObject', content, { mimeCode: mediaType, filename }),
      group('cac:ExternalReference', [value('cbc:URI', url)])
    ])
  ])
}

function taxTotals (invoice: EInvoiceModel, { tax, taxes }: Totals): XmlFragment[] {
  const { taxCurrency, taxCurrencyAmount, currency } = invoice
  return [
    group('cac:TaxTotal', [money('cbc:TaxAmount', tax, invoice), ...taxes.map((taxGroup) => taxSubtotal(taxGroup, invoice))]),
    taxCurrency === undefined || taxCurrency === currency
      ? ''
      : group('cac:TaxTotal', [value('cbc:TaxAmount', taxCurrencyAmount?.toFixed(2), { currencyID: taxCurrency })])
  ]
}

function taxSubtotal ({ base, amount, exemption, ...tax }: TaxGroup, invoice: EInvoiceModel): XmlFragment {
  // DE-R-014 requires a rate even for category O, which is not subject to VAT.
  const isGerman = invoice.seller.address.country === 'DE' && invoice.customer.address.country === 'DE'
  const isRated = isGerman || profiles[invoice.profile].rates === 'always'
  const rate: Decimal | undefined = tax.category === 'O' && isRated ? base.sub(base) : tax.rate
  return group('cac:TaxSubtotal', [
    money('cbc:TaxableAmount', base, invoice),
    money('cbc:TaxAmount', amount, invoice),
    taxCategory('cac:TaxCategory', { ...tax, rate }, exemption)
  ])
}

function monetaryTotal (invoice: EInvoiceModel, { lines, base, total, allowances, charges, due }: Totals): XmlFragment {
  const has = (kind: AllowanceCharge['kind']): boolean => invoice.adjustments.some((adjustment) => adjustment.kind === kind)
  return group('cac:LegalMonetaryTotal', [
    money('cbc:LineExtensionAmount', lines, invoice),
    money('cbc:TaxExclusiveAmount', base, invoice),
    money('cbc:TaxInclusiveAmount', total, invoice),
    has('allowance') ? money('cbc:AllowanceTotalAmount', allowances, invoice) : '',
    has('charge') ? money('cbc:ChargeTotalAmount', charges, invoice) : '',
    money('cbc:PrepaidAmount', invoice.prepaid, invoice),
    money('cbc:PayableRoundingAmount', invoice.rounding, invoice),
    money('cbc:PayableAmount', due, invoice)
  ])
}
