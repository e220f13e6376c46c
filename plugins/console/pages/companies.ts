import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { secretIn } from '../form/body.ts'
import { linesField, onceField, onceIn, textField } from '../form/fields.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import { ApiRefused, type CompanyView, type UserView, withQuery } from '../session/api.ts'
import { partsAt, type Visit, visitOf } from '../session/visit.ts'
import type { Confirmation, ConfirmRequest } from './confirm.ts'
import { notice, page, table, time } from './layout.ts'
import { said, type Typed, wrongOf } from './typed.ts'

type Named = { Params: { id: string } }
type Page<Item> = { data: Item[], nextCursor: string | null }

/** The companies of the platform, for operators: to create, to credit, to disable. */
export const companiesPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: { cursor?: unknown } }>('/companies', async (request, reply) => {
    const { cursor } = request.query
    return reply.page(await list(visitOf(request), typeof cursor === 'string' ? cursor : ''))
  })

  app.post<{ Body: URLSearchParams }>('/companies', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const textOf = (name: string): string => body.get(name) ?? ''
    const admin = { email: textOf('email'), password: secretIn(body, 'password') ?? '' }
    const company = { name: textOf('name'), credits: numberIn(textOf('credits') === '' ? '0' : textOf('credits')), admin }
    const created = await visit.api.send<CompanyView>('POST', '/api/v1/companies', company)
    if (created.ok) return reply.redirect(`/console/companies/${String(created.body.id)}?created=1`, 303)
    if (created.status === 403) throw new ApiRefused(created)
    return reply.code(created.status).page(await list(visit, '', { body, error: created.error }))
  })

  app.get<Named & { Querystring: Readonly<Record<string, unknown>> }>('/companies/:id', async (request, reply) => {
    const { params: { id }, query } = request
    const { words } = visitOf(request)
    const created = html`<p>${words.companyCreated}</p><p><a href="/console/companies/${id}/setup">${words.setup}</a></p>`
    const done = query['created'] !== undefined ? created : query['saved'] !== undefined ? html`<p>${words.companySaved}</p>` : undefined
    return reply.page(await view(visitOf(request), id, {
      done: done === undefined ? html`` : notice('good', done),
      cursor: typeof query['cursor'] === 'string' ? query['cursor'] : ''
    }))
  })

  const changes = {
    credits: ['POST', '/credits',
      (body: URLSearchParams) => ({ amount: numberIn(body.get('amount') ?? ''), reason: body.get('reason') ?? '' })],
    name: ['PUT', '', (body: URLSearchParams) => ({ name: body.get('name') ?? '' })],
    disabled: ['PUT', '', (body: URLSearchParams) => ({ disabled: body.get('disabled') === 'true' })]
  } as const
  app.post<Named & { Body: URLSearchParams }>('/companies/:id/domains', async (request, reply) => {
    const [visit, { params: { id }, body }] = [visitOf(request), request]
    const domains = (body.get('domains') ?? '').toLowerCase().split(/\s+/).filter((domain) => domain !== '')
    const changed = await visit.api.send('PUT', `/api/v1/companies/${encodeURIComponent(id)}/domains`, { domains })
    if (changed.ok) return reply.redirect(`/console/companies/${id}?saved=1`, 303)
    if (changed.status === 403 || changed.status === 404) throw new ApiRefused(changed)
    return reply.code(changed.status).page(await view(visit, id, { typed: { body, error: changed.error } }))
  })

  for (const name of ['credits', 'name', 'disabled'] as const) {
    const [method, path, bodyOf] = changes[name]
    const config = name === 'name' ? {} : { confirms: confirms[name] }
    app.post<Named & { Body: URLSearchParams }>(`/companies/:id/${name}`, { config }, async (request, reply) => {
      const { params: { id }, body } = request
      const visit = visitOf(request)
      const changed = await visit.api.send(method, `/api/v1/companies/${encodeURIComponent(id)}${path}`, bodyOf(body), onceIn(body))
      if (changed.ok) return reply.redirect(`/console/companies/${id}?saved=1`, 303)
      if (changed.status === 403 || changed.status === 404) throw new ApiRefused(changed)
      return reply.code(changed.status).page(await view(visit, id, { typed: { body, error: changed.error } }))
    })
  }
  done()
}

