import type { ErrorWord } from '../contract/errors.ts'
import type { Log } from '../host/call/log.ts'
import { idAt, type RequestRow } from '../store/tenants/request-log.ts'

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
  at: Date
}

/** Gathers requests in memory, and writes them a batch at a time. */
export type RequestLog = {
  /** Costs no more than an object in memory; no request waits for the log. */
  add: (request: AnsweredRequest) => void
  /** Writes what is left. */
  close: () => Promise<void>
}

type Options = {
  write: (rows: readonly RequestRow[]) => Promise<void>
  log: Pick<Log, 'warn'>
  /** The most requests that wait in memory; what comes beyond them is lost, and counted. */
  most?: number
  /** The most requests of one statement. */
  batch?: number
  /** Milliseconds for which requests are gathered. */
  pause?: number
}

/** Nothing runs while no request comes. A batch that could not be written is tried again with the next. */
export function createRequestLog ({ write, log, most = 10_000, batch = 500, pause = 1_000 }: Options): RequestLog {
  const waiting: RequestRow[] = []
  let lost = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined

  async function writeSome (least: number): Promise<void> {
    while (waiting.length >= least) {
      const rows = waiting.slice(0, batch)
      await write(rows)
      waiting.splice(0, rows.length)
    }
    if (lost > 0) log.warn({ lost }, 'the request log lacks requests: they came faster than they could be written')
    lost = 0
  }

  function begin (least: number): Promise<void> {
    writing ??= writeSome(least).catch((error: unknown) => {
      log.warn({ err: error, waiting: waiting.length }, 'the request log could not be written')
    }).finally(() => {
      writing = undefined
      if (waiting.length > 0) schedule()
    })
    return writing
  }

  function schedule (): void {
    timer ??= setTimeout(() => {
      timer = undefined
      void begin(1)
    }, pause).unref()
  }

  return {
    add (request) {
      if (waiting.length >= most) {
        lost++
        return
      }
      waiting.push(rowOf(request))
      if (waiting.length === batch) void begin(batch)
      else schedule()
    },

    async close () {
      await writing
      await begin(1)
      clearTimeout(timer)
    }
  }
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
