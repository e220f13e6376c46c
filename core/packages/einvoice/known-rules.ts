import { type EInvoiceProfile, profiles } from './model/profiles.ts'
import { peppolContent, sharedContent, ublContent } from './parse/content.ts'
import { bans, ciiStructure, germanStructure, peppolStructure, sharedStructure, ublStructure,
  xrechnungStructure } from './parse/structure-tables.ts'
import { baseAdvice, baseRules, ruleSets } from './rules/check.ts'
import { statedRules } from './rules/stated-sums.ts'

export type Severity = 'fatal' | 'warning'

/** The ids of all rules that a file of a profile and a syntax is held against, with how much they weigh. */
export function knownRules (profile: EInvoiceProfile, syntax: 'UBL' | 'CII'): Map<string, Severity> {
  const sets = profiles[profile].rules.map((name) => ruleSets[name])
  const isStrict = profile === 'PEPPOL' || profile === 'XRECHNUNG'
  const structure = [
    ...syntax === 'UBL' ? ublStructure : ciiStructure,
    ...profile === 'XRECHNUNG' ? xrechnungStructure[syntax] : [],
    ...syntax === 'UBL' ? ublContent : [],
    ...isStrict ? [...sharedStructure[syntax], ...sharedContent[syntax]] : [],
    ...profile === 'PEPPOL' ? [...peppolStructure, ...germanStructure, ...peppolContent] : []
  ]
  const fatal = [
    ...[...baseRules, ...sets.flatMap(({ rules }) => rules), ...structure].map(({ id }) => id),
    ...statedRules,
    ...syntax === 'CII' ? bans.flatMap(({ names }) => names.map(([id]) => id)) : [],
    ...isStrict ? ['PEPPOL-EN16931-R008', 'PEPPOL-EN16931-R130'] : [],
    ...profile === 'PEPPOL' ? ['PEPPOL-EN16931-R051'] : []
  ]
  const warnings = [...baseAdvice, ...sets.flatMap(({ advice }) => advice)].map(({ id }) => id)
  return new Map([
    ...warnings.map((id): [string, Severity] => [id, 'warning']),
    ...fatal.map((id): [string, Severity] => [id, 'fatal'])
  ])
}
