/**
 * `@dispatch/conformance`: the kit that every provider passes, and the vendor that it plays. Knows no test framework.
 */
export { runConformance } from './conformance.ts'
export { countOf, formatReport, conformanceRules, type Case, type ConformanceRule } from './report.ts'
export { createAuthority } from './vendor/certificates.ts'
export type { ReceivedRequest } from './vendor/requests.ts'
