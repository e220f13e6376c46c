import { listProcesses } from '@dispatch/core/source'
import type { Database } from '@dispatch/database'
import { templateLanguage } from '@dispatch/documents'

/** Milliseconds for which an answer is used again. */
const usedFor = 2_000

/** Reads the newest version of the language of templates that every living process can read. */
export async function readCommonLanguage (database: Database): Promise<number> {
  return Math.min(templateLanguage, ...(await listProcesses(database)).map((process) => process.templateLanguage))
}

/** The same as of the last two seconds. Those who ask meanwhile share one query. `clock`: milliseconds. */
export function followCommonLanguage (database: Database, clock: () => number = () => performance.now()): () => Promise<number> {
  let [last, since]: [Promise<number> | undefined, number] = [undefined, 0]
  return () => {
    if (last !== undefined && clock() - since < usedFor) return last
    const read = readCommonLanguage(database)
    ;[last, since] = [read, clock()]
    read.catch(() => {
      if (last === read) last = undefined
    })
    return read
  }
}
