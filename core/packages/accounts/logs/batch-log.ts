import type { Log } from '@dispatch/common'
import { DatabaseUnavailable } from '@dispatch/database'

/** Gathers rows in memory, and writes them a batch at a time. */
export type BatchLog<Entry> = {
  /** Costs no more than an object in memory; nothing waits for the log. */
  add: (entry: Entry) => void
  /** Writes what is left. */
  close: () => Promise<void>
}

export type BatchOptions<Row> = {
  write: (rows: readonly Row[]) => Promise<void>
  log: Pick<Log, 'warn'>
  /** The most rows that wait in memory; what comes beyond them is lost, and counted. */
  max?: number
  /** The most rows of one statement. */
  batch?: number
  /** Milliseconds for which rows are gathered. */
  pause?: number
}

/**
 * A log of this name. Nothing runs while nothing comes. A batch that could not be written, because the database is
 * away, is tried again with the next; one that it refuses is lost.
 */
export function createBatchLog<Entry, Row> (
  name: string,
  rowOf: (entry: Entry) => Row,
  { write, log, max = 10_000, batch = 500, pause = 1_000 }: BatchOptions<Row>
): BatchLog<Entry> {
  const waiting: Row[] = []
  let lost = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined

  async function writeSome (least: number): Promise<void> {
    while (waiting.length >= least) {
      const rows = waiting.slice(0, batch)
      await write(rows).catch((error: unknown) => {
        if (error instanceof DatabaseUnavailable) throw error
        // The rows themselves are refused, and would be again.
        log.warn({ err: error, lost: rows.length }, `${name} lacks entries: the database refused them`)
      })
      waiting.splice(0, rows.length)
    }
    if (lost > 0) log.warn({ lost }, `${name} lacks entries: they came faster than they could be written`)
    lost = 0
  }

  function begin (least: number): Promise<void> {
    writing ??= writeSome(least).catch((error: unknown) => {
      log.warn({ err: error, waiting: waiting.length }, `${name} could not be written`)
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
    add (entry) {
      if (waiting.length >= max) {
        lost++
        return
      }
      waiting.push(rowOf(entry))
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
