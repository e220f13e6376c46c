import { type Actor, type AuditAuthor, type LinkMail, listNotifiedPeople, noteAudit, notifyUrlOf } from '@dispatch/accounts'
import { type Log, uuidOf } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import type { Outbox } from '@dispatch/core'
import { addBudget, type Budget, changeBudget, listBudgets, listBudgetsToMail, listCompaniesToNotify, markNotified, noteMailed,
  removeBudget } from '@dispatch/credits'
import { asOwner, type Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { runEvery } from '@dispatch/queue'
import { type BudgetBody, type BudgetChanges, type BudgetView, maxBudgets } from '../contract/budgets.ts'
import { isKnown } from '../store/people.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

type By = { actor: Actor, author: AuditAuthor }

/** What companies, their users and their keys may use in a month. */
export type Budgets = {
  list: (companyId: number) => Promise<BudgetView[]>
  /** Throws `conflict` where there is one for the same, and `validation_failed` for a user or a key that the company has not. */
  add: (by: By, body: BudgetBody) => Promise<BudgetView>
  /** Undefined where there is no such budget. */
  change: (by: By, id: string, changes: BudgetChanges) => Promise<BudgetView | undefined>
  remove: (by: By, id: string) => Promise<boolean>
  /** Tells companies whose budgets have reached 80 or 100 %. */
  tell: () => Promise<void>
}

export const budgets = token<Budgets>('budgets')

/** Milliseconds between two looks for what is to be told. */
const tellEvery = 15_000

type Options = {
  database: Database
  linkMail: Pick<LinkMail, 'offered' | 'message'>
  outbox: Pick<Outbox, 'tell'>
  log: Log
  publicUrl: string
  newId: () => string
  now: () => Date
}

/**
 * The budgets of companies. Amounts are credits or dispatches of a month (UTC). Throws `validation_failed` for a subject that is missing or
 * unknown; `conflict` beyond the most budgets, and for one that there is already or is removed meanwhile.
 */
export function createBudgets ({ database, linkMail, outbox, log, publicUrl, newId, now }: Options): Budgets {
  async function find (companyId: number, id: string): Promise<BudgetView | undefined> {
    return (await listBudgets(database, companyId)).map(viewOf).find((budget) => budget.id === id)
  }

  /**
   * A mail for each admin, and a note that they were sent. The same mail is sent once, however often it is tried. Throws where one
   * has to be tried again, after the others.
   */
  async function mail (companyId: number): Promise<void> {
    const due = await listBudgetsToMail(database, companyId)
    const failures: unknown[] = []
    const admins = due.length > 0 && await linkMail.offered() ? await listNotifiedPeople(database, companyId, 'admins') : []
    for (const { userId, email: to, language } of admins) {
      const words = language === 'fr' ? fr : en
      for (const { budgetId, month, percent, unit, amount, used, hard, scope } of due) {
        const facts = { percent, used, amount, unit: words[`budgetUnit_${unit}`], month, whose: words[`budgetScope_${scope}`] }
        const text = [words.budgetMail, ...hard && percent === 100 ? [words.budgetMailStop] : []].map((sentence) => fill(sentence, facts))
        const dispatchId = uuidOf([companyId, budgetId, month, percent, amount, userId])
        const subject = fill(words.budgetMailSubject, facts)
        const url = `${publicUrl}/console/usage/budgets`
        await linkMail.message({ dispatchId, to, companyId, subject, text, url }).catch((error: unknown) => {
          // An address that is refused is refused the next time too.
          if (!(error instanceof DispatchError && error.word === 'validation_failed')) failures.push(error)
          else log.warn({ err: error, companyId }, 'an admin cannot be told of a budget by mail')
        })
      }
    }
    if (failures.length > 0) throw failures[0]
    await noteMailed(database, companyId, due)
  }

  async function tellByCallbacks (companyId: number): Promise<void> {
    await markNotified(database, companyId, async (queries, due) => {
      const { budgetId, scope, subject, unit, amount, used, percent, hard: hardStop, month } = due
      const data = { companyId, budgetId, scope, subject, unit, amount, used, percent, hardStop, month }
      const url = await notifyUrlOf(queries, companyId)
      await outbox.tell(queries, companyId, { type: 'company.budget_reached', data, ...url === null ? {} : { url } })
    })
  }

  return {
    list: async (companyId) => (await listBudgets(database, companyId)).map(viewOf),

    async add ({ actor: { companyId }, author }, { scope, subject = '', unit, amount, hardStop: hard }) {
      if (scope !== 'company' && subject === '') {
        throw refusal('validation_failed', [{ path: '/subject', code: 'required', message: `Name the ${scope} whose budget it is.` }])
      }
      if (scope === 'company' ? subject !== '' : !await isKnown(database, companyId, { scope, subject })) {
        const message = scope === 'company' ? 'A budget of the company has none.' : `The company has no ${scope} of this kind.`
        throw refusal('validation_failed', [{ path: '/subject', code: 'subject', message }])
      }
      if ((await listBudgets(database, companyId)).length >= maxBudgets) {
        throw new DispatchError('conflict', `A company has at most ${maxBudgets} budgets: remove one first.`, { reason: 'at_most' })
      }
      const budgetId = newId()
      const added = await database.company(companyId, async (queries) => {
        const owner = await asOwner(queries)
        if (!await addBudget(database, owner, companyId, { budgetId, scope, subject, unit, amount, hard })) return false
        await noteAudit(owner, change(companyId, author, 'budget.added', budgetId))
        return true
      })
      if (!added) throw new DispatchError('conflict', 'There is such a budget already: change that one.', { reason: 'exists' })
      const view = await find(companyId, budgetId)
      if (view === undefined) throw new DispatchError('conflict', 'The budget was removed meanwhile.', { reason: 'changed_meanwhile' })
      return view
    },

    async change ({ actor: { companyId }, author }, budgetId, { amount, hardStop: hard }) {
      const changed = await database.company(companyId, async (queries) => {
        if (!await changeBudget(queries, companyId, { budgetId, amount, hard })) return false
        await noteAudit(queries, { ...change(companyId, author, 'budget.changed', budgetId), facts: { amount, hardStop: hard } })
        return true
      })
      return changed ? await find(companyId, budgetId) : undefined
    },

    async remove ({ actor: { companyId }, author }, budgetId) {
      return database.company(companyId, async (queries) => {
        if (!await removeBudget(queries, companyId, budgetId)) return false
        await noteAudit(queries, change(companyId, author, 'budget.removed', budgetId))
        return true
      })
    },

    async tell () {
      let companies = await listCompaniesToNotify(database, 0)
      while (companies.length > 0) {
        for (const companyId of companies) {
          // What fails is tried again at the next look, and keeps nobody else from being told.
          for (const way of [tellByCallbacks, mail]) {
            await way(companyId).catch((err: unknown) => {
              log.warn({ err, companyId }, 'a company was not told of a budget in one way: it is tried again')
            })
          }
        }
        companies = await listCompaniesToNotify(database, companies.at(-1) ?? 0)
      }
    }
  }

  function change (companyId: number, author: AuditAuthor, action: string, id: string) {
    return { companyId, author, at: now(), action, object: { kind: 'budget', id } }
  }
}

/** Tells of budgets every 15 seconds. */
export function workOnBudgets ({ tell }: Budgets, log: Log): AsyncDisposable {
  const telling = runEvery(tellEvery, tell, (err) => {
    log.warn({ err }, 'companies were not told of budgets')
  })
  return { [Symbol.asyncDispose]: telling.close }
}

const viewOf = ({ budgetId: id, scope, subject, unit, amount, hard: hardStop, used }: Budget): BudgetView => ({
  id,
  scope,
  subject: subject === '' ? null : subject,
  unit,
  amount,
  hardStop,
  used
})

function fill (sentence: string, facts: Readonly<Record<string, string | number>>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(facts[name] ?? ''))
}
