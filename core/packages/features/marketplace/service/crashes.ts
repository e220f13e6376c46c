import type { Log } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { recordCrash } from '../store/adapters.ts'

/** Counts the crashes of the processes of a package. */
export function crashCounter ({ database, log }: { database: Database, log: Log }, integrity: string): (why: string) => void {
  return (why) =>
    void recordCrash(database, { integrity, why }).catch((err: unknown) => {
      log.warn({ err }, 'the crash of an adapter could not be recorded')
    })
}