/** What an operator is asked before credits are given, or before a company is shut out. */
const confirms = {
  credits: (request: ConfirmRequest) => creditsConfirmation(request, ''),
  disabled: async (request: ConfirmRequest): Promise<Confirmation | undefined> => {
    if (request.body.get('disabled') !== 'true') return undefined
    const { words, api } = visitOf(request)
    const path = `/api/v1/companies/${encodeURIComponent(request.params.id)}`
    const [company, { data, nextCursor }] = await Promise.all([
      api.read<CompanyView>(path),
      api.read<Page<UserView>>(`${path}/users?limit=100`)
    ])
    return {
      title: fill(words.companyDisableFull, { name: company.name }),
      says: [words.companyDisableIntro],
      touches: [
        [words.users, `${String(data.filter(({ disabled }) => !disabled).length)}${nextCursor === null ? '' : '+'}`],
        [words.creditsHeldNow, company.held]
      ],
      button: words.disable,
      back: `/console/companies/${String(company.id)}`
    }
  }
}

/** What is asked before credits are given or taken; nothing where the amount is none, which the API says. `page`: below the company's. */
export async function creditsConfirmation (request: ConfirmRequest, page: string): Promise<Confirmation | undefined> {
  const { words, api } = visitOf(request)
  const { params, body } = request
  const amount = numberIn(body.get('amount') ?? '')
  if (typeof amount === 'string' || amount === 0) return undefined
  const { id, name, balance, held } = await api.read<CompanyView>(`/api/v1/companies/${encodeURIComponent(params.id)}`)
  return {
    title: fill(words.creditsGive, { n: amount > 0 ? `+${String(amount)}` : amount, name }),
    says: [words.creditsGiveIntro],
    touches: [[words.creditsFree, `${String(balance - held)} → ${String(balance - held + amount)}`], [words.reason, body.get('reason')]],
    button: words.creditsDo,
    back: `/console/companies/${String(id)}${page}`
  }
}

/** A number as it was written; what is none goes to the API, which says so. */
export function numberIn (text: string): number | string {
  return /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text
}

async function list (visit: Visit, cursor: string, typed?: Typed): Promise<Html> {
  const { words, api } = visit
  const { data, nextCursor } = await api.read<{ data: CompanyView[], nextCursor: string | null }>(
    withQuery('/api/v1/companies', { limit: '50', cursor })
  )
  const rows = data.map((company) =>
    html`<tr><th scope="row"><a href="/console/companies/${String(company.id)}">${company.name}</a>${
      company.disabled ? html` <span class="badge warn">${words.disabled}</span>` : html``
    }</th><td class="count">${String(company.id)}</td><td class="count">${String(company.balance - company.held)}</td><td>${
      time(company.createdAt)
    }</td></tr>\n`
  )
  const refused = said(words, typed, 'name', 'credits', 'admin/email', 'admin/password')
  const main = html`${refused}<p><a href="/console/company">${words.ownCompany}</a></p><section aria-label="${words.companies}">${
    table(words.companies, [words.name, words.number, words.creditsFree, words.created], rows)
  }${
    nextCursor === null
      ? html``
      : html`<hr><p><a href="${withQuery('/console/companies', { cursor: nextCursor })}" rel="next">${words.more}</a></p>`
  }</section>${newSection(words, typed)}<section aria-labelledby="link-mail"><h2 id="link-mail">${words.linkMail}</h2>
<p>${words.linkMailAbout}</p><p><a href="/console/link-mail">${words.settings}</a></p></section>`
  return page({ ...visit, path: '/console/companies' }, { title: words.companies, section: 'companies', main })
}

function newSection (words: Words, typed: Typed | undefined): Html {
  const field = (name: string, label: string, path: string, more: { type?: string, help?: string } = {}): Html =>
    textField({
      name,
      label,
      ...more,
      value: more.type === 'password' ? '' : typed?.body.get(name) ?? '',
      wrong: wrongOf(words, typed, path)
    })
  return html`<section aria-labelledby="new"><h2 id="new">${words.companyNew}</h2><p>${words.companyNewIntro}</p><form method="post" action="/console/companies" novalidate>
${field('name', words.name, '/name')}${field('credits', words.creditsFirst, '/credits')}
${field('email', words.adminEmail, '/admin/email', { type: 'email' })}${
    field('password', words.adminPassword, '/admin/password', { type: 'password', help: words.passwordHelp })
  }<div class="actions"><button>${words.companyCreate}</button></div></form></section>`
}

