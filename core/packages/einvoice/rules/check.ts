import { at, compile, type JsonObject, type Problem } from '@dispatch/common'
import { textField } from '../model/fields.ts'
import type { EInvoiceModel } from '../model/model.ts'
import { hasCustomerTaxId, hasProcess, isProfile, profiles, reaches, type RuleSet } from '../model/profiles.ts'
import { termAt, unsayable } from '../model/terms.ts'
import { totalsOf } from '../model/totals.ts'
import { modelOf, type Reading } from '../read/read.ts'
import { codeRules } from './codes.ts'
import { coreAdvice, coreRules } from './core.ts'
import { frenchAdvice, frenchRules, isFrench } from './france.ts'
import { germanAdvice, nationalAdvice, nationalRules } from './national.ts'
import { paymentAdvice, paymentRules } from './payment.ts'
import { peppolAdvice, peppolRules, sharedRules } from './peppol.ts'
import { type EInvoiceRule, notInProfiles, only, rule, type RuleInput, type RuleSetting } from './rule.ts'
import { lineAdvice, partsAdvice, sharedTotalsRules, totalsRules } from './totals.ts'
import { vatRules } from './vat.ts'
import { xrechnungAdvice, xrechnungRules } from './xrechnung.ts'

/** The rules of EN 16931, whose violation prevents an e-invoice of every profile. */
export const baseRules: readonly EInvoiceRule[] = [
  ...coreRules,
  ...vatRules,
  ...totalsRules,
  ...codeRules,
  ...paymentRules,
  ...only(['CII'], notInProfiles(['BASIC_WL', 'BASIC', 'EXTENDED', 'EXTENDED_CTC_FR'], [
    rule('BG-3', '/precedingInvoices', 'CII D16B can name one earlier invoice only; FACTUR_X and UBL can name several.',
      ({ invoice }: { invoice: EInvoiceModel }) => invoice.precedingInvoices.length <= 1)
  ]))
]

/** All rules whose violation is only a warning. */
export const baseAdvice: readonly EInvoiceRule[] = [
  ...coreAdvice,
  ...lineAdvice,
  ...partsAdvice,
  ...paymentAdvice,
  ...germanAdvice
]

/** The rules that profiles add: those whose violation prevents the e-invoice, and those that only warn. */
export const ruleSets: Readonly<Record<RuleSet, { rules: readonly EInvoiceRule[], advice: readonly EInvoiceRule[] }>> = {
  peppol: { rules: [...peppolRules, ...sharedRules, ...sharedTotalsRules], advice: peppolAdvice },
  peppolNational: { rules: nationalRules, advice: nationalAdvice },
  xrechnung: { rules: xrechnungRules, advice: xrechnungAdvice },
  france: { rules: frenchRules, advice: frenchAdvice }
}

const fits = compile({ $ref: 'dispatch:invoice' })

/**
 * Checks the data of an e-invoice before anything is made or sent: against the vocabulary, then with every rule of its profile. The code of
 * a problem is the id of the rule; its path is the place in the data below `base`.
 */
export function checkEInvoice (data: JsonObject, reading: Reading, base: string): { problems: Problem[], warnings: Problem[] } {
  const fit = fits(data, base)
  const misfits = fit.ok ? [] : fit.problems
  const invoice = modelOf(data, reading)
  const subject = { invoice, totals: totalsOf(invoice), format: reading.format, data }
  const { required, advised } = rulesOf(invoice, reading)
  // A value of the wrong type has already been reported. The rules would report it as missing.
  const isNews = ({ path }: Problem): boolean => !misfits.some((misfit) => `${path}/`.startsWith(`${misfit.path}/`))
  const lost = lostOf(subject, base)
  const broken = (known: readonly EInvoiceRule[]): Problem[] => brokenIn(known, subject, base)
  return {
    problems: [...misfits, ...[...broken(required), ...unfit(data, reading, base), ...lost.problems].filter(isNews)],
    warnings: [...broken(advised), ...lost.warnings]
  }
}

type Rules = { required: readonly EInvoiceRule[], advised: readonly EInvoiceRule[] }

/** The rules that an invoice is held against: those whose violation prevents it, and those that only warn. */
function rulesOf (invoice: EInvoiceModel, { format, rules }: Reading): Rules {
  const { profile } = invoice
  const french = isFrench(invoice) ? rules === 'FRANCE' ? 'required' : 'advised' : 'apart'
  return knownRules[`${profile} ${format} ${french}`] ??= rulesIn({ profile, format }, french)
}

const knownRules: Record<string, Rules> = {}

