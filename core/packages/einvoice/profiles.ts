import type { JsonObject, Problem } from '@dispatch/common'
import { type EInvoiceFormat, type EInvoiceProfile, eInvoiceProfiles, profiles } from './model/profiles.ts'
import { checkEInvoice, rulesFor } from './rules/check.ts'
import { eInvoiceOf } from './write/write.ts'

/** How much a rule weighs: a broken one that is an error prevents the e-invoice. */
export type RuleSeverity = 'error' | 'warning'

/** Data in one profile and format: the rules that they break and those that they pass, and the XML where nothing prevents it. */
export type ProfileReport = {
  profile: EInvoiceProfile
  format: EInvoiceFormat
  /** That of a FACTUR_X is the one inside. */
  xml?: string
  broken: (Problem & { severity: RuleSeverity })[]
  passed: { code: string, severity: RuleSeverity }[]
}

/** Which profiles and formats are reported. Left out, all. */
export type ProfileChoice = { profile?: EInvoiceProfile | undefined, format?: EInvoiceFormat | undefined }

/** What data are in each profile, and each format that it has. `base`: where the data stand; `currency`: as in a reading. */
export function reportProfiles (
  data: JsonObject,
  currency: string | undefined,
  { profile: desired, format: only }: ProfileChoice = {},
  base = ''
): ProfileReport[] {
  return eInvoiceProfiles.filter((profile) => desired === undefined || profile === desired).flatMap((profile) =>
    profiles[profile].formats.filter((format) => only === undefined || format === only)
      .map((format) => reportOf({ ...data, eInvoiceProfile: profile }, { profile, format, currency, base }))
  )
}

type Place = { profile: EInvoiceProfile, format: EInvoiceFormat, currency: string | undefined, base: string }

function reportOf (data: JsonObject, { profile, format, currency, base }: Place): ProfileReport {
  const reading = { format, currency }
  const { problems, warnings } = checkEInvoice(data, reading, base)
  const broken = [
    ...problems.map((problem) => ({ ...problem, severity: 'error' as const })),
    ...warnings.map((problem) => ({ ...problem, severity: 'warning' as const }))
  ]
  const { required, advised } = rulesFor(data, reading)
  const isPassed = (code: string): boolean => !broken.some((one) => one.code === code)
  return {
    profile,
    format,
    ...(problems.length === 0 ? { xml: eInvoiceOf(data, reading).xml } : {}),
    broken,
    passed: [
      ...required.filter(isPassed).map((code) => ({ code, severity: 'error' as const })),
      ...advised.filter((code) => isPassed(code) && !required.includes(code)).map((code) => ({ code, severity: 'warning' as const }))
    ]
  }
}
