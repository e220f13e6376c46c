/**
 * `@dispatch/vendor-io/outcome`: whether a vendor has done what was asked, as far as anybody can know. It imports no network.
 */
export { failureError, failureOf, outcomeUnknown, providerErrors, recipientUnavailable, refused, unavailable, type ErrorPlace,
  type ErrorReading, type Failure, type ProviderErrorWord, type Refusal } from './failure.ts'
export type { LeaseCheck } from './lease-check.ts'
export { createProgress, providerErrorOf, RequestFailure, type CallProgress } from './request-outcome.ts'
