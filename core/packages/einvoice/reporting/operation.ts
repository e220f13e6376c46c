import type { Decimal } from '@dispatch/common'
import { isUnionCountry } from '../model/country.ts'
import type { EInvoiceModel, Identifier, Party, TaxGroup, Text } from '../model/model.ts'
import type { SalesCategory } from './report.ts'

/** What an invoice is about (`operationNature`). */
export type Nature = 'GOODS' | 'SERVICES' | 'MIXED'

/** How an invoice is reported: alone, because its customer is a business abroad; with those of its day; or not at all, and why. */
export type Operation =
  | { as: 'invoice' | 'sale', isAssumed?: true }
  | { as: 'none', because: 'domestic' | 'out_of_scope' | 'customer_unidentified' }

/** Who is a business, and where, decides. A treatment (a note with the code BAR) is what the seller says of it. */
export function operationOf ({ notes, customer }: EInvoiceModel): Operation {
  const treatment = notes.find(({ code }) => code === 'BAR')?.text
  if (treatment === 'OUTOFSCOPE' || treatment === 'ARCHIVEONLY') return { as: 'none', because: 'out_of_scope' }
  if (treatment === 'B2C' || treatment === 'B2CINT') return { as: 'sale' }
  if (treatment === 'B2BINT') return { as: 'invoice' }
  if (treatment === 'B2B' || sirenOf(customer) !== undefined) return { as: 'none', because: 'domestic' }
  const isBusiness = customer.vatId !== undefined || customer.taxId !== undefined || customer.registration !== undefined
  // A French business without a SIREN is no consumer: whether its platform reports it, nobody can say.
  if (isFrance(customer.address.country)) return isBusiness ? { as: 'none', because: 'customer_unidentified' } : { as: 'sale' }
  return isBusiness ? { as: 'invoice' } : { as: 'sale', isAssumed: true }
}

/** The SIREN of a party: as such, in a SIRET, or in a French VAT number. */
export function sirenOf ({ registration, ids, vatId }: Party): string | undefined {
  const numbered = [registration, ...ids].find((one) => one?.scheme === '0002' || one?.scheme === '0009')
  return /^\d{9}/.exec(numbered?.id ?? '')?.[0] ?? /^FR..(\d{9})$/.exec(vatId ?? '')?.[1]
}

/** Overseas departments count as France, and Monaco is French for VAT. */
const french = new Set(['FR', 'GP', 'MQ', 'RE', 'GF', 'YT', 'MC'])
const isFrance = (country: Text): boolean => country === undefined || french.has(country)

/** How a business abroad is named: TT-36, TT-37. Undefined where its data do not say enough. */
export function foreignId ({ name, vatId, registration, ids, address: { country = '' } }: Party): Identifier | undefined {
  const given = [registration, ...ids].find((one) => ['0223', '0227', '0228', '0229'].includes(one?.scheme ?? ''))
  if (given !== undefined) return { id: given.id, scheme: given.scheme }
  if (isUnionCountry(country)) return vatId === undefined ? undefined : { id: vatId, scheme: '0223' }
  if (country === 'NC' && /^\d{9,10}$/.test(registration?.id ?? '')) return { id: registration?.id ?? '', scheme: '0228' }
  if (country === 'PF' && /^\d{9}$/.test(registration?.id ?? '')) return { id: registration?.id ?? '', scheme: '0229' }
  return name === undefined || country === '' ? undefined : { id: country + name.slice(0, 16).trim(), scheme: '0227' }
}

/** Exemptions of which nothing is reported: care, teaching, insurance and banking (CGI 261 A to E). */
const unreported = /^VATEX-(FR-CGI261|EU-13[25])/
/** The exemption codes of margin schemes: an invoice does not state the amount of the margin. */
const margins = new Set(['VATEX-EU-D', 'VATEX-EU-F', 'VATEX-EU-I', 'VATEX-EU-J'])

/** The category of sales for a group of VAT; or why it is none. */
export function categoryOf ({ category, exemption }: TaxGroup, nature: 'GOODS' | 'SERVICES'): SalesCategory | 'exempt' | 'margin' {
  if (unreported.test(exemption?.code ?? '')) return 'exempt'
  if (margins.has(exemption?.code ?? '')) return 'margin'
  if (category === 'O') return 'TNT1'
  return nature === 'GOODS' ? 'TLB1' : 'TPS1'
}

/** Whether VAT is due when such a service is paid: not where the customer owes it, or where none is due in France. */
export function isTaxedWhenPaid ({ category, exemption }: TaxGroup): boolean {
  return ['S', 'Z', 'E'].includes(category) && !unreported.test(exemption?.code ?? '') && !margins.has(exemption?.code ?? '')
}

/** The seller has chosen to owe VAT from the day of the invoice on (BT-8: 5 in CII, 3 in UBL): its payments are not reported. */
export function isTaxedWhenInvoiced ({ taxPointCode = '' }: EInvoiceModel): boolean {
  return ['3', '5'].includes(taxPointCode)
}

/** As a rate is written in a report: 20, 5.5. */
export function rateText (rate: Decimal): string {
  return rate.toFixed()
}
