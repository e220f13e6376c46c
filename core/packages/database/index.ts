/**
 * `@dispatch/database`: PostgreSQL for a service that must not lose a commit. The tables come from whoever has them:
 * `@dispatch/database/tables`.
 */
export { createAdvisoryLock, type AdvisoryLock, type LockWait } from './advisory-lock.ts'
export { createDatabaseClock, measureSkew } from './clock-skew.ts'
export { explainFailure, failurePasses, isLostConnection, messageOf } from './connection-failure.ts'
export { connectionSettings, LastingClient, type TimeLimits } from './connections.ts'
export { asOwner, type DatabaseOptions, openDatabase, type CompanyQueries, type Database, type FunctionAnswer,
  type OwnerQueries } from './database.ts'
export { createFreshCache } from './fresh-cache.ts'
export { createFreshness, type Change, type Freshness } from './freshness.ts'
export { addressesOf, AddressError, lastWriterOf } from './hosts.ts'
export { firstIdAt, firstIdOf, idAt, idSkew, timeOf } from './id-times.ts'
export type { Seen } from './life-memory.ts'
export { advanceEpoch, beginLineage, markRestored, readLineage, type Lineage } from './lineage.ts'
export { hasCode } from './own-codes.ts'
export type { ReplicaChange } from './replica.ts'
export { createSharedRun } from './shared-run.ts'
export { addSeconds, type SqlTimestamp } from './sql-timestamp.ts'
export { DatabaseUnavailable, statementError } from './unavailable.ts'
export { isPassingOutage, waitForDatabase } from './wait-for-database.ts'
