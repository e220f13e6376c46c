/**
 * `@dispatch/common`: the parts that the packages and the core share: JSON and its problems, schema checks, currencies and money,
 * semaphores, time limits.
 */
export { currencies, isCurrency, minorDigits } from './currencies.ts'
export { hasMoreValues, isDeeper, mostValues } from './json-size.ts'
export { inspectJson, pointer, type Json, type JsonObject, type Problem } from './json.ts'
export { asciiDomain, comparable, isAscii, readMailbox } from './mailbox.ts'
export { memoizeByIdentity } from './memoize.ts'
export { Money, decimalOf } from './money.ts'
export { didYouMean, problemsOf } from './problems.ts'
export { checkWith, compile, compileJsonSchema, compileQuery, createAjv, boundedValidator, type Validator, type Fit } from './schema.ts'
export { isRecord, ownField } from './records.ts'
export { SemaphoreFull, createFairSemaphore, createSemaphore, type FairSemaphore } from './semaphore.ts'
export { withDeadline, withTimeLimit } from './time-limit.ts'
export { isUuid } from './uuid.ts'
export { vocabularies } from './vocabulary.ts'
