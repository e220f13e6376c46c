import { type Presence, presenceKey, readPresences } from '@dispatch/accounts'
import type { Log } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { DispatchRows } from '../store/dispatch/dispatch-rows.ts'
import { readMarks, readStatuses, type StatusRow } from '../store/dispatch/marks.ts'

/**
 * Notifies those who wait for a change, whichever process makes it. All who wait in a process share three queries every second; nobody
 * holds a connection meanwhile. Each function calls back with the present state first, and returns the function that ends it.
 */
export type Changes = {
  /** Follows the status of a dispatch, its timeline and what features keep of it. */
  ofDispatch: (dispatchId: string, changed: () => void) => () => void
  /** Follows the statuses of the company's newest dispatches: calls back with those that are new or have another status. */
  ofCompany: (companyId: number, changed: (statuses: readonly StatusRow[]) => void) => () => void
  /** Calls back when somebody's session has ended, or their user is disabled. */
  ofPresence: (presence: Presence, over: () => void) => () => void
}

/** Milliseconds between two polls. */
export const pollInterval = 1000

/** `dispatchRows`: what features keep of dispatches. `pause`: milliseconds between two polls. */
type Options = { database: Database, dispatchRows: readonly Pick<DispatchRows, 'mark'>[], log: Log, pause?: number }

/**
 * Follows changes of dispatches, of companies and of who is present, each kind by one query for all who follow. `pause`: milliseconds
 * between two of them.
 */
export function createChanges ({ database, dispatchRows, log, pause = pollInterval }: Options): Changes {
  const failed = (error: unknown): void => log.warn({ err: error }, 'changes cannot be read; the next poll follows')
  const dispatches = createPoll((ids: readonly string[]) => readMarks(database, ids, dispatchRows), { pause, failed })
  const companies = createPoll(async (ids: readonly number[]) => Map.groupBy(await readStatuses(database, ids), (row) => row.company_id), {
    pause,
    failed
  })
  const presences = createPoll((keys: readonly string[]) => readPresences(database, keys), { pause, failed })
  return {
    ofPresence: (presence, over) =>
      presences(presenceKey(presence), (stays) => {
        if (!stays) over()
      }),

    ofDispatch (dispatchId, changed) {
      let seen: string | undefined
      return dispatches(dispatchId, (mark) => {
        if (mark === seen) return
        seen = mark
        changed()
      })
    },
    ofCompany (companyId, changed) {
      let seen = new Map<string, string>()
      return companies(companyId, (rows) => {
        const other = rows.filter((row) => seen.get(row.dispatch_id) !== row.status)
        seen = new Map(rows.map((row) => [row.dispatch_id, row.status]))
        if (other.length > 0) changed(other)
      })
    }
  }
}

/** Reads the states of all keys that are waited for, again and again while there are any. */
export function createPoll<Key, State> (
  read: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, State>>,
  { pause, failed }: { pause: number, failed: (error: unknown) => void }
): (key: Key, tell: (state: State) => void) => () => void {
  const waiting = new Map<symbol, { key: Key, tell: (state: State) => void }>()
  let timer: NodeJS.Timeout | undefined
  let polling = false

  async function poll (): Promise<void> {
    clearTimeout(timer)
    polling = true
    try {
      const states = await read([...new Set([...waiting.values()].map(({ key }) => key))])
      for (const { key, tell } of [...waiting.values()]) {
        const state = states.get(key)
        if (state !== undefined) tell(state)
      }
    } catch (error) {
      failed(error)
    }
    polling = false
    if (waiting.size > 0) timer = setTimeout(() => void poll(), pause).unref()
  }

  return (key, tell) => {
    const waiter = Symbol('waiter')
    waiting.set(waiter, { key, tell })
    if (!polling) void poll()
    return () => {
      waiting.delete(waiter)
      if (waiting.size === 0) clearTimeout(timer)
    }
  }
}
