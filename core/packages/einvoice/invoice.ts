import { type Decimal, isRecord, type JsonObject, Money, type Problem } from '@dispatch/common'
import { amount, listField, textField } from './model/fields.ts'
import { type EInvoiceFormat, type EInvoiceProfile, profiles, reaches } from './model/profiles.ts'
import { isCountedIn } from './model/sub-lines.ts'
import { modelOf } from './read/read.ts'
import { checkEInvoice } from './rules/check.ts'
import { eInvoiceOf } from './write/write.ts'

/** Data that cannot become an e-invoice of the profile, with every rule that they break. */
export class BrokenInvoice extends Error {
  override name = 'BrokenInvoice'
  readonly problems: readonly Problem[]

  constructor (problems: readonly Problem[]) {
    super(`The invoice breaks ${problems.length} rules: ${problems.slice(0, 3).map(({ code, path }) => `${code} at ${path}`).join(', ')}`)
    this.problems = problems
  }
}

/** The problems of data in a profile, and what it warns of. The format is UBL for PEPPOL and CII for others, unless told. */
export function checkInvoice (
  data: JsonObject,
  profile: EInvoiceProfile,
  format: EInvoiceFormat = usualFormat(profile)
): { problems: Problem[], warnings: Problem[] } {
  return checkEInvoice({ ...data, eInvoiceProfile: profile }, { format, currency: undefined }, '')
}

/** The XML of data in a profile, in the same format as {@link checkInvoice}. Throws {@link BrokenInvoice} for what the rules refuse. */
export function writeInvoice (data: JsonObject, profile: EInvoiceProfile, format: EInvoiceFormat = usualFormat(profile)): string {
  const { problems } = checkInvoice(data, profile, format)
  if (problems.length > 0) throw new BrokenInvoice(problems)
  return eInvoiceOf({ ...data, eInvoiceProfile: profile }, { format, currency: undefined }).xml
}

/**
 * The data of a file that was read, as its profile can write them again, and a format that the profile has. Sums are left out: they are
 * computed anew. A specification that extends the profile may say more: of its lines those stay that count, and none stands below another
 * one. A profile without lines stands in a PDF, whose page has some: one for each category and rate of VAT.
 */
export function rewritable ({ data, profile, format }: { data: JsonObject, profile: EInvoiceProfile, format: EInvoiceFormat }): {
  data: JsonObject
  format: EInvoiceFormat
} {
  const { formats, level } = profiles[profile]
  const { subtotal: _subtotal, taxAmount: _taxAmount, total: _total, ...own } = data
  if (!reaches(level, 'BASIC')) {
    const { taxes: _taxes, allowances: _allowances, charges: _charges, ...rest } = own
    return { data: { ...rest, lines: linesOfTaxes(data) }, format: 'FACTUR_X' }
  }
  const written = formats.includes(format) ? format : 'CII'
  const lines = reaches(level, 'EXTENDED') ? listField(data, 'lines') : listField(data, 'lines').filter(isCountedIn).map(alone)
  return { data: { ...own, lines, ...paymentIn(data, written) }, format: written }
}

const hundred = new Money(100)

/** A line for each category and rate of VAT, with the number of the invoice. Without them, the rate is what the sums make it. */
function linesOfTaxes (data: JsonObject): JsonObject[] {
  const line = (price: Decimal): JsonObject => ({
    description: textField(data, 'number') ?? '',
    quantity: price.isNegative() ? -1 : 1,
    unitPrice: price.abs().toFixed()
  })
  const taxes = listField(data, 'taxes')
  if (taxes.length === 0) {
    const tax = amount(data, 'taxAmount') ?? new Money(0)
    const base = (amount(data, 'total') ?? new Money(0)).sub(tax)
    const rate = tax.isZero() || base.isZero() ? undefined : tax.div(base).mul(hundred).toDecimalPlaces(1)
    return [{ ...line(base), ...rate !== undefined && { taxRate: rate.toFixed() } }]
  }
  return taxes.map((given) => {
    const { category, rate, reason, reasonCode } = given
    return {
      ...line(amount(given, 'base') ?? new Money(0)),
      ...category !== undefined && { taxCategory: category },
      ...rate !== undefined && { taxRate: rate },
      ...reason !== undefined && { taxExemptionReason: reason },
      ...reasonCode !== undefined && { taxExemptionCode: reasonCode }
    }
  })
}

/** A line without its place among others. */
function alone ({ parentLine: _parent, lineType: _type, ...line }: JsonObject): JsonObject {
  return line
}

/** The payment without a mandate and a card that its means do not use. */
function paymentIn (data: JsonObject, format: EInvoiceFormat): JsonObject {
  const { payment: given } = data
  if (!isRecord(given)) return {}
  const { payment } = modelOf(data, { format, currency: undefined })
  const { mandate, card, ...others } = given
  return {
    payment: {
      ...others,
      ...payment?.mandate !== undefined && mandate !== undefined && { mandate },
      ...payment?.card !== undefined && card !== undefined && { card }
    }
  }
}

function usualFormat (profile: EInvoiceProfile): EInvoiceFormat {
  return profiles[profile].formats.find((format) => format === 'CII') ?? 'UBL'
}
