/**
 * `@dispatch/core/testing`: the conformance kit, which every provider passes, and the vendor that it plays. Knows no test
 * framework.
 */
export { runConformance, type ConformanceOptions } from './testing/conformance.ts'
export { countOf, formatReport, rules } from './testing/report.ts'
export { createVendor, vendorNetwork } from './testing/vendor.ts'
export { createAuthority } from './testing/certificates.ts'

export type { Case, Report, Rule } from './testing/report.ts'
export type { Answer, Script, Vendor } from './testing/vendor.ts'
export type { Received, ReceivedPart } from './testing/requests.ts'
