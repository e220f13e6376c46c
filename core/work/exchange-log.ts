import { type BatchLog, type BatchOptions, createBatchLog, type LogBudgetOptions, withinBudget } from '@dispatch/accounts'
import { idAt } from '@dispatch/database'
import type { EndedCall } from '@dispatch/vendor-io'
import type { ExchangeRow } from '../store/dispatch/exchanges.ts'

/** What providers have asked of their vendors, kept for as long as the log of requests. */
export type ExchangeLog = BatchLog<EndedCall>

/** Its rows are larger than those of requests: fewer of them wait. `budget`: what each company may fill; undefined: as much as comes. */
export function createExchangeLog (options: BatchOptions<ExchangeRow>, budget?: LogBudgetOptions): ExchangeLog {
  const log = createBatchLog('the log of exchanges with vendors', rowOf, { max: 2_000, batch: 100, ...options })
  if (budget === undefined) return log
  return withinBudget('exchanges', log, ({ companyId, at, service, provider, outcome, exchanges }) => ({
    companyId,
    at,
    bytes: exchanges.reduce((sum, exchange) => sum + JSON.stringify(exchange).length, 0),
    subject: `${service} ${provider}`,
    result: outcome
  }), budget)
}

function rowOf ({ companyId, dispatchId, exchanges, at, ...call }: EndedCall): ExchangeRow {
  return { entry_id: idAt(at.getTime()), company_id: companyId, dispatch_id: dispatchId, ...call, exchanges }
}
