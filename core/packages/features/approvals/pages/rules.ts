import { ApiRefused, errorOf, fill, type Html, html, manyField, notice, numberOf, page, type Query, said, table, textField, type Typed,
  type UserView, wordFor, wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import { ruledServices, type RuleView } from '../contract/rules.ts'
import { type Visit, visitOf, type Words } from './words.ts'

const at = '/console/approvals/rules'
const apiPath = '/api/v1/company/approval-rules'

type Sent = { Body: URLSearchParams }
type Named = { Params: { id: string } }

/** The rules by which somebody else has to approve. */
export const rulePages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/approvals/rules', async (request, reply) => {
    const told = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visitOf(request).words.ruleSaved}</p>`)
    return reply.page(await view(visitOf(request), told))
  })

  app.post<Sent>('/approvals/rules', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const added = await visit.api.send('POST', apiPath, ruleIn(body))
    if (added.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(added.status).page(await view(visit, html``, { body, error: errorOf(added) }))
  })

  // What is removed is offered again, as it was.
  app.post<Named>('/approvals/rules/:id/remove', { config: { confirms: 'undone' } }, async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const rule = (await api.read<{ data: RuleView[] }>(apiPath)).data.find(({ id }) => id === request.params.id)
    const removed = await api.send('DELETE', `${apiPath}/${encodeURIComponent(request.params.id)}`)
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.page(
      await view(visit, notice('good', html`<p>${words.ruleRemoved}</p>${rule === undefined ? html`` : undo(words, rule)}`))
    )
  })
  done()
}

/** Adds a rule again that was removed. */
function undo (words: Words, { id: _, createdAt: __, ...rule }: RuleView): Html {
  const fields = Object.entries(rule).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)] as const))
  return html`<form method="post" action="${at}">${
    fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  }<button class="second">${words.ruleUndo}</button></form>`
}

const numbers = ['amountAbove', 'creditsAbove', 'recipientsAbove', 'rowsAbove'] as const

/** The rule in a form. A number that is none is sent as it was typed: the API says what is wrong with it. */
function ruleIn (body: URLSearchParams): object {
  const text = (name: string): string => (body.get(name) ?? '').trim()
  const people = (name: string): number[] => body.getAll(name).map(Number)
  return {
    name: text('name'),
    ...body.has('services') && { services: body.getAll('services') },
    ...Object.fromEntries(numbers.filter((name) => text(name) !== '').map((name) => [
      name,
      /^\d{1,15}([.,]\d{1,4})?$/.test(text(name)) ? Number(text(name).replace(',', '.')) : text(name)
    ])),
    ...text('currency') !== '' && { currency: text('currency').toUpperCase() },
    ...body.has('exempt') && { exempt: people('exempt') },
    ...body.has('approvers') && { approvers: people('approvers') }
  }
}

async function view (visit: Visit, told: Html, typed?: Typed): Promise<Html> {
  const { words, api, actor: { role } } = visit
  const isAdmin = role === 'admin'
  const [{ data }, users] = await Promise.all([
    api.read<{ data: RuleView[] }>(apiPath),
    isAdmin ? api.read<{ data: UserView[] }>('/api/v1/users?limit=100') : { data: [] }
  ])
  const main = html`<p><a href="/console/approvals">${words.approvals}</a></p>${told}
<section aria-label="${words.approvalRules}"><p>${words.rulesIntro}</p>${
    data.length === 0 ? html`<p>${words.rulesNone}</p>` : list(words, data, { users: users.data, isAdmin })
  }</section>
${isAdmin ? form(words, users.data, typed) : html``}`
  return page({ ...visit, path: at }, { title: words.approvalRules, section: 'approvals', main })
}

type People = { users: readonly UserView[], isAdmin: boolean }

function list (words: Words, data: readonly RuleView[], { users, isAdmin }: People): Html {
  const named = (ids: readonly number[]): string => ids.map((id) => users.find((user) => user.id === id)?.email ?? String(id)).join(', ')
  const rows = data.map((rule) => {
    const { id, name, services, approvers = [], exempt = [] } = rule
    const remove = isAdmin
      ? html`<form method="post" action="${at}/${id}/remove"><button class="danger" aria-label="${
        fill(words.ruleRemoveOf, { name })
      }">${words.ruleRemove}</button></form>`
      : html``
    return html`<tr><th scope="row">${name}</th><td>${
      services === undefined ? words.allServices : services.map((one) => wordFor(words, 'service', one)).join(', ')
    }</td><td>${conditionsOf(words, rule)}</td><td>${approvers.length === 0 ? words.ruleAdmins : named(approvers)}</td><td>${
      named(exempt)
    }</td><td>${remove}</td></tr>\n`
  })
  return table(words.approvalRules, [words.ruleName, words.services, words.ruleWhen, words.ruleApprovers, words.ruleExempt,
    words.ruleRemove], rows)
}

function conditionsOf (words: Words, { currency = '', ...rule }: RuleView): string {
  const told = numbers.flatMap((name) => {
    const value = rule[name]
    return value === undefined
      ? []
      : [fill(words[`rule_${name}`], { value: `${numberOf(words, value)} ${name === 'amountAbove' ? currency : ''}`.trim() })]
  })
  return told.length === 0 ? words.ruleAlways : told.join(`, ${words.ruleOr} `)
}

function form (words: Words, users: readonly UserView[], typed?: Typed): Html {
  const field = (name: string, label: string, more: { type?: 'number', help?: string } = {}): Html =>
    textField({ name, label, ...more, value: typed?.body.get(name) ?? '', wrong: wrongOf(words, typed, `/${name}`) })
  const people = users.map(({ id, email }) => ({ value: String(id), label: email }))
  const many = (name: string, label: string, help: string, options: { value: string, label: string }[]): Html =>
    manyField({ name, label, help, options, values: typed?.body.getAll(name) ?? [], wrong: wrongOf(words, typed, `/${name}`) })
  return html`<section aria-labelledby="new"><h2 id="new">${words.ruleNew}</h2>${
    said(words, typed, 'name', 'services', ...numbers, 'currency', 'exempt', 'approvers')
  }<form method="post" action="${at}" novalidate>${field('name', words.ruleName)}${
    many('services', words.services, words.ruleServicesHelp,
      ruledServices.map((value) => ({ value, label: wordFor(words, 'service', value) })))
  }${field('amountAbove', words.ruleAmount, { help: words.ruleConditionsHelp })}${
    field('currency', words.ruleCurrency, { help: words.ruleCurrencyHelp })
  }${field('creditsAbove', words.ruleCredits)}${field('recipientsAbove', words.ruleRecipients)}${field('rowsAbove', words.ruleRows)}${
    many('approvers', words.ruleApprovers, words.ruleApproversHelp, people)
  }${
    many('exempt', words.ruleExempt, words.ruleExemptHelp, people)
  }<div class="actions"><button>${words.ruleAdd}</button></div></form></section>`
}
