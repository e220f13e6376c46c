import { createFairSemaphore } from '@dispatch/common'
import { CompiledQuery, Kysely, type KyselyPlugin, PostgresDialect, PostgresDriver, type Transaction } from 'kysely'
import { Beginning } from './beginning.ts'
import { type Connections, limitsWithin, type TimeLimits } from './connections.ts'
import type { StoredTables } from './tables.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/** Queries inside one company's transaction: row-level security bounds what they see. */
export type CompanyQueries = Transaction<StoredTables>

type Run = <T>(companyId: number, work: (queries: CompanyQueries) => Promise<T>) => Promise<T>

/** The transactions of companies on one server. */
export type CompanyTransactions = {
  queries: Kysely<StoredTables>
  /** Runs work when the company has a connection free: at most half of all are one company's, and one is kept for those that have none. */
  share: <T>(companyId: number, work: () => Promise<T>) => Promise<T>
  company: Run
  /** Read-only: all queries see the same state of the database. */
  snapshot: Run
}

/** `connections`: how many there are; `plugins`: what sees all queries; `time` replaces the clock of the database. */
type Options = {
  connections: number
  limits: TimeLimits
  through: 'server' | 'pooler'
  plugins: KyselyPlugin[]
  time?: (() => Date) | undefined
}

export function companyTransactions (pool: Connections, { connections, limits, through, plugins, time }: Options): CompanyTransactions {
  const queries = new Kysely<StoredTables>({ dialect: unbegun(pool), plugins })
  const shares = createFairSemaphore({
    waiting: Infinity,
    timeLimit: limits.connect,
    perOwner: Math.ceil(connections / 2),
    total: connections,
    full: () => new DatabaseUnavailable('busy')
  })
  // What a session has by itself, a transaction through a pooler sets for itself.
  const bounds = through === 'server'
    ? ''
    : Object.entries(limitsWithin(limits)).map(([name, milliseconds]) => `; set local ${name} = ${milliseconds}`).join('')
  /**
   * Reads find few rows by an index of the company. The planner would often rather read the newest rows of all companies, as it does not
   * know that a company may have none among them. With this, it believes that rows found by an index lie as near as those of the table.
   */
  const byIndex = { random_page_cost: '0.1' }
  const beginningWith = (begin: string, more: Readonly<Record<string, string>> = {}): Run => {
    const fixed = { ...more, role: 'dispatch_company' }
    const settings = `select ${Object.entries(fixed).map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')}, ` +
      'set_config(\'app.company\', $1, true), set_config(\'app.moment\', $2, true)'
    const fixedPlain = Object.entries(fixed).map(([name, value]) => `set local ${name} = ${value}`).join('; ')
    return (companyId, work) =>
      shares.run(companyId, () =>
        queries.transaction().execute(async (transaction) => {
          // Several commands in one message take no parameters, so the number stands in the text.
          if (!Number.isSafeInteger(companyId)) throw new TypeError('The id of a company is a whole number.')
          const moment = time === undefined ? 'now' : time().toISOString()
          const plain = `${begin}; ${fixedPlain}; set local app.company = '${companyId}'; set local app.moment = '${moment}'${bounds}`
          // A pooler has no prepared statements.
          const kept = through === 'server' ? [new Beginning(begin, settings, [String(companyId), moment], plain)] : []
          await transaction.executeQuery(CompiledQuery.raw(plain, kept))
          return work(transaction)
        }))
  }
  return {
    queries,
    share: (companyId, work) => shares.run(companyId, work),
    company: beginningWith('begin'),
    snapshot: beginningWith('begin isolation level repeatable read read only', byIndex)
  }
}

/** A dialect that sends no BEGIN of its own: the first statement of a transaction begins it, which saves a message. */
function unbegun ({ healthy: pool }: Connections): PostgresDialect {
  const dialect = new PostgresDialect({ pool })
  dialect.createDriver = () => Object.assign(new PostgresDriver({ pool }), { beginTransaction: () => Promise.resolve() })
  return dialect
}
