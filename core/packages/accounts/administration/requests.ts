import type { LogCountView, RequestView } from '@dispatch/contract'
import { type Database, timeOf } from '@dispatch/database'
import { listLogCounts } from '../store/log-counts.ts'
import { listRequests, type RequestFilter, type RequestRow } from '../store/request-log.ts'

/** A page of the requests of a company, the newest first. */
export async function readRequestLog (
  database: Database,
  companyId: number,
  filter: RequestFilter,
  page: { limit: number, after?: string }
): Promise<RequestView[]> {
  return (await listRequests(database, companyId, filter, page)).map(viewOf)
}

/** The most counts that are read. */
const maxCounts = 100

/** How many requests of a company the logs have not kept, the newest first. */
export async function readLogCounts (database: Database, companyId: number): Promise<LogCountView[]> {
  return (await listLogCounts(database, companyId, maxCounts)).map(({ log, hour, subject, result, count }) => ({
    log: log === 'exchanges' ? log : 'requests',
    from: hour.toISOString(),
    subject,
    result,
    count
  }))
}

function viewOf (row: RequestRow): RequestView {
  return {
    id: row.entry_id,
    at: timeOf(row.entry_id).toISOString(),
    requestId: row.request_id,
    method: row.method,
    route: row.route,
    path: row.path,
    status: row.status,
    ...(row.error === null ? {} : { error: row.error }),
    milliseconds: Math.round(row.milliseconds * 10) / 10,
    author: {
      userId: row.user_id,
      ...(row.impersonator_id === null ? {} : { impersonatorId: row.impersonator_id }),
      ...(row.key_id === null ? {} : { keyId: row.key_id })
    },
    // Companies do not see the addresses of the platform's operators.
    ...(row.impersonator_id === null ? { address: row.address } : {})
  }
}
