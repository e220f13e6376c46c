/**
 * `@dispatch/conformance`: the kit that every provider passes, and the vendor that it plays. Knows no test framework.
 */
export { runConformance } from './conformance.ts'
export { countOf, formatReport, rules, type Case, type Rule } from './report.ts'
export { createAuthority } from './vendor/certificates.ts'
export type { Received } from './vendor/requests.ts'
