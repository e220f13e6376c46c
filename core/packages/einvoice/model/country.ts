import type { EInvoiceModel, Text } from './model.ts'

/** The country of a seller in Peppol's rules: that of its VAT number, of its tax representative's VAT number, or of its address. */
export function sellerCountry ({ seller, taxRepresentative }: EInvoiceModel): Text {
  return (seller.vatId ?? taxRepresentative?.vatId)?.slice(0, 2).toUpperCase() ?? seller.address.country
}

/** Whether the rules for Greek sellers apply to an invoice. VAT numbers call the country EL. */
export function isGreekSeller (invoice: EInvoiceModel): boolean {
  return ['GR', 'EL'].includes(sellerCountry(invoice) ?? '')
}

const union = new Set('AT BE BG CY CZ DE DK EE EL ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK XI'.split(' '))

/** Whether a country is in the European Union for VAT; so is Northern Ireland, for goods. */
export function isUnionCountry (country: string): boolean {
  return union.has(country)
}
