import { clientsKnownFor, listRetentionRules, type RetentionRule } from '@dispatch/accounts'
import { type Counts, isUuid, type Log, sumOfCounts } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { draftEnding, type FileStore } from '@dispatch/files'
import { before, type Queue } from '@dispatch/queue'
import { listCompanyIds } from '@dispatch/tables'
import pLimit from 'p-limit'
import type { DispatchRows, Forget } from '../store/dispatch/dispatch-rows.ts'
import { forgetDispatches } from '../store/dispatch/forgetting.ts'
import { expireDocuments, forgetClients, forgetExchanges, forgetIdempotencyKeys, forgetInbound, forgetLogCounts, forgetLoggedRequests,
  forgetNotices, forgetRequests, forgetState, listExpiredDocuments, noteRemoved, recordedDocuments } from '../store/dispatch/retention.ts'
import { emptyInbound } from '../store/privacy/events.ts'

/**
 * `retentionDays`: how long the data of requests, events of vendors and what features keep of dispatches are kept, unless a company says
 * shorter. `forgetMonths`: how many whole months dispatches are kept; always unless given. `batch`: how many rows of a kind one job takes.
 */
export type RetentionOptions = {
  database: Database
  queue: Pick<Queue, 'send'>
  files: Pick<FileStore, 'remove' | 'list'>
  retentionDays: number
  forgetMonths?: number | undefined
  /** What features keep of dispatches. */
  dispatchRows: readonly DispatchRows[]
  log: Log
  batch?: number
}

const day = 24 * 3600 * 1000
/** Milliseconds that an idempotency key is kept after the final state of its dispatch. */
const keysKeptFor = day
/** Milliseconds that a request stays in the log. */
const requestsLoggedFor = 7 * day
/** Milliseconds after which no event of a dispatch is expected: signers have up to a year. */
const waitedFor = 366 * day
/** A file without a row is removed when its folder is this many days old. */
const lookedInto = [2, 3, 4]
/** Files that are removed at the same time. */
const removals = 8

/** Deletes what has been kept for long enough, in batches. After a full batch another job goes on. */
export function createRetention ({ database, queue, files, retentionDays, forgetMonths, dispatchRows, log, batch: limit = 1_000 }:
  RetentionOptions
): () => Promise<
  void
