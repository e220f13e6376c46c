import { isRecord } from '@dispatch/common'

/**
 * How a company looks and who it is, in all of its documents. `logo`: a picture as a data URI; colours are `#rrggbb`. What is left out is
 * the template's own. `seller` and `bankDetails` have the names that they have in the data of invoices.
 */
export type Brand = {
  logo?: string
  accent?: string
  muted?: string
  text?: string
  font?: 'sans' | 'serif' | 'mono'
  seller?: Partial<Record<typeof sellerFields[number], string>>
  bankDetails?: Partial<Record<typeof accountFields[number], string>>
}

const sellerFields = ['name', 'contact', 'email', 'phone', 'address', 'addressLine2', 'postalCode', 'city', 'region', 'country', 'vatId',
  'legalForm', 'taxId'] as const
const accountFields = ['accountHolder', 'iban', 'account', 'bic', 'bank'] as const

/** The names that a template with `brand: true` reads below `brand`. */
export const brandNames: Readonly<Record<string, readonly string[]>> = {
  logo: [],
  accent: [],
  muted: [],
  text: [],
  font: [],
  seller: sellerFields,
  bankDetails: accountFields
}

/** The brand as expressions read it: what the company has not said is null, and no error. */
export function brandValues (brand: Brand): Record<string, unknown> {
  const given: Readonly<Record<string, unknown>> = brand
  return Object.fromEntries(Object.entries(brandNames).map(([name, fields]) => {
    const value = given[name] ?? null
    if (fields.length === 0) return [name, value] as const
    const known: Readonly<Record<string, unknown>> = isRecord(value) ? value : {}
    return [name, Object.fromEntries(fields.map((field) => [field, known[field] ?? null] as const))] as const
  }))
}

/** The brand that was put into a template; an empty one where the company has none. Undefined for a template that takes no brand. */
export function brandOf ({ brand }: { brand?: true | Brand }): Brand | undefined {
  return brand === true ? {} : brand
}
