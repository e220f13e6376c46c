import { type AuditAuthor, platform } from '@dispatch/accounts'
import { DispatchError, refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { DeletionBody, DeletionView, Obstacle } from '../contract/deletions.ts'
import { addDeletion, findDeletion, listDeletions } from '../store/deletions.ts'
import { countHeld, type Held } from '../store/leaving.ts'
import type { DeletionRow } from '../store/tables.ts'

/** Companies that leave for good, with all that is theirs. */
export type Deletions = {
  /** What would be deleted and what is in the way, or how far it is. Undefined where there never was such a company. */
  find: (companyId: number) => Promise<DeletionView | undefined>
  /** `after`: the id of the company behind which the page begins. */
  list: (page: { limit: number, after?: number | undefined }) => Promise<DeletionView[]>
  /**
   * Begins. Undefined where there is no such company. Throws `validation_failed` where another name is given, and `conflict` where
   * something is in the way.
   */
  begin: (author: AuditAuthor, companyId: number, body: DeletionBody) => Promise<DeletionView | undefined>
}

export const deletions = token<Deletions>('companyDeletions')

const reasons: Readonly<Record<Obstacle, string>> = {
  platform: 'it is the company of the operators themselves',
  not_disabled: 'it is not disabled',
  dispatches_under_way: 'dispatches of it are queued, running or in doubt, or a step of one is tried again',
  credits_held: 'dispatches of it hold credits, because nobody knows yet what became of them'
}

/**
 * Begins and follows the deletion of companies. Throws `validation_failed` unless the name is repeated; `conflict` where something stands
 * against it, or where it has begun.
 */
export function createDeletions ({ database, now }: { database: Database, now: () => Date }): Deletions {
  return {
    async find (companyId) {
      const row = await findDeletion(database, companyId)
      if (row !== undefined) return viewOf(row)
      const held = await countHeld(database, companyId)
      return held && planOf(companyId, held)
    },

    list: async (page) => (await listDeletions(database, page)).map(viewOf),

    async begin (author, companyId, { name }) {
      const held = await countHeld(database, companyId)
      if (held === undefined) return undefined
      if (held.name !== name) {
        throw refusal('validation_failed', [{
          path: '/name',
          code: 'another_name',
          message: `The company ${companyId} has another name: give it as GET /api/v1/companies/${companyId} tells it.`
        }])
      }
      const check = (found: Held): void => {
        const [obstacle] = obstaclesOf(companyId, found)
        if (obstacle !== undefined) throw new DispatchError('conflict', `The company cannot be deleted: ${reasons[obstacle]}.`)
      }
      check(held)
      const row = await addDeletion(database, { companyId, name, author, at: now() }, check)
      if (row === undefined) throw new DispatchError('conflict', 'The company is just being deleted.', { reason: 'being_done' })
      return viewOf(row)
    }
  }
}

function obstaclesOf (companyId: number, { disabled, running, held }: Held): Obstacle[] {
  const found: Record<Obstacle, boolean> = {
    platform: companyId === platform.companyId,
    not_disabled: !disabled,
    dispatches_under_way: running > 0,
    credits_held: held > 0
  }
  return (Object.keys(found) as Obstacle[]).filter((one) => found[one])
}

function planOf (companyId: number, held: Held): DeletionView {
  const { name, users, dispatches, documents, credits } = held
  const obstacles = obstaclesOf(companyId, held)
  return {
    companyId,
    name,
    status: obstacles.length === 0 ? 'possible' : 'impossible',
    obstacles,
    counts: { users, dispatches, documents, credits },
    askedBy: null,
    askedAt: null,
    finishedAt: null,
    receipt: null,
    sha256: null
  }
}

function viewOf (row: DeletionRow): DeletionView {
  return {
    companyId: row.former_company,
    name: row.name,
    status: row.stage === 'finished' ? 'finished' : 'running',
    obstacles: [],
    counts: { ...row.counts },
    askedBy: row.asked_by,
    askedAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
    receipt: row.receipt,
    sha256: row.sha256
  }
}
