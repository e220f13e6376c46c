import type { EInvoiceModel, Text } from './model.ts'

/** The country of a seller as Peppol's rules see it: that of its VAT number, of its tax representative's, or of its address. */
export function sellerCountry ({ seller, taxRepresentative }: EInvoiceModel): Text {
  return (seller.vatId ?? taxRepresentative?.vatId)?.slice(0, 2).toUpperCase() ?? seller.address.country
}

/** Whether an invoice is under the rules of Greek sellers. VAT numbers call the country EL. */
export function isGreekSeller (invoice: EInvoiceModel): boolean {
  return ['GR', 'EL'].includes(sellerCountry(invoice) ?? '')
}
