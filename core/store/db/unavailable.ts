import pg from 'pg'

/**
 * Why nothing can be asked of the database now: it cannot be reached, takes no changes, or somebody else has what is needed for too long.
 */
export type Unavailability = 'away' | 'read-only' | 'busy'

const sentences: Readonly<Record<Unavailability, string>> = {
  away: 'The database cannot be reached.',
  'read-only': 'The database takes no changes: it is a standby, or set to read-only.',
  busy: 'The database took too long: others have what is needed, or there is too much to do.'
}

/**
 * The database did not do what it was asked, through no fault of the request; it may another time. `doubtful`: it may have been done all
 * the same, as no answer came.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
  readonly reason: Unavailability
  readonly doubtful: boolean
  /** The SQLSTATE, or the code of the connection's error. */
  readonly code: string

  constructor (reason: Unavailability, { cause, doubtful = false }: { cause?: unknown, doubtful?: boolean } = {}) {
    super(sentences[reason], { cause })
    this.reason = reason
    this.doubtful = doubtful
    this.code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  }
}

/**
 * SQLSTATEs, and classes of them, that tell of the server and not of the statement (PostgreSQL, appendix A); the longest that fits counts.
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
  40: 'busy'
}

/** What a failed statement tells of the database; an error that is the statement's own stays what it is. */
export function statementError (error: unknown): unknown {
  if (error instanceof DatabaseUnavailable || error instanceof TypeError) return error
  // Without an answer the connection has failed, wherever the statement had come to.
  if (!(error instanceof pg.DatabaseError)) return new DatabaseUnavailable('away', { cause: error, doubtful: true })
  const { code = '' } = error
  const reason = states[code] ?? states[code.slice(0, 2)]
  return reason === undefined ? error : new DatabaseUnavailable(reason, { cause: error })
}

/** What a connection that could not be made tells: nothing was asked yet, whatever the reason. */
export function connectionError (cause: unknown): DatabaseUnavailable {
  return new DatabaseUnavailable('away', { cause })
}
