/** The rules of the kit, with the name under which a violation is reported. */
export const conformanceRules = {
  manifest: 'The folder is a provider for this core: it loads, and its manifest is valid.',
  quiet: 'Loading it and reading its manifest makes no network request.',
  titles:
    'Every setting has a title, because the settings become a form; all of its choices, or none. In a language of `x-texts` all have ' +
    'theirs, or none.',
  required: 'Settings without a required field are refused.',
  secret: 'An empty secret is refused.',
  credentials: 'Every setting with which the provider signs in or signs is a Secret().',
  fixtures: 'The fixtures are valid; every service has an accepted one.',
  shown: 'What a provider declares that it can do is shown by an accepted dispatch, and what a dispatch shows is declared.',
  foreseen: 'A validation also refuses what the provider itself refuses; it does not refuse accepted dispatches.',
  replay: 'A dispatch runs exactly as its fixture says: the requests to the vendor, and the outcome.',
  sandbox: 'A dispatch in a sandbox has a fixture of its own, which is required for a sandbox of the kind flag.',
  outcome: 'Whatever the fault of a request, the dispatch has the right outcome.',
  checkpoint: 'The checkpoint comes before the request that cannot be repeated.',
  mapped: 'Every code of errors.map becomes its word.',
  refusals: 'Each pattern of errors.refusals is shown by a fixture in which the vendor refuses with it.',
  once: 'The provider itself does not repeat a request that may have been accepted.',
  key: 'A repeated attempt sends the same idempotency key; another attempt sends another key.',
  found: 'The look-up finds an accepted dispatch, and reports any other one as absent.',
  late: 'A late acceptance leaves the outcome uncertain, and never "not accepted" before the declared delay has passed.',
  blind: 'A look-up whose request fails has no result, and does not report "absent"; nor does a directory know nobody, or nothing come.',
  question: 'A query to the vendor runs exactly as its fixture says.',
  cancel:
    'Fixtures show a cancellation that the vendor accepts and one that it refuses; whichever request of it fails, the outcome is right.',
  said: 'Fixtures show what is said later and what the vendor does not take; whichever request of it fails, the outcome is right.',
  directed: 'Fixtures show whom the vendor\'s directory knows, and whom it does not.',
  incoming: 'Fixtures show e-invoices that have come and the file of one, and that nothing has come.',
  subscribed:
    'Fixtures show that a webhook is registered, registered again and taken back; whichever request of it fails, the outcome is right.',
  checked: 'A check of the credentials only reads; a 401 means that they fail, an unreachable vendor that they cannot be checked.',
  suggested:
    'Fixtures show the values that the vendor has for a setting; asking only reads, and the form of the settings takes each of them.',
  tenants: 'Two tenants at the same time never see each other\'s settings.',
  carried: 'A document that the vendor makes carries the fields that are declared for it, and no others.',
  values: 'Awkward values reach the vendor unharmed, in one of its spellings, or a validation refuses them.',
  varied: 'Two values of a field, a choice or a setting never reach the vendor as the same, unless it is declared as ignored or refused.',
  placed: 'A place to sign is where it was asked for, on a page of any size.',
  fresh: 'What is asked of the vendor depends on the call alone: a module keeps nothing of an earlier one.',
  sandboxed: 'What is sent in a sandbox does not reach the vendor\'s production.',
  withdrawn: 'A draft of a refused dispatch is taken back.',
  proved: 'An invoice that the vendor has made otherwise, or not at all, does not count as accepted.',
  plain: 'Every return value is plain JSON.',
  arguments: 'The provider does not change its arguments.',
  ends: 'An aborted call ends.',
  secrets: 'No secret appears in logs, errors, answers or on the console.',
  hosts: 'Only declared hosts are called, and only through the context.',
  contained: 'The provider itself uses no environment, files, DNS, sockets, processes or threads, and does not end the process.',
  floating: 'No promise is rejected unhandled, and no timer throws.',
  globals: 'The provider does not change globals or their prototypes.',
  documents: 'A document of any size is sent completely.',
  signed: 'An event that the vendor itself has signed is verified.',
  webhook: 'An event of the vendor is verified, and its content is that of its fixture.',
  words: 'Every word of the vendor that is declared stands in a fixture, and gives its delivery status.',
  unknown: 'An unknown word is stored as unknown.',
  forged: 'An event that the vendor did not sign for this configuration is refused.',
  repeated: 'The content of an event is the same each time, in any order.',
  malformed: 'The schema refuses an event of another shape, which has no effect.'
} as const

/** The name of a rule. */
export type ConformanceRule = keyof typeof conformanceRules

/** The result of one check. `why`: the fault, or the reason for which it was skipped. */
export type Case = { rule: ConformanceRule, name: string, status: 'passed' | 'failed' | 'skipped', why?: string }

export type ConformanceReport = { provider: string, cases: readonly Case[] }

/** A case that passes when there are no faults. */
export function judged (rule: ConformanceRule, name: string, faults: readonly string[]): Case {
  return faults.length === 0
    ? { rule, name, status: 'passed' }
    : { rule, name, status: 'failed', why: faults.slice(0, maxFaults).join('\n') }
}

export function skipped (rule: ConformanceRule, name: string, why: string): Case {
  return { rule, name, status: 'skipped', why }
}

const maxFaults = 8

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
