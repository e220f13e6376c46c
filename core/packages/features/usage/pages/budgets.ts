import { ApiRefused, checkField, choiceField, errorOf, fill, type Html, html, notice, numberOf, page, type Query, said, table, textField,
  type Typed, wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { BudgetView } from '../contract/budgets.ts'
import { type Visit, visitOf, type Words } from './words.ts'

const at = '/console/usage/budgets'
const apiPath = '/api/v1/budgets'

type Sent = { Body: URLSearchParams }
type Named = { Params: { id: string } }
type Key = { id: string, name: string }
type User = { id: number, email: string }

/** How much may be used in a month. */
export const budgetPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/usage/budgets', async (request, reply) => {
    const reported = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visitOf(request).words.budgetSaved}</p>`)
    return reply.page(await view(visitOf(request), reported))
  })

  app.post<Sent>('/usage/budgets', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const [scope = '', subject] = (body.get('of') ?? '').split(' ')
    const added = await visit.api.send('POST', apiPath, {
      ...factsIn(body),
      scope,
      unit: body.get('unit'),
      ...subject !== undefined && { subject }
    })
    if (added.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(added.status).page(await view(visit, html``, { body, error: errorOf(added) }))
  })

  app.post<Named & Sent>('/usage/budgets/:id', async (request, reply) => {
    const { body, params: { id } } = request
    const changed = await visitOf(request).api.send('PUT', pathOf(id), factsIn(body))
    if (!changed.ok) throw new ApiRefused(changed)
    return reply.redirect(`${at}?saved=1`, 303)
  })

  // What is removed can be set again as it was: what was used in the month counts then too.
  app.post<Named>('/usage/budgets/:id/remove', { config: { confirms: 'undone' } }, async (request, reply) => {
    const [visit, { params: { id } }] = [visitOf(request), request]
    const { words, api } = visit
    const budget = (await api.read<{ data: BudgetView[] }>(apiPath)).data.find((one) => one.id === id)
    const removed = await api.send('DELETE', pathOf(id))
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.page(
      await view(visit, notice('good', html`<p>${words.budgetRemoved}</p>${budget === undefined ? html`` : undo(words, budget)}`))
    )
  })
  done()
}

const pathOf = (id: string): string => `${apiPath}/${encodeURIComponent(id)}`

/** Sets a budget again that was removed. */
function undo (words: Words, { scope, subject, unit, amount, hardStop }: BudgetView): Html {
  const fields = { of: subject === null ? scope : `${scope} ${subject}`, unit, amount: String(amount), hardStop: String(hardStop) }
  return html`<form method="post" action="${at}">${
    Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  }<button class="second">${words.budgetUndo}</button></form>`
}

function factsIn (body: URLSearchParams) {
  const amount = (body.get('amount') ?? '').trim()
  return { amount: /^\d{1,10}$/.test(amount) ? Number(amount) : amount, hardStop: body.get('hardStop') === 'true' }
}

async function view (visit: Visit, message: Html, typed?: Typed): Promise<Html> {
  const { words, api, actor: { role } } = visit
  const isAdmin = role === 'admin'
  const [{ data }, keys, users] = await Promise.all([
    api.read<{ data: BudgetView[] }>(apiPath),
    isAdmin ? api.read<{ data: Key[] }>('/api/v1/keys?limit=100') : { data: [] },
    isAdmin ? api.read<{ data: User[] }>('/api/v1/users?limit=100') : { data: [] }
  ])
  const names = new Map([
    ...keys.data.map(({ id, name }) => [id, name] as const),
    ...users.data.map(({ id, email }) => [String(id), email] as const)
  ])
  const nameOf = ({ scope, subject }: Pick<BudgetView, 'scope' | 'subject'>): string =>
    subject === null ? words.budgetScope_company : `${words[`budgetScope_${scope}`]} ${names.get(subject) ?? subject}`
  const main = html`<p><a href="/console/usage">${words.budgetBack}</a></p>${message}
<section aria-label="${words.budgets}"><p>${words.budgetsIntro}</p>${
    data.length === 0 ? html`<p>${words.budgetsNone}</p>` : list(words, data, { nameOf, isAdmin })
  }</section>
${isAdmin ? form(words, { keys: keys.data, users: users.data, nameOf }, typed) : html``}`
  return page({ ...visit, path: at }, { title: words.budgets, section: 'usage', main })
}

type Naming = { nameOf: (of: Pick<BudgetView, 'scope' | 'subject'>) => string }

function list (words: Words, data: readonly BudgetView[], { nameOf, isAdmin }: Naming & { isAdmin: boolean }): Html {
  const rows = data.map((budget) => {
    const { id, unit, used, amount, hardStop } = budget
    const state = used >= amount
      ? ['bad', words.budgetFull]
      : used * 5 >= amount * 4
      ? ['warn', words.budgetNear]
      : ['good', words.budgetFree]
    const said = fill(words.budgetUsed, { used: numberOf(words, used), amount: numberOf(words, amount), unit: words[`budgetUnit_${unit}`] })
    const change =
      html`<td><form method="post" action="${at}/${id}" class="actions"><input type="number" name="amount" min="0" required value="${
        String(amount)
      }" aria-label="${
        fill(words.budgetAmountOf, { name: nameOf(budget) })
      }"><label class="choice"><input type="checkbox" name="hardStop" value="true"${
        hardStop ? html` checked` : html``
      }> ${words.budgetHard}</label><button class="second">${words.budgetChange}</button></form>
<form method="post" action="${at}/${id}/remove"><button class="danger">${words.budgetRemove}</button></form></td>`
    return html`<tr><th scope="row">${nameOf(budget)}</th><td>${said}</td><td><span class="badge ${state[0] ?? ''}">${
      state[1] ?? ''
    }</span></td>${isAdmin ? change : html`<td>${hardStop ? words.budgetHard : words.budgetSoft}</td>`}</tr>\n`
  })
  return table(words.budgets, [words.budgetWhose, words.budgetThisMonth, words.status, words.budgetChange], rows)
}

function form (words: Words, { keys, users, nameOf }: Naming & { keys: readonly Key[], users: readonly User[] }, typed?: Typed): Html {
  const value = (name: string): string => typed?.body.get(name) ?? ''
  const options = [
    { value: 'company', label: words.budgetScope_company },
    ...users.map(({ id }) => ({ value: `user ${String(id)}`, label: nameOf({ scope: 'user', subject: String(id) }) })),
    ...keys.map(({ id }) => ({ value: `key ${id}`, label: nameOf({ scope: 'key', subject: id }) }))
  ]
  const units = [{ value: 'dispatches', label: words.budgetUnit_dispatches }, { value: 'credits', label: words.budgetUnit_credits }]
  return html`<section aria-labelledby="new"><h2 id="new">${words.budgetNew}</h2>${said(words, typed, 'amount', 'of')}
<form method="post" action="${at}" novalidate>${
    choiceField({ name: 'of', label: words.budgetWhose, value: value('of'), wrong: wrongOf(words, typed, '/subject'), options })
  }${choiceField({ name: 'unit', label: words.budgetUnit, value: value('unit'), options: units })}${
    textField({
      name: 'amount',
      label: words.budgetAmount,
      type: 'number',
      value: value('amount'),
      wrong: wrongOf(words, typed, '/amount')
    })
  }${checkField({ name: 'hardStop', label: words.budgetHard, help: words.budgetHardHelp, checked: typed?.body.get('hardStop') === 'true' })}
<div class="actions"><button>${words.budgetSet}</button></div></form></section>`
}
