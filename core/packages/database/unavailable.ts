import pg from 'pg'
import { type Destination, explainFailure, messageOf } from './connection-failure.ts'

/**
 * Why the database does not work: it cannot be reached (`away`), it is read-only, a lock or a statement took too long (`busy`), or it was
 * put back to an earlier moment, and what it has not surely done is not marked yet (`restored`).
 */
export type Unavailability = 'away' | 'read-only' | 'busy' | 'restored'

const sentences: Readonly<Record<Unavailability, string>> = {
  away: 'The database cannot be reached.',
  'read-only': 'The database takes no changes: it is a standby, or set to read-only.',
  busy: 'The database took too long: others have what is needed, or there is too much to do.',
  restored: 'The database was restored from a backup: nothing is begun before all that it may have done since is marked.'
}

/**
 * A statement failed because of the database, not because of the request: a later try may succeed. `uncertain`: no answer came, so the
 * statement may have been executed.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
  readonly reason: Unavailability
  readonly uncertain: boolean
  /** The SQLSTATE, or the code of the connection's error. */
  readonly code: string
  /** Why a connection could not be opened, and what helps. For operators: it names the server and its user. */
  readonly why?: string

  constructor (reason: Unavailability, { cause, uncertain = false, why }: { cause?: unknown, uncertain?: boolean, why?: string } = {}) {
    super(sentences[reason], { cause })
    this.reason = reason
    this.uncertain = uncertain
    this.code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (why !== undefined) this.why = why
  }
}

/**
 * SQLSTATEs, and classes of them, that mean a fault of the server and not of the statement (PostgreSQL, appendix A). A whole code counts
 * first.
 */
const states: Readonly<Record<string, Unavailability>> = {
  // Connection exceptions; a server that shuts down, starts, has failed or ends a connection; resources and disks that ran out.
  '08': 'away',
  53: 'away',
  57: 'away',
  58: 'away',
  '25P03': 'away',
  '25P04': 'away',
  25006: 'read-only',
  // A lock or a statement that took too long; deadlocks and serialization failures.
  '55P03': 'busy',
  57014: 'busy',
  40: 'busy',
  // Of `calls.follow`.
  DC503: 'restored'
}

/** Translates the error of a statement, where it means a fault of the database. Any other error is returned as it is. */
export function statementError (error: unknown): unknown {
  if (error instanceof DatabaseUnavailable || error instanceof TypeError) return error
  // No answer came: the connection has failed, and the statement may have been executed.
  if (!(error instanceof pg.DatabaseError)) return new DatabaseUnavailable('away', { cause: error, uncertain: true })
  const { code = '' } = error
  const reason = states[code] ?? states[code.slice(0, 2)]
  return reason === undefined ? error : new DatabaseUnavailable(reason, { cause: error })
}

/** Translates the error of a connection that could not be opened: no statement was sent. */
export function connectionError (cause: unknown, to: Destination): DatabaseUnavailable {
  return new DatabaseUnavailable('away', { cause, why: explainFailure(cause, to) })
}

/** Why the database cannot be used, and what helps: one sentence for an operator. */
export function whyUnusable (error: unknown): string {
  return error instanceof DatabaseUnavailable ? error.why ?? messageOf(error.cause ?? error) : messageOf(error)
}
