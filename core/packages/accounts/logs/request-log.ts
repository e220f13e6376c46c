import type { ErrorWord } from '@dispatch/contract'
import { idAt } from '@dispatch/database'
import type { RequestRow } from '../store/request-log.ts'
import { type BatchLog, type BatchOptions, createBatchLog } from './batch-log.ts'
import { type LogBudgetOptions, withinBudget } from './log-budget.ts'

/** A request that was answered. `at` and `milliseconds`: when it was answered, and how long that took. */
export type AnsweredRequest = {
  companyId: number
  userId: number
  impersonatorId?: number | undefined
  keyId?: string | undefined
  requestId: string
  method: string
  route: string
  path: string
  status: number
  error: ErrorWord | null
  milliseconds: number
  address: string
  /** A key for tests was used, or it was about the test environments of vendors. */
  test: boolean
  at: Date
}

export type RequestLog = BatchLog<AnsweredRequest>

/** A log of requests, which no request waits for. `budget`: what each company may fill; undefined: as much as comes. */
export function createRequestLog (options: BatchOptions<RequestRow>, budget?: LogBudgetOptions): RequestLog {
  const log = createBatchLog('the request log', rowOf, options)
  if (budget === undefined) return log
  return withinBudget('requests', log, ({ companyId, at, method, route, path, requestId, status }) => ({
    companyId,
    at,
    bytes: route.length + path.length + requestId.length,
    subject: `${method} ${route}`,
    result: String(status)
  }), budget)
}

/** The log where none is kept. */
export const noRequestLog: RequestLog = { add: () => undefined, close: () => Promise.resolve() }

function rowOf ({ companyId, userId, impersonatorId, keyId, requestId, at, ...request }: AnsweredRequest): RequestRow {
  return {
    entry_id: idAt(at.getTime()),
    company_id: companyId,
    user_id: userId,
    impersonator_id: impersonatorId ?? null,
    key_id: keyId ?? null,
    request_id: requestId,
    ...request
  }
}
