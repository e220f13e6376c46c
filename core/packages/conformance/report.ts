/** The rules of the kit, with the name under which a violation is reported. */
export const conformanceRules = {
  manifest: 'The folder is a provider of this core: it loads, and its manifest is valid.',
  quiet: 'Loading it and reading its manifest reaches no network.',
  titles: 'Every setting has a title: the settings become a form.',
  required: 'Settings without a required field are refused.',
  secret: 'An empty secret is refused.',
  fixtures: 'The fixtures can be read and fit; every service has one that is accepted.',
  foreseen: 'What is refused without a word to the vendor is refused by validation; what is accepted is not.',
  replay: 'A fixture is replayed exactly: what is sent to the vendor, and what comes of it.',
  sandbox: 'What a sandbox sends is shown by a fixture of its own; one that the flag alone reaches must be.',
  outcome: 'However one of its requests fails, the dispatch is called what it is.',
  checkpoint: 'The checkpoint stands before the request that cannot be repeated.',
  mapped: 'Every code of errors.map becomes its word.',
  once: 'A request that may have been accepted is not sent again by itself.',
  key: 'The same attempt sends the same idempotency key, another one another.',
  found: 'What was accepted can be looked up, and what was not is absent.',
  late: 'What the vendor accepts late is in doubt until then, and never called "not accepted" before its declared delay has passed.',
  blind: 'A look-up whose question fails finds nothing out, least of all that nothing is there.',
  question: 'A question to the vendor is replayed exactly.',
  cancel:
    'Fixtures show a cancellation that the vendor accepts and one that it refuses; whichever request of it fails, the outcome is right.',
  tenants: 'Two tenants at the same time never see each other\'s settings.',
  plain: 'What it returns is plain JSON.',
  arguments: 'What it is given is left as it was.',
  ends: 'A call that is given up ends.',
  secrets: 'No secret shows in logs, errors, answers or on the console.',
  hosts: 'Only declared hosts are reached, and only by the context.',
  documents: 'A document goes out whole, however large.',
  webhook: 'An event of the vendor is verified, and read as its fixture says.',
  words: 'Every word of the vendor\'s events is read as its status.',
  unknown: 'A word that nobody knows is kept as unknown.',
  forged: 'An event that the vendor did not sign for this configuration is refused.',
  repeated: 'An event reads the same every time, in any order.',
  malformed: 'An event of another shape is refused by the schema and harms nothing.'
} as const

export type ConformanceRule = keyof typeof conformanceRules

/** The result of one check. `why`: the fault, or the reason for which it was skipped. */
export type Case = { rule: ConformanceRule, name: string, status: 'passed' | 'failed' | 'skipped', why?: string }

export type ConformanceReport = { provider: string, cases: readonly Case[] }

/** A case that passes when there are no faults. */
export function judged (rule: ConformanceRule, name: string, faults: readonly string[]): Case {
  return faults.length === 0
    ? { rule, name, status: 'passed' }
    : { rule, name, status: 'failed', why: faults.slice(0, mostFaults).join('\n') }
}

export function skipped (rule: ConformanceRule, name: string, why: string): Case {
  return { rule, name, status: 'skipped', why }
}

const mostFaults = 8

/** The number of cases by result. */
export function countOf ({ cases }: ConformanceReport): Record<Case['status'], number> {
  const count = (status: Case['status']): number => cases.filter((one) => one.status === status).length
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
}

/** The report for a person: failed and skipped cases with their reasons, and the number of passed ones for each rule. */
export function formatReport (report: ConformanceReport): string {
  const { passed, failed, skipped: left } = countOf(report)
  const groups = Object.entries(Object.groupBy(report.cases, ({ rule }) => rule)).map(([rule, cases]) =>
    formatRule(rule as ConformanceRule, cases)
  )
  return [`${report.provider}\n`, ...groups, '', `${passed} passed, ${failed} failed${left > 0 ? `, ${left} left out` : ''}`].join('\n')
}

function formatRule (rule: ConformanceRule, cases: readonly Case[]): string {
  const failed = cases.filter(({ status }) => status === 'failed')
  const passed = cases.filter(({ status }) => status === 'passed')
  const mark = failed.length > 0 ? '✗' : passed.length > 0 ? '✓' : '–'
  const details = cases.filter(({ status }) => status !== 'passed').map(({ status, name, why = '' }) =>
    `    ${status === 'failed' ? '✗' : '–'} ${name}\n${why.replaceAll(/^/gm, '        ')}`
  )
  return [`${mark} ${rule}: ${conformanceRules[rule]} (${passed.length} of ${cases.length})`, ...details].join('\n')
}
