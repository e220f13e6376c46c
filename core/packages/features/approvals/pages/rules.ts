import { DispatchError } from '@dispatch/contract'
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
    const reported = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visitOf(request).words.ruleSaved}</p>`)
    return reply.page(await view(visitOf(request), reported))
  })

  app.post<Sent>('/approvals/rules', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const added = await visit.api.send('POST', apiPath, ruleIn(body))
    if (added.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(added.status).page(await view(visit, html``, { body, error: errorOf(added) }))
  })

  app.get<Named>('/approvals/rules/:id', async (request, reply) => {
    const visit = visitOf(request)
    return reply.page(await one(visit, await find(visit, request.params.id)))
  })

  app.post<Named & Sent>('/approvals/rules/:id', async (request, reply) => {
    const [visit, { body, params: { id } }] = [visitOf(request), request]
    const rule = await find(visit, id)
    const changed = await visit.api.send('PUT', pathOf(id), ruleIn(body))
    if (changed.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(changed.status).page(await one(visit, rule, { body, error: errorOf(changed) }))
  })

  // What is removed is offered again, as it was.
  app.post<Named>('/approvals/rules/:id/remove', { config: { confirms: 'undone' } }, async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const rule = (await api.read<{ data: RuleView[] }>(apiPath)).data.find(({ id }) => id === request.params.id)
    const removed = await api.send('DELETE', pathOf(request.params.id))
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.page(
      await view(visit, notice('good', html`<p>${words.ruleRemoved}</p>${rule === undefined ? html`` : undo(words, rule)}`))
    )
  })
  done()
}

const pathOf = (id: string): string => `${apiPath}/${encodeURIComponent(id)}`

/** Throws what the page of something answers that is not there. */
async function find ({ api }: Visit, id: string): Promise<RuleView> {
  const rule = (await api.read<{ data: RuleView[] }>(apiPath)).data.find((one) => one.id === id)
  if (rule === undefined) throw new DispatchError('not_found', `There is no rule "${id}".`)
  return rule
}

/** A rule as its form sends it. */
const fieldsOf = ({ id: _, createdAt: __, ...rule }: RuleView): [name: string, value: string][] =>
  Object.entries(rule).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)]))

/** Adds a rule again that was removed. */
function undo (words: Words, rule: RuleView): Html {
  return html`<form method="post" action="${at}">${
    fieldsOf(rule).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
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

async function view (visit: Visit, message: Html, typed?: Typed): Promise<Html> {
  const { words, api, actor: { role } } = visit
  const isAdmin = role === 'admin'
  const [{ data }, { users, isWhole }] = await Promise.all([
    api.read<{ data: RuleView[] }>(apiPath),
    isAdmin ? readUsers(visit) : { users: [], isWhole: false }
  ])
  const main = html`<p><a href="/console/approvals">${words.approvals}</a></p>${message}
<section aria-label="${words.approvalRules}"><p>${words.rulesIntro}</p>${
    data.length === 0 ? html`<p>${words.rulesNone}</p>` : list(words, data, { users, isWhole, isAdmin })
  }</section>
${
    isAdmin
      ? html`<section aria-labelledby="new"><h2 id="new">${words.ruleNew}</h2>${
        form(words, at, { users, typed, values: typed?.body ?? new URLSearchParams(), button: words.ruleAdd })
      }</section>`
      : html``
  }`
  return page({ ...visit, path: at }, { title: words.approvalRules, section: 'approvals', main })
}

/** Users of the company, of many the first. `isWhole`: these are all. */
type Users = { users: readonly UserView[], isWhole: boolean }

async function readUsers ({ api }: Visit): Promise<Users> {
  const { data, nextCursor } = await api.read<{ data: UserView[], nextCursor: string | null }>('/api/v1/users?limit=100')
  return { users: data, isWhole: nextCursor === null }
}

/** The page on which a rule is changed. */
async function one (visit: Visit, rule: RuleView, typed?: Typed): Promise<Html> {
  const { words } = visit
  const { users } = await readUsers(visit)
  const values = typed?.body ?? new URLSearchParams(fieldsOf(rule))
  const main = html`<p><a href="${at}">${words.approvalRules}</a></p><section aria-label="${rule.name}"><p>${words.ruleChangeIntro}</p>${
    form(words, `${at}/${rule.id}`, { users, typed, values, button: words.ruleSave })
  }</section>`
  return page({ ...visit, path: `${at}/${rule.id}` }, { title: rule.name, section: 'approvals', main })
}

function list (words: Words, data: readonly RuleView[], { users, isWhole, isAdmin }: Users & { isAdmin: boolean }): Html {
  const named = (ids: readonly number[]): string => ids.map((id) => users.find((user) => user.id === id)?.email ?? String(id)).join(', ')
  const rows = data.map((rule) => {
    const { id, name, services, approvers = [], exempt = [] } = rule
    const remove = isAdmin
      ? html`<form method="post" action="${at}/${id}/remove"><button class="danger" aria-label="${
        fill(words.ruleRemoveOf, { name })
      }">${words.ruleRemove}</button></form>`
      : html``
    const link = isAdmin ? html`<a href="${at}/${id}">${name}</a>` : html`${name}`
    const alone = isAdmin ? onlyApprover(rule, { users, isWhole }) : undefined
    return html`<tr><th scope="row">${link}</th><td>${
      services === undefined ? words.allServices : services.map((one) => wordFor(words, 'service', one)).join(', ')
    }</td><td>${conditionsOf(words, rule)}</td><td>${approvers.length === 0 ? words.ruleAdmins : named(approvers)}${
      alone === undefined ? html`` : html`<div class="quiet">${fill(words.ruleAlone, { name: alone })}</div>`
    }</td><td>${named(exempt)}</td><td>${remove}</td></tr>\n`
  })
  return table(words.approvalRules, [words.ruleName, words.services, words.ruleWhen, words.ruleApprovers, words.ruleExempt,
    words.ruleRemove], rows)
}

function conditionsOf (words: Words, { currency = '', ...rule }: RuleView): string {
  const reported = numbers.flatMap((name) => {
    const value = rule[name]
    return value === undefined
      ? []
      : [fill(words[`rule_${name}`], { value: `${numberOf(words, value)} ${name === 'amountAbove' ? currency : ''}`.trim() })]
  })
  return reported.length === 0 ? words.ruleAlways : reported.join(`, ${words.ruleOr} `)
}

/** The one person who may approve by a rule, as far as the users who are read can tell: nobody can approve what they ask for themselves. */
function onlyApprover ({ approvers = [] }: RuleView, { users, isWhole }: Users): string | undefined {
  const areKnown = isWhole || (approvers.length > 0 && approvers.every((id) => users.some((user) => user.id === id)))
  if (!areKnown) return undefined
  const [only, ...others] = users.filter(({ id, role, disabled }) =>
    !disabled && (approvers.length === 0 ? role === 'admin' : approvers.includes(id))
  )
  return others.length === 0 ? only?.email : undefined
}

type Shown = { users: readonly UserView[], values: URLSearchParams, typed: Typed | undefined, button: string }

/** The form of a rule. */
function form (words: Words, action: string, { users, values, typed, button }: Shown): Html {
  const field = (name: string, label: string, more: { type?: 'number', help?: string } = {}): Html =>
    textField({ name, label, ...more, value: values.get(name) ?? '', wrong: wrongOf(words, typed, `/${name}`) })
  const many = (name: string, label: string, help: string, options: { value: string, label: string }[]): Html =>
    manyField({ name, label, help, options, values: values.getAll(name), wrong: wrongOf(words, typed, `/${name}`) })
  const people = (name: string): { value: string, label: string }[] => {
    const known = users.map(({ id, email }) => ({ value: String(id), label: email }))
    // Of many users some are not read: whom a rule names stays named.
    return [...known,
      ...values.getAll(name).filter((id) => !known.some(({ value }) => value === id)).map((value) => ({ value, label: value }))]
  }
  return html`${
    said(words, typed, 'name', 'services', ...numbers, 'currency', 'exempt', 'approvers')
  }<form method="post" action="${action}" novalidate>${field('name', words.ruleName)}${
    many('services', words.services, words.ruleServicesHelp,
      ruledServices.map((value) => ({ value, label: wordFor(words, 'service', value) })))
  }${field('amountAbove', words.ruleAmount, { help: words.ruleConditionsHelp })}${
    field('currency', words.ruleCurrency, { help: words.ruleCurrencyHelp })
  }${field('creditsAbove', words.ruleCredits)}${field('recipientsAbove', words.ruleRecipients)}${field('rowsAbove', words.ruleRows)}${
    many('approvers', words.ruleApprovers, words.ruleApproversHelp, people('approvers'))
  }${many('exempt', words.ruleExempt, words.ruleExemptHelp, people('exempt'))}<div class="actions"><button>${button}</button></div></form>`
}
