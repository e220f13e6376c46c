/** `@dispatch/conformance`: the kit that every provider must pass, and the test vendor for it. It depends on no test framework. */
export { runConformance } from './conformance.ts'
export { countOf, formatReport, conformanceRules, type Case, type ConformanceReport, type ConformanceRule } from './report.ts'
export { createAuthority } from './vendor/certificates.ts'
export type { ReceivedRequest } from './vendor/requests.ts'
