import type { Decimal } from '@dispatch/common'
import type { AllowanceCharge, EInvoiceModel, Exemption, Identifier, Period, Tax, Text } from '../model/model.ts'
import { group, value, type XmlFragment } from './xml.ts'

/** An amount of money, with two decimals. */
export function money (name: string, amount: Decimal | undefined, { currency }: EInvoiceModel): XmlFragment {
  return value(name, amount?.toFixed(2), { currencyID: currency })
}

/** A price, with all its decimals. */
export function price (name: string, amount: Decimal | undefined, { currency }: EInvoiceModel): XmlFragment {
  return value(name, amount?.toFixed(), { currencyID: currency })
}

export function schemed (name: string, identifier: Identifier | undefined): XmlFragment {
  return value(name, identifier?.id, { schemeID: identifier?.scheme })
}

/** A reference to another document. */
export function ublReference (name: string, id: Text): XmlFragment {
  return group(name, [value('cbc:ID', id)])
}

export function ublPeriod (name: string, given: Period | undefined, taxPointCode?: Text): XmlFragment {
  return group(name, [value('cbc:StartDate', given?.start), value('cbc:EndDate', given?.end), value('cbc:DescriptionCode', taxPointCode)])
}

export const vat = group('cac:TaxScheme', [value('cbc:ID', 'VAT')])

export function taxCategory (name: string, { category, rate }: Tax, exemption?: Exemption): XmlFragment {
  return group(name, [
    value('cbc:ID', category),
    value('cbc:Percent', rate?.toFixed()),
    value('cbc:TaxExemptionReasonCode', exemption?.code),
    value('cbc:TaxExemptionReason', exemption?.reason),
    vat
  ])
}

/** An allowance or charge. On a line it has the line's VAT, and states none. */
export function ublAllowanceCharge (
  { kind, reasonCode, reason, percent, amount, base, tax }: AllowanceCharge,
  invoice: EInvoiceModel,
  on?: 'line'
): XmlFragment {
  return group('cac:AllowanceCharge', [
    value('cbc:ChargeIndicator', String(kind === 'charge')),
    value('cbc:AllowanceChargeReasonCode', reasonCode),
    value('cbc:AllowanceChargeReason', reason),
    value('cbc:MultiplierFactorNumeric', percent?.toFixed()),
    money('cbc:Amount', amount, invoice),
    money('cbc:BaseAmount', base, invoice),
    on === 'line' ? '' : taxCategory('cac:TaxCategory', tax)
  ])
}
