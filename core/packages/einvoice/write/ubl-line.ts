import type { EInvoiceLine, EInvoiceModel } from '../model/model.ts'
import { money, price, schemed, taxCategory, ublAllowanceCharge, ublPeriod } from './ubl-parts.ts'
import { group, value, type XmlFragment } from './xml.ts'

export function ublLine (line: EInvoiceLine, invoice: EInvoiceModel): XmlFragment {
  const { id, note, quantity, unit, net, accounting, orderLine, object, adjustments } = line
  return group(invoice.isCreditNote ? 'cac:CreditNoteLine' : 'cac:InvoiceLine', [
    value('cbc:ID', id),
    value('cbc:Note', note),
    value(invoice.isCreditNote ? 'cbc:CreditedQuantity' : 'cbc:InvoicedQuantity', quantity?.toFixed(), { unitCode: unit }),
    money('cbc:LineExtensionAmount', net, invoice),
    value('cbc:AccountingCost', accounting),
    ublPeriod('cac:InvoicePeriod', line.period),
    group('cac:OrderLineReference', [value('cbc:LineID', orderLine)]),
    placeOf(line, invoice),
    object === undefined ? '' : group('cac:DocumentReference', [schemed('cbc:ID', object), value('cbc:DocumentTypeCode', '130')]),
    ...adjustments.map((adjustment) => ublAllowanceCharge(adjustment, invoice, 'line')),
    item(line),
    linePrice(line, invoice)
  ])
}

/** Where a line stands among others: a reference to the invoice itself (EXTENDED-CTC-FR, EXT-FR-FE-162 and -163). */
function placeOf ({ parent, type }: EInvoiceLine, { number }: EInvoiceModel): XmlFragment {
  if (type === undefined) return ''
  return group('cac:BillingReference', [
    group('cac:InvoiceDocumentReference', [value('cbc:ID', number), value('cbc:DocumentStatusCode', type)]),
    group('cac:BillingReferenceLine', [value('cbc:ID', parent)])
  ])
}

function item ({ name, description, buyerItemId, sellerItemId, standardItemId, origin, classifications, tax, attributes }:
  EInvoiceLine): XmlFragment
{
  return group('cac:Item', [
    value('cbc:Description', description),
    value('cbc:Name', name),
    group('cac:BuyersItemIdentification', [value('cbc:ID', buyerItemId)]),
    group('cac:SellersItemIdentification', [value('cbc:ID', sellerItemId)]),
    group('cac:StandardItemIdentification', [schemed('cbc:ID', standardItemId)]),
    group('cac:OriginCountry', [value('cbc:IdentificationCode', origin)]),
    ...classifications.map(({ code, list, version }) =>
      group('cac:CommodityClassification', [value('cbc:ItemClassificationCode', code, { listID: list, listVersionID: version })])
    ),
    taxCategory('cac:ClassifiedTaxCategory', tax),
    ...attributes.map((attribute) =>
      group('cac:AdditionalItemProperty', [value('cbc:Name', attribute.name), value('cbc:Value', attribute.value)])
    )
  ])
}

function linePrice ({ price: net, grossPrice, priceDiscount, priceQuantity, unit }: EInvoiceLine, invoice: EInvoiceModel): XmlFragment {
  return group('cac:Price', [
    price('cbc:PriceAmount', net, invoice),
    value('cbc:BaseQuantity', priceQuantity?.toFixed(), { unitCode: unit }),
    grossPrice === undefined ? '' : group('cac:AllowanceCharge', [
      value('cbc:ChargeIndicator', 'false'),
      price('cbc:Amount', priceDiscount, invoice),
      price('cbc:BaseAmount', grossPrice, invoice)
    ])
  ])
}
