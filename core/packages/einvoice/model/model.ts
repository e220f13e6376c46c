import type { Decimal } from '@dispatch/common'
import type { EInvoiceProfile } from './profiles.ts'

/**
 * An invoice in the terms of EN 16931-1, with the fields that its data have. Texts are trimmed and never empty, dates are YYYY-MM-DD,
 * amounts are decimals. `at` is the place of a part in the data, as a JSON pointer.
 */
export type EInvoiceModel = {
  profile: EInvoiceProfile
  /** UNTDID 1001. */
  type: string
  isCreditNote: boolean
  number: Text
  date: Text
  dueDate: Text
  taxPointDate: Text
  taxPointCode: Text
  currency: string
  taxCurrency: Text
  taxCurrencyAmount: Decimal | undefined
  businessProcess: Text
  references: References
  precedingInvoices: readonly { number: string, date: Text }[]
  notes: readonly Note[]
  seller: Party
  customer: Party
  payee: Payee | undefined
  taxRepresentative: { name: Text, vatId: Text, address: PartyAddress } | undefined
  delivery: { name: Text, date: Text, location: Identifier | undefined, address: PartyAddress } | undefined
  period: Period | undefined
  payment: Payment | undefined
  /** Ways to pay with other means, which only the extended profiles have. */
  otherPayments: readonly Payment[]
  paymentTerms: Text
  attachments: readonly Attachment[]
  lines: readonly EInvoiceLine[]
  adjustments: readonly AllowanceCharge[]
  /** Why no VAT is due, by category. */
  exemptions: Readonly<Partial<Record<string, Exemption>>>
  prepaid: Decimal | undefined
  rounding: Decimal | undefined
  /** The sums that the data state, where they and the profile have no lines to compute them from. */
  stated: StatedTotals | undefined
}

/** Sums of an invoice without lines. Without `taxes` the profile says no more of VAT than its sum. */
export type StatedTotals = Record<'lines' | 'tax' | 'total' | 'due', Decimal> & { taxes: readonly TaxGroup[] }

export type Text = string | undefined
export type Identifier = { id: string, scheme: Text }
/** `at`: its place below the party. */
export type PlacedIdentifier = Identifier & { at: string }
export type Period = { start: Text, end: Text }
export type Note = { code: Text, text: string }
export type Exemption = { code: Text, reason: Text }
export type Payee = { name: Text, id: Identifier | undefined, registration: Identifier | undefined }
export type PartyAddress = Record<'line1' | 'line2' | 'line3' | 'city' | 'postalCode' | 'region' | 'country', Text>
export type References =
  & Record<'buyer' | 'order' | 'salesOrder' | 'project' | 'contract' | 'receipt' | 'despatch' | 'tender' | 'accounting', Text>
  & { object: Identifier | undefined }
export type Attachment = Record<'description' | 'url' | 'content' | 'mediaType' | 'filename', Text> & { id: string }

export type Party = Record<'name' | 'tradingName' | 'vatId' | 'taxId' | 'legalForm', Text> & {
  address: PartyAddress
  contact: Record<'name' | 'phone' | 'email', Text> | undefined
  ids: readonly PlacedIdentifier[]
  registration: Identifier | undefined
  electronicAddress: Identifier | undefined
}

export type Account = Record<'iban' | 'other' | 'holder' | 'bic', Text>

export type Payment = {
  /** UNTDID 4461. */
  means: string
  text: Text
  reference: Text
  account: Account | undefined
  /** Further accounts to which the same means transfers. */
  otherAccounts: readonly Account[]
  mandate: Record<'reference' | 'creditorId' | 'account', Text> | undefined
  card: { number: string, holder: Text } | undefined
}

/** The rate in percent; undefined for category O, which is not subject to VAT. The category is '' if the data do not give it. */
export type Tax = { category: string, rate: Decimal | undefined }

/** The VAT of one category and rate (BG-23). */
export type TaxGroup = Tax & { base: Decimal, amount: Decimal, exemption: Exemption | undefined }

/**
 * An allowance (deducted) or a charge (added), of a line or of the whole invoice. The amount is not signed: the kind gives the direction.
 */
export type AllowanceCharge = {
  at: string
  kind: 'allowance' | 'charge'
  amount: Decimal | undefined
  percent: Decimal | undefined
  base: Decimal | undefined
  reason: Text
  reasonCode: Text
  tax: Tax
}

/** What a line is among those above and below it (BT-X-8). */
export type LineType = 'DETAIL' | 'GROUP' | 'INFORMATION'

export type EInvoiceLine = {
  at: string
  id: string
  /** The id of the line above it. */
  parent: Text
  type: LineType | undefined
  name: Text
  description: Text
  note: Text
  quantity: Decimal | undefined
  unit: string
  price: Decimal | undefined
  grossPrice: Decimal | undefined
  priceDiscount: Decimal | undefined
  priceQuantity: Decimal | undefined
  /** The gross price is for this many, where it is another quantity. */
  grossPriceQuantity: Decimal | undefined
  /** The amount that the data give; otherwise it is computed. */
  stated: Decimal | undefined
  /** A group has the sum of the lines below it. */
  net: Decimal
  tax: Tax
  adjustments: readonly AllowanceCharge[]
  period: Period | undefined
  orderLine: Text
  accounting: Text
  object: Identifier | undefined
  sellerItemId: Text
  buyerItemId: Text
  standardItemId: Identifier | undefined
  classifications: readonly { code: string, list: string, version: Text }[]
  origin: Text
  attributes: readonly { name: string, value: string }[]
}