/** The rules of a setting. `french`: what those of French platforms are for the invoice, beside its profile. */
function rulesIn (setting: RuleSetting, french: French): Rules {
  const { required, advised } = setsOf(setting, french)
  const applying = (rules: readonly EInvoiceRule[]): EInvoiceRule[] => rules.filter(({ applies }) => applies?.(setting) !== false)
  return {
    required: applying([...baseRules, ...required.flatMap(({ rules }) => rules)]),
    advised: applying([
      ...baseAdvice,
      ...required.flatMap(({ advice }) => advice),
      ...advised.flatMap(({ rules, advice }) => [...rules, ...advice])
    ])
  }
}

/** The ids of the rules that data are held against, each once; as in {@link checkEInvoice}. */
export function rulesFor (data: JsonObject, reading: Reading): { required: string[], advised: string[] } {
  const { required, advised } = rulesOf(modelOf(data, reading), reading)
  const ids = (rules: readonly EInvoiceRule[]): string[] => [...new Set(rules.map(({ id }) => id))]
  return { required: ids(required), advised: ids(advised) }
}

type Sets = readonly (typeof ruleSets)[RuleSet][]
/** Between French parties the rules of French platforms are advice, unless whoever transmits the invoice requires them. */
type French = 'required' | 'advised' | 'apart'

function setsOf ({ profile }: RuleSetting, french: French): { required: Sets, advised: Sets } {
  const required = profiles[profile].rules.map((name) => ruleSets[name])
  if (required.includes(ruleSets.france) || french === 'apart') return { required, advised: [] }
  return french === 'required' ? { required: [...required, ruleSets.france], advised: [] } : { required, advised: [ruleSets.france] }
}

/**
 * What is broken. What the data leave out and the profile cannot say, no rule asks for: but the page of a Factur-X says everything, and the
 * sums of a profile without lines are made of them, unless they are stated.
 */
function brokenIn (known: readonly EInvoiceRule[], subject: RuleInput, base: string): Problem[] {
  const { invoice: { stated, profile }, format, data } = subject
  const isNeeded = (place: string): boolean =>
    stated === undefined && (format === 'FACTUR_X' || /^\/lines(\/|$)/.test(place) || at(data, place) !== undefined)
  const isSaid = (place: string): boolean => isNeeded(place) || reaches(profiles[profile].level, termAt(place)?.level ?? 'MINIMUM')
  const problems: Problem[] = []
  for (const { id, message, broken } of known) {
    for (const place of broken(subject)) if (isSaid(place)) problems.push({ path: base + place, code: id, message })
  }
  return problems
}

/** A profile that the format does not have. */
function unfit ({ eInvoiceProfile: named }: JsonObject, { format }: Reading, base: string): Problem[] {
  if (!isProfile(named) || profiles[named].formats.includes(format)) return []
  return [{
    path: `${base}/eInvoiceProfile`,
    code: 'not_supported',
    message: `${named} is a profile of ${profiles[named].formats.join(', ')}, not of ${format}.`
  }]
}

/**
 * What the data say and the XML cannot. The page of a Factur-X without lines is the invoice, and its XML tells some of it: there it is a
 * warning, as it is where nobody named the profile. A rounding is one of the summands of the amount due.
 */
function lostOf (
  { invoice: { profile, customer: { taxId } }, format, data }: RuleInput,
  base: string
): { problems: Problem[], warnings: Problem[] } {
  const { level } = profiles[profile]
  const terms = unsayable(data, level)
  const businessProcess = textField(data, 'businessProcess')
  const other = businessProcess === undefined || hasProcess(profile, businessProcess) ? [] : [{ id: 'BT-23', at: '/businessProcess' }]
  const lostAt = ({ id, at }: { id: string, at: string }): Problem => ({
    path: base + at,
    code: 'not_in_profile',
    message: id === 'BT-154'
      ? `The profile ${profile} says one text of a line: leave the name out, and the description (BT-154) is the name.`
      : `The profile ${profile} cannot say this (${id}): leave it out, or choose a profile that can.`
  })
  const lost = [...terms, ...other].map(lostAt)
  const isPage = format === 'FACTUR_X' && !reaches(level, 'BASIC')
  const isAdvice = ({ path }: Problem): boolean =>
    (data['eInvoiceProfile'] === undefined && termAt(path.slice(base.length))?.level !== 'EXTENDED') ||
    (isPage && (level === 'MINIMUM' || path !== `${base}/roundingAmount`))
  const { problems = [], warnings = [] } = Object.groupBy(lost, (one) => isAdvice(one) ? 'warnings' : 'problems')
  // It is no term of EN 16931, and there have always been data with it.
  const isUnsaid = taxId !== undefined && !hasCustomerTaxId(profile, format)
  return { problems, warnings: [...warnings, ...isUnsaid ? [lostAt({ id: 'tax number', at: '/customer/taxId' })] : []] }
}