> {
  const removing = pLimit(removals)
  const ofFeatures = dispatchRows.flatMap(({ forget }) => Object.entries(forget))

  /** Answers the keys of the files that were removed. The next job tries the others again. */
  async function remove (keys: readonly string[]): Promise<Set<string>> {
    const removed = await Promise.all(keys.map((key) =>
      removing(async () => {
        try {
          await files.remove(key)
          return [key]
        } catch (error) {
          log.warn({ err: error, key }, 'a file could not be removed')
          return []
        }
      })
    ))
    return new Set(removed.flat())
  }

  async function removeExpired (time: Date): Promise<number> {
    const expired = await listExpiredDocuments(database, { before: time, limit })
    const removed = await remove(expired.map(({ storageKey }) => storageKey))
    const gone = expired.filter(({ storageKey }) => removed.has(storageKey)).map(({ documentId }) => documentId)
    if (gone.length > 0) await noteRemoved(database, gone, time)
    return gone.length
  }

  /** Removes files of dispatches that were never recorded, by the day on which they were stored. */
  async function removeAbandoned (time: Date): Promise<number> {
    let abandoned = 0
    for (const companyId of await listCompanyIds(database)) {
      for (const days of lookedInto) {
        const keys = (await files.list(`documents/${companyId}/${before(time, days * day).toISOString().slice(0, 10)}`)).filter(isDocument)
        for (let from = 0; from < keys.length; from += limit) abandoned += await removeUnrecorded(keys.slice(from, from + limit))
      }
    }
    return abandoned
  }

  async function removeUnrecorded (keys: readonly string[]): Promise<number> {
    const recorded = await recordedDocuments(database, keys.map(idOf))
    const { size } = await remove(keys.filter((key) => !recorded.has(idOf(key))))
    return size
  }

  /** What a company keeps for less long than the operator says; answers how many rows there were, at most `max`. */
  async function forgetOwn (time: Date, { companyId, days, services }: RetentionRule, max: number): Promise<number> {
    const old = { before: before(time, days * day), of: { companyId, services, endedBefore: before(time, keysKeptFor) } }
    const hopeless = before(old.before, waitedFor)
    const steps: ((limit: number) => Promise<number>)[] = [
      (limit) => expireDocuments(database, { ...old, limit, now: time }),
      (limit) => forgetRequests(database, { ...old, limit, hopeless }),
      ...ofFeatures.map(([, forget]) => (limit: number) => forget(database, { ...old, limit, now: time })),
      (limit) => emptyInbound(database, { ...old, limit }),
      (limit) => forgetExchanges(database, { ...old, limit })
    ]
    let done = 0
    for (const step of steps) if (done < max) done += await step(max - done)
    return done
  }

  /** The same of all companies that say so, one after the other: a job takes one batch of them together. */
  async function forgetOwned (time: Date): Promise<number> {
    let done = 0
    for (const rule of await listRetentionRules(database, retentionDays)) {
      if (done < limit) done += await forgetOwn(time, rule, limit - done)
    }
    return done
  }

  /** What features keep of dispatches, by the words of the log. */
  async function forgetKept (batch: Parameters<Forget>[1]): Promise<Counts[]> {
    const counts: Counts[] = []
    for (const [name, forget] of ofFeatures) counts.push({ [name]: await forget(database, batch) })
    return counts
  }

  return async () => {
    const time = await database.time()
    const old = { before: before(time, retentionDays * day), limit }
    const first = {
      // The files of documents that it lets expire are removed next.
      owned: await forgetOwned(time),
      documents: await removeExpired(time),
      requests: await forgetRequests(database, { ...old, hopeless: before(old.before, waitedFor) })
    }
    const kept = await forgetKept({ ...old, now: time })
    const last = {
      events: await forgetInbound(database, old),
      keys: await forgetIdempotencyKeys(database, { before: before(time, keysKeptFor), limit }),
      dispatches: forgetMonths === undefined
        ? 0
        : await forgetDispatches(database, { ...forgottenBy(time, { months: forgetMonths, limit }), dispatchRows }),
      logged: await forgetLoggedRequests(database, { before: before(time, requestsLoggedFor), limit }),
      counts: await forgetLogCounts(database, { before: before(time, requestsLoggedFor), limit }),
      exchanges: await forgetExchanges(database, { before: before(time, requestsLoggedFor), limit }),
      state: await forgetState(database, { before: time, limit }),
      notices: await forgetNotices(database, old),
      clients: await forgetClients(database, { before: before(time, clientsKnownFor), limit })
    }
    const batches = [first, ...kept, last]
    const isDone = batches.flatMap((one) => Object.values(one)).every((count) => count < limit)
    if (!isDone) await queue.send('retention', [{ data: {} }])
    // Only the last job of the day does this.
    const abandoned = isDone ? await removeAbandoned(time) : 0
    log.info({ ...sumOfCounts(batches), abandoned }, 'expired data was deleted')
  }
}

/** Dispatches of the months that ended so many whole months ago, by UTC. */
function forgottenBy (time: Date, { months, limit }: { months: number, limit: number }) {
  const end = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() - months, 1))
  return { before: end, hopeless: before(end, waitedFor), limit }
}

function isDocument (key: string): boolean {
  return isUuid(idOf(key))
}

/** The id at the end of a storage key; a draft has an ending after it. */
function idOf (storageKey: string): string {
  const name = storageKey.slice(storageKey.lastIndexOf('/') + 1)
  return name.endsWith(draftEnding) ? name.slice(0, -draftEnding.length) : name
}
