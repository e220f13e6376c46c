import type { JsonObject, Problem } from '@dispatch/common'
import { type EInvoiceFormat, type EInvoiceProfile, profiles } from './model/profiles.ts'
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

function usualFormat (profile: EInvoiceProfile): EInvoiceFormat {
  return profiles[profile].formats.find((format) => format === 'CII') ?? 'UBL'
}
