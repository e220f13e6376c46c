import { type Actor, type AuditAuthor, noteAudit } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { maxRules, type RuleBody, type RuleView } from '../contract/rules.ts'
import { addRule, changeRule, listRules, removeRule, type Rule, strangersAmong } from '../store/rules.ts'

type By = { actor: Actor, author: AuditAuthor }

/** The rules by which somebody else has to approve what a company sends. */
export type ApprovalRules = {
  list: (companyId: number) => Promise<RuleView[]>
  /** Throws `validation_failed` for somebody who is not of the company, `conflict` where there are too many. */
  add: (by: By, rule: RuleBody) => Promise<RuleView>
  /** Undefined where there is no such rule. What waits by it goes on waiting. */
  change: (by: By, id: string, rule: RuleBody) => Promise<RuleView | undefined>
  /** The same: what waits goes on waiting. */
  remove: (by: By, id: string) => Promise<boolean>
}

export const approvalRules = token<ApprovalRules>('approvalRules')

/**
 * The rules of companies about what needs an approval. Throws `validation_failed` for a rule that cannot be; `conflict` beyond the most
 * rules of a company, and for one that is removed meanwhile.
 */
export function createApprovalRules ({ database, newId, now }: {
  database: Database
  newId: () => string
  now: () => Date
}): ApprovalRules {
  const change = ({ actor: { companyId }, author }: By, action: string, id: string, rule?: RuleBody, before?: RuleBody) => ({
    companyId,
    author,
    at: now(),
    action: `approval_rule.${action}`,
    object: { kind: 'approval_rule', id },
    ...rule !== undefined && {
      facts: {
        name: rule.name,
        fields: Object.keys(rule),
        ...before === undefined ? { limits: limitsOf(rule) } : { before: limitsOf(before), after: limitsOf(rule) }
      }
    }
  })

  async function requireOwn ({ actor: { companyId } }: By, { exempt = [], approvers = [] }: RuleBody): Promise<void> {
    const problems = await database.company(companyId,
      async (queries) =>
        Promise.all(Object.entries({ exempt, approvers }).map(async ([field, users]) => {
          const strangers = await strangersAmong(queries, companyId, users)
          return strangers.map((id) => ({
            path: `/${field}/${users.indexOf(id)}`,
            code: 'unknown_user',
            message: 'The company has no user of this number.'
          }))
        })))
    if (problems.flat().length > 0) throw refusal('validation_failed', problems.flat())
  }

  const find = async (companyId: number, id: string): Promise<RuleView | undefined> =>
    (await listRules(database, companyId)).map(viewOf).find((rule) => rule.id === id)

  return {
    list: async (companyId) => (await listRules(database, companyId)).map(viewOf),

    async add (by, rule) {
      const { actor: { companyId } } = by
      await requireOwn(by, rule)
      const id = newId()
      const added = await database.company(companyId, async (queries) => {
        if (!await addRule(queries, companyId, { id, rule, at: now() })) return false
        await noteAudit(queries, change(by, 'added', id, rule))
        return true
      })
      if (!added) throw new DispatchError('conflict', `A company has at most ${maxRules} rules: remove one first.`, { reason: 'at_most' })
      const view = await find(companyId, id)
      if (view === undefined) throw new DispatchError('conflict', 'The rule was removed meanwhile.', { reason: 'changed_meanwhile' })
      return view
    },

    async change (by, id, rule) {
      const { actor: { companyId } } = by
      await requireOwn(by, rule)
      const changed = await database.company(companyId, async (queries) => {
        const before = await changeRule(queries, companyId, { id, rule })
        if (before === undefined) return false
        await noteAudit(queries, change(by, 'changed', id, rule, before))
        return true
      })
      return changed ? await find(companyId, id) : undefined
    },

    remove: (by, id) =>
      database.company(by.actor.companyId, async (queries) => {
        if (!await removeRule(queries, by.actor.companyId, id)) return false
        await noteAudit(queries, change(by, 'removed', id))
        return true
      })
  }
}

/** Above what a rule asks. */
function limitsOf ({ amountAbove, currency, creditsAbove, recipientsAbove, rowsAbove }: RuleBody): JsonObject {
  return {
    ...amountAbove !== undefined && { amountAbove },
    ...currency !== undefined && { currency },
    ...creditsAbove !== undefined && { creditsAbove },
    ...recipientsAbove !== undefined && { recipientsAbove },
    ...rowsAbove !== undefined && { rowsAbove }
  }
}

const viewOf = ({ createdAt, ...rule }: Rule): RuleView => ({ ...rule, createdAt: createdAt.toISOString() })
