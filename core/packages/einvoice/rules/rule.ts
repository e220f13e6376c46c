import { type JsonObject, memoizeByIdentity } from '@dispatch/common'
import { ciiCountries, countryCodes } from '../model/codes.ts'
import type { AllowanceCharge, EInvoiceLine, EInvoiceModel, Party } from '../model/model.ts'
import { type EInvoiceFormat, type EInvoiceProfile, eInvoiceProfiles } from '../model/profiles.ts'
import type { Totals } from '../model/totals.ts'

/** The input of the rules. `data` is the source of the invoice. */
export type RuleInput = { invoice: EInvoiceModel, totals: Totals, format: EInvoiceFormat, data: JsonObject }

/**
 * One rule of EN 16931 or of a specification that builds on it: its id, what would be right, and the places where the data break it (JSON
 * pointers; empty if they do not).
 */
export type EInvoiceRule = {
  id: string
  message: string
  broken: (subject: RuleInput) => readonly string[]
  /** For which profiles and formats it is; without it, for all. */
  applies?: (setting: RuleSetting) => boolean
}

/** What decides which rules an invoice is held against. */
export type RuleSetting = { profile: EInvoiceProfile, format: EInvoiceFormat }

/** A rule about one place. */
export function rule (id: string, at: string, message: string, holds: (subject: RuleInput) => boolean): EInvoiceRule {
  return { id, message, broken: (subject) => holds(subject) ? [] : [at] }
}

/** A rule about each of several parts. */
export function ruleOfEach<Part> (
  id: string,
  message: string,
  parts: (subject: RuleInput) => readonly Part[],
  at: (part: Part) => string,
  holds: (part: Part, subject: RuleInput) => boolean
): EInvoiceRule {
  return { id, message, broken: (subject) => parts(subject).filter((part) => !holds(part, subject)).map((part) => at(part)) }
}

/** A rule about each line. The field is the place of the problem. */
export function ruleOfLines (
  id: string,
  field: string,
  message: string,
  holds: (line: EInvoiceLine, subject: RuleInput) => boolean
): EInvoiceRule {
  return ruleOfEach(id, message, ({ invoice }) => invoice.lines, ({ at }) => at + field, holds)
}

/** A rule about each allowance or charge of one kind, of the invoice or of its lines. */
export function ruleOfAdjustments (
  id: string,
  of: 'invoice' | 'lines',
  kind: AllowanceCharge['kind'],
  field: string,
  message: string,
  holds: (adjustment: AllowanceCharge, subject: RuleInput) => boolean
): EInvoiceRule {
  const all = ({ invoice }: RuleInput): readonly AllowanceCharge[] => of === 'invoice' ? invoice.adjustments : adjustmentsOfLines(invoice)
  return ruleOfEach(id, message, (subject) => all(subject).filter((adjustment) => adjustment.kind === kind), ({ at }) => at + field, holds)
}

const adjustmentsOfLines = memoizeByIdentity(({ lines }: EInvoiceModel): readonly AllowanceCharge[] =>
  lines.flatMap(({ adjustments }) => adjustments)
)

/** The allowances and charges of the invoice, and those of its lines. */
export const allAdjustments = memoizeByIdentity(
  (invoice: EInvoiceModel): readonly AllowanceCharge[] => [...invoice.adjustments, ...adjustmentsOfLines(invoice)]
)

/** The countries that a format permits. */
export function countriesIn (format: EInvoiceFormat): ReadonlySet<string> {
  return format === 'UBL' ? countryCodes : ciiCountries
}

/** The seller and the customer with their places. */
export function parties ({ invoice }: Pick<RuleInput, 'invoice'>): { party: Party, at: string }[] {
  return [{ party: invoice.seller, at: '/seller' }, { party: invoice.customer, at: '/customer' }]
}

/** The rules for the profiles to which they apply. */
export function inProfiles (names: readonly EInvoiceProfile[], rules: readonly EInvoiceRule[]): EInvoiceRule[] {
  return rules.map((known) => where(known, ({ profile }) => names.includes(profile)))
}

/** The rules for every other profile. */
export function notInProfiles (names: readonly EInvoiceProfile[], rules: readonly EInvoiceRule[]): EInvoiceRule[] {
  return inProfiles(eInvoiceProfiles.filter((name) => !names.includes(name)), rules)
}

/** The rules for the formats to which they apply. */
export function only (formats: readonly EInvoiceFormat[], rules: readonly EInvoiceRule[]): EInvoiceRule[] {
  return rules.map((known) => where(known, ({ format }) => formats.includes(format)))
}

function where (known: EInvoiceRule, applies: NonNullable<EInvoiceRule['applies']>): EInvoiceRule {
  return { ...known, applies: (setting) => applies(setting) && known.applies?.(setting) !== false }
}
