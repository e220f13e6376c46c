/** `@dispatch/conformance`: the kit that every provider must pass, and the test vendor for it. It depends on no test framework. */

// The kit and its report.
export { runConformance } from './conformance.ts'
export { countOf, formatReport, conformanceRules, type Case, type ConformanceReport, type ConformanceRule } from './report.ts'

// Recording fixtures from a vendor's sandbox.
export { recordFixture, type RecordedCall } from './record/record.ts'

// The test vendor.
export { createAuthority } from './vendor/certificates.ts'
export type { ReceivedRequest } from './vendor/requests.ts'
