import type { Decimal } from '@dispatch/common'
import type { EInvoiceLine } from '../model/model.ts'
import { ciiAllowanceCharge, ciiPeriod, object, tradeTax } from './cii-parts.ts'
import { group, value, type XmlFragment } from './xml.ts'

export function ciiLine (line: EInvoiceLine): XmlFragment {
  const { id, parent, type, note, orderLine, quantity, unit } = line
  return group('ram:IncludedSupplyChainTradeLineItem', [
    group('ram:AssociatedDocumentLineDocument', [value('ram:LineID', id), value('ram:ParentLineID', parent),
      value('ram:LineStatusReasonCode', type), group('ram:IncludedNote', [value('ram:Content', note)])]),
    product(line),
    group('ram:SpecifiedLineTradeAgreement', [
      group('ram:BuyerOrderReferencedDocument', [value('ram:LineID', orderLine)]),
      ...prices(line)
    ]),
    group('ram:SpecifiedLineTradeDelivery', [value('ram:BilledQuantity', quantity?.toFixed(), { unitCode: unit })]),
    settlement(line)
  ])
}

function product ({ standardItemId, sellerItemId, buyerItemId, name, description, attributes, classifications, origin }:
  EInvoiceLine): XmlFragment
{
  return group('ram:SpecifiedTradeProduct', [
    value('ram:GlobalID', standardItemId?.id, { schemeID: standardItemId?.scheme }),
    value('ram:SellerAssignedID', sellerItemId),
    value('ram:BuyerAssignedID', buyerItemId),
    value('ram:Name', name),
    value('ram:Description', description),
    ...attributes.map((attribute) =>
      group('ram:ApplicableProductCharacteristic', [value('ram:Description', attribute.name), value('ram:Value', attribute.value)])
    ),
    ...classifications.map(({ code, list, version }) =>
      group('ram:DesignatedProductClassification', [value('ram:ClassCode', code, { listID: list, listVersionID: version })])
    ),
    group('ram:OriginTradeCountry', [value('ram:ID', origin)])
  ])
}

function prices ({ price, grossPrice, priceDiscount, priceQuantity, grossPriceQuantity = priceQuantity, unit }:
  EInvoiceLine): XmlFragment[]
{
  const charged = (amount: Decimal | undefined, quantity: Decimal | undefined): XmlFragment[] => [
    value('ram:ChargeAmount', amount?.toFixed()),
    value('ram:BasisQuantity', quantity?.toFixed(), { unitCode: unit })
  ]
  return [
    grossPrice === undefined ? '' : group('ram:GrossPriceProductTradePrice', [
      ...charged(grossPrice, grossPriceQuantity),
      priceDiscount === undefined ? '' : group('ram:AppliedTradeAllowanceCharge', [
        group('ram:ChargeIndicator', [value('udt:Indicator', 'false')]),
        value('ram:ActualAmount', priceDiscount.toFixed())
      ])
    ]),
    group('ram:NetPriceProductTradePrice', charged(price, priceQuantity))
  ]
}

/** A line that only says something may have no amount. */
function hasTotal ({ type, stated, price }: Pick<EInvoiceLine, 'type' | 'stated' | 'price'>): boolean {
  return type !== 'INFORMATION' || (stated ?? price) !== undefined
}

function settlement ({ tax, adjustments, net, accounting, ...line }: EInvoiceLine): XmlFragment {
  return group('ram:SpecifiedLineTradeSettlement', [
    tax.category === '' ? '' : tradeTax('ram:ApplicableTradeTax', tax),
    ciiPeriod(line.period),
    ...adjustments.map((adjustment) => ciiAllowanceCharge(adjustment, 'line')),
    hasTotal(line) ? group('ram:SpecifiedTradeSettlementLineMonetarySummation', [value('ram:LineTotalAmount', net.toFixed(2))]) : '',
    object(line.object),
    group('ram:ReceivableSpecifiedTradeAccountingAccount', [value('ram:ID', accounting)])
  ])
}
