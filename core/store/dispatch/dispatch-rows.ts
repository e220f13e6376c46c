import type { Database, OwnerQueries } from '@dispatch/database'
import type { RawBuilder } from 'kysely'
import type { RetentionBatch, RetentionOf } from './retention.ts'

/** Forgets a batch of what is old enough; answers how many rows that were. `of`: of a company alone, where it is given. */
export type Forget = (database: Database, batch: RetentionBatch & { now: Date, of?: RetentionOf }) => Promise<number>

/**
 * What a feature keeps of dispatches in tables of its own. It goes with its dispatch, and is emptied where the data of that are. `theirs`
 * is a condition on `dispatch_id`, and where it may be on `company_id`; a row of `dispatches` is in reach where none is given.
 */
export type DispatchRows = {
  /** A value that changes with what is kept of the dispatch: who follows that is told. */
  mark: RawBuilder<unknown>
  /** A statement with a row for each thing that is unfinished: the dispatch stays as long. */
  unfinished: RawBuilder<unknown>
  /** What is deleted with dispatches, as `table where …`; what refers to others first. */
  rowsOf: (theirs: RawBuilder<unknown>) => readonly RawBuilder<unknown>[]
  /** Empties what is kept of these dispatches of a person; answers how much of each kind. `names`: whether a text names the person. */
  erase: (
    queries: OwnerQueries,
    erasing: { companyId: number, ids: readonly string[], names: (text: RawBuilder<unknown>) => RawBuilder<boolean> }
  ) => Promise<Readonly<Record<string, number>>>
  /** What is forgotten by its age, by the words of the log. */
  forget: Readonly<Record<string, Forget>>
}
