/**
 * `@dispatch/common`: the parts that the packages and the core share: JSON and its problems, schema checks, currencies and money,
 * semaphores, time limits, observations.
 */

// JSON values: types, limits, problems.
export { inspectJson, jsonLimits, pointer, type Json, type JsonObject, type Problem } from './json.ts'
export { isRecord, ownField } from './records.ts'
export { at, listOf, placesAt, spaced, textAt, textOf } from './data.ts'
export { canonicalJson } from './canonical-json.ts'
export { nullIsAbsence, nullMembers, withoutMembers, withoutNulls } from './nulls.ts'
export { hasMoreValues, isDeeper, maxValues } from './json-size.ts'

// Checks with a JSON Schema.
export { checkWith, compile, compileJsonSchema, compileOutsideSchema, compileQuery, createAjv, boundedValidator } from './schema.ts'
export type { Fit, Validator } from './validator.ts'
export { stringFormats } from './formats.ts'
export { patternFault } from './patterns.ts'
export { didYouMean, problemsOf } from './problems.ts'
export { vocabularies } from './vocabulary.ts'

// What is sealed under the master key.
export { createKeyring, type Envelope, type Keyring, SealError } from './keyring.ts'

// Counts.
export { sumOfCounts, type Counts } from './counts.ts'

// Money.
export { Money, decimalOf, isDecimal, roundedTo, withoutNoise, type Decimal } from './money.ts'
export { grossAmount, halfUnit, lineTolerance, shareOf, slack, type Priced } from './invoice-amounts.ts'
export { currencies, isCurrency, minorDigits } from './currencies.ts'

// Texts with a form: cells of CSV, days, e-mail addresses, postal addresses, languages, UUIDs, the normal forms of Unicode.
export { csvCell, delimiterOf } from './csv.ts'
export { dayOf, midnightOf } from './day.ts'
export { asciiDomain, asciiMailbox, comparable, hasAsciiLocalPart, isAscii, isPlainAddress, isSender, readMailbox,
  type Mailbox } from './mailbox.ts'
export { addressFormOf, postalCodeCountries } from './address-forms.ts'
export { comparablePostalCode, examplePostalCode, readPostalCode } from './postal-code.ts'
export { placeLine, type Place } from './place-line.ts'
export { canonicalLanguage, lookupLanguage } from './language.ts'
export { isUuid, uuidOf } from './uuid.ts'
export { normalForm } from './normal-form.ts'
export { shortened } from './shortened.ts'
export { withoutDirectionControls } from './direction-controls.ts'

// What a log line is written with.
export { logWith, type Log } from './log.ts'
export { errorMessageOf } from './error-message.ts'

// Schemas of fields that requests, answers and services share.
export { CountryCode, DocumentHandle, EmailAddress, LanguageCode, LanguageTag, isUnseen, Line, Lines, oneLine, Uuid, withoutControls,
  type NoDocument } from './fields.ts'
export { TurnedAway } from './turned-away.ts'

// Concurrency: batches, permits, time limits, results that are computed once.
export { createBatcher, type Batcher } from './batcher.ts'
export { SemaphoreFull, createFairSemaphore, type FairSemaphore, type Permit } from './fair-semaphore.ts'
export { createRecentOthers, type RecentOthers } from './recent-others.ts'
export { createRecent } from './recent.ts'
export { lazy, lazyUnlessFailed, once } from './once.ts'
export { withReports } from './reported.ts'
export { turnLimit, withDeadline, withinTurns, withTimeLimit } from './time-limit.ts'
export { memoizeByIdentity } from './memoize.ts'

// What happens inside of a process, for whoever measures it.
export { isObserved, observe, onObservation, secondsSince, type Observations } from './observations.ts'