async function view (
  visit: Visit,
  id: string,
  { done = html``, typed, cursor = '' }: { done?: Html, typed?: Typed, cursor?: string }
): Promise<Html> {
  const { words, api } = visit
  const company = await api.read<CompanyView>(`/api/v1/companies/${encodeURIComponent(id)}`)
  const { domains } = await api.read<{ domains: string[] }>(`/api/v1/companies/${encodeURIComponent(id)}/domains`)
  const main = html`${done}${
    said(words, typed, 'amount', 'reason', 'name', 'domains')
  }<section aria-labelledby="about"><h2 id="about">${words.summary}${
    company.disabled ? html` <span class="badge warn">${words.disabled}</span>` : html``
  }</h2>
<dl><dt>${words.number}</dt><dd>${String(company.id)}</dd>
<dt>${words.creditsFree}</dt><dd>${String(company.balance - company.held)}</dd><dt>${words.creditsHeldNow}</dt><dd>${
    String(company.held)
  }</dd>
<dt>${words.addresses}</dt><dd>${company.addresses.length === 0 ? words.addressesAll : company.addresses.join(', ')}</dd>
<dt>${words.created}</dt><dd>${time(company.createdAt)}</dd></dl><hr>
<p><a href="/console/companies/${String(company.id)}/setup">${words.setup}</a> · <a href="${
    withQuery('/console/audit', { companyId: String(company.id) })
  }">${words.audit}</a></p></section>${
    users(words, company,
      await api.read<Page<UserView>>(withQuery(`/api/v1/companies/${encodeURIComponent(id)}/users`, { limit: '50', cursor })))
  }${sections(words, company, typed)}<section aria-labelledby="domains"><h2 id="domains">${words.signOn}</h2>
<form method="post" action="/console/companies/${String(company.id)}/domains" novalidate>${
    linesField({
      name: 'domains',
      label: words.domains,
      help: words.domainsHelp,
      value: typed?.body.get('domains') ?? domains.join('\n'),
      wrong: wrongOf(words, typed, '/domains')
    })
  }<div class="actions"><button class="second">${words.save}</button></div></form></section>${
    partsAt(visit.parts, 'platformCompany').map((part) => part(words, company))
  }`
  return page({ ...visit, path: `/console/companies/${String(company.id)}` }, { title: company.name, section: 'companies', main })
}

function users (words: Words, { id }: CompanyView, { data, nextCursor }: Page<UserView>): Html {
  const at = `/console/companies/${String(id)}`
  const rows = data.map((user) =>
    html`<tr><th scope="row"><a href="${at}/users/${String(user.id)}">${user.email}</a>${
      user.disabled ? html` <span class="badge warn">${words.disabled}</span>` : html``
    }</th><td>${wordFor(words, 'role', user.role)}</td><td>${time(user.createdAt)}</td></tr>\n`
  )
  return html`<section aria-labelledby="users"><h2 id="users">${words.users}</h2>${
    table(words.users, [words.email, words.role, words.created], rows)
  }${
    nextCursor === null ? html`` : html`<hr><p><a href="${withQuery(at, { cursor: nextCursor })}" rel="next">${words.more}</a></p>`
  }</section>`
}

/** Gives or takes credits, once however often it is sent. */
export function creditsForm (words: Words, action: string, typed: Typed | undefined): Html {
  const field = (name: string, label: string, help: string): Html =>
    textField({ name, label, help, value: typed?.body.get(name) ?? '', wrong: wrongOf(words, typed, `/${name}`) })
  return html`<form method="post" action="${action}" novalidate>${onceField()}
${field('amount', words.amount, words.amountHelp)}${field('reason', words.reason, words.reasonHelp)}
<div class="actions"><button>${words.creditsDo}</button></div></form>`
}

function sections (words: Words, { id, name, disabled }: CompanyView, typed: Typed | undefined): Html {
  const at = `/console/companies/${String(id)}`
  return html`<section aria-labelledby="credits"><h2 id="credits">${words.creditsChange}</h2>${
    creditsForm(words, `${at}/credits`, typed)
  }</section>
<section aria-labelledby="rename"><h2 id="rename">${words.rename}</h2><form method="post" action="${at}/name" novalidate>
${textField({ name: 'name', label: words.name, value: typed?.body.get('name') ?? name, wrong: wrongOf(words, typed, '/name') })}
<div class="actions"><button class="second">${words.save}</button></div></form></section>
<section aria-labelledby="disable"><h2 id="disable">${disabled ? words.companyEnable : words.companyDisable}</h2>
<p>${disabled ? words.companyEnableIntro : words.companyDisableIntro}</p>
<form method="post" action="${at}/disabled"><input type="hidden" name="disabled" value="${disabled ? 'false' : 'true'}">
<div class="actions"><button class="${disabled ? 'second' : 'danger'}" aria-label="${
    fill(disabled ? words.companyEnableFull : words.companyDisableFull, { name })
  }">${disabled ? words.enable : words.disable}</button></div></form></section>`
}
