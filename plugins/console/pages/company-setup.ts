import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { onceIn } from '../form/fields.ts'
import { fill, type Words } from '../language/language.ts'
import { ApiRefused, type AuditView, type CompanyView, type ProviderView, type Refusal, type UserView, withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { actSection } from './act.ts'
import { creditsConfirmation, creditsForm, numberIn } from './companies.ts'
import type { ConfirmRequest } from './confirm.ts'
import { notice, page } from './layout.ts'
import { readProviders } from './provider-names.ts'
import { said, type Typed } from './typed.ts'

type Named = { Params: { id: string } }
type Posted = Named & { Body: URLSearchParams }
type Page<Item> = { data: Item[] }
/** What the marketplace says of an adapter. */
type Adapter = { code: string, name: string, enabled?: boolean, offer?: 'all' | number[] }

/** What a new company needs until it can send a test, for operators: each step is a form, and ticks itself off. */
export const companySetupPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named & { Querystring: { saved?: unknown } }>('/companies/:id/setup', async (request, reply) => {
    const visit = visitOf(request)
    const done = request.query.saved === undefined ? html`` : notice('good', html`<p>${visit.words.companySaved}</p>`)
    return reply.page(await view(visit, request.params.id, { done }))
  })

  const confirms = (request: ConfirmRequest) => creditsConfirmation(request, '/setup')
  app.post<Posted>('/companies/:id/setup/credits', { config: { confirms } }, async (request, reply) => {
    const { params: { id }, body } = request
    const visit = visitOf(request)
    const change = { amount: numberIn(body.get('amount') ?? ''), reason: body.get('reason') ?? '' }
    const given = await visit.api.send('POST', `${pathOf(id)}/credits`, change, onceIn(body))
    if (given.ok) return reply.redirect(`/console/companies/${id}/setup?saved=1`, 303)
    return reply.code(given.status).page(await refused(visit, id, given, body))
  })

  app.post<Posted>('/companies/:id/setup/providers', async (request, reply) => {
    const { params: { id }, body } = request
    const visit = visitOf(request)
    const company = await visit.api.read<CompanyView>(pathOf(id))
    for (const { code, offer } of await offered(visit)) {
      if (!Array.isArray(offer) || !body.getAll('shown').includes(code)) continue
      const others = offer.filter((one) => one !== company.id)
      const companies = body.getAll('provider').includes(code) ? [...others, company.id] : others
      if (companies.length === offer.length) continue
      const changed = await visit.api.send('PUT', `/api/v1/marketplace/${encodeURIComponent(code)}/offer`, { companies })
      if (!changed.ok) return reply.code(changed.status).page(await refused(visit, id, changed, body))
    }
    return reply.redirect(`/console/companies/${String(company.id)}/setup?saved=1`, 303)
  })
  done()
}

function pathOf (id: string): string {
  return `/api/v1/companies/${encodeURIComponent(id)}`
}

/** What is installed; nothing where the service has no marketplace. */
async function offered ({ api }: Visit): Promise<Adapter[]> {
  const answer = await api.send<Page<Adapter>>('GET', '/api/v1/marketplace?limit=100')
  if (!answer.ok && answer.status !== 404) throw new ApiRefused(answer)
  return !answer.ok ? [] : answer.body.data.filter(({ enabled, offer }) => enabled !== undefined && offer !== undefined)
}

async function refused (visit: Visit, id: string, refusal: Refusal, body: URLSearchParams): Promise<Html> {
  if (refusal.status === 401 || refusal.status === 403 || refusal.status === 404) throw new ApiRefused(refusal)
  return view(visit, id, { typed: { body, error: refusal.error } })
}

type Shown = { done?: Html, typed?: Typed }

async function view (visit: Visit, id: string, { done = html``, typed }: Shown = {}): Promise<Html> {
  const { words, api } = visit
  const company = await api.read<CompanyView>(pathOf(id))
  const changes = (action: string) => api.read<Page<AuditView>>(withQuery('/api/v1/audit', { companyId: id, action, limit: '1' }))
  const [{ data: users }, adapters, providers, ...audits] = await Promise.all([
    api.read<Page<UserView>>(`${pathOf(id)}/users?limit=100`),
    offered(visit),
    readProviders(visit),
    changes('choice.changed'),
    changes('configuration.changed')
  ])
  const admin = users.find(({ role, disabled }) => role === 'admin' && !disabled)
  const chosen = adapters.filter(({ offer }) => isFor(offer, company.id))
  const free = providers.filter(({ state, code }) => state === 'installed' && !adapters.some((adapter) => adapter.code === code))
  const steps = [
    step(words, 'admin', admin !== undefined, words.setupAdmin, html`<p>${admin?.email ?? words.setupNoAdmin}</p>`),
    step(words, 'credits', company.balance > 0, words.setupCredits, creditsStep(words, company, typed)),
    step(words, 'providers', chosen.length + free.length > 0, words.setupProviders, providersForm(words, company, { adapters, free })),
    step(words, 'test', audits.every(({ data }) => data.length > 0), words.setupTest, html`<p>${words.setupTestIntro}</p>`)
  ]
  const main = html`<p><a href="/console/companies/${String(company.id)}">${company.name}</a></p>${done}${
    said(words, typed, 'amount', 'reason')
  }${steps}${admin === undefined || company.disabled ? html`` : actSection(visit, admin)}`
  const title = fill(words.setupTitle, { name: company.name })
  return page({ ...visit, path: `/console/companies/${String(company.id)}/setup` }, { title, section: 'companies', main })
}

function step (words: Words, name: string, done: boolean, title: string, content: Html): Html {
  return html`<section aria-labelledby="${name}"><h2 id="${name}">${title} <span class="badge ${done ? 'good' : 'calm'}">${
    done ? words.firstStepDone : words.firstStepOpen
  }</span></h2>${content}</section>
`
}

function isFor (offer: Adapter['offer'], companyId: number): boolean {
  return offer === 'all' || offer?.includes(companyId) === true
}

function creditsStep (words: Words, { id, balance, held }: CompanyView, typed: Typed | undefined): Html {
  return html`<p>${words.creditsFree}${words.colon}${String(balance - held)}</p>
${creditsForm(words, `/console/companies/${String(id)}/setup/credits`, typed)}`
}

type Providers = { adapters: readonly Adapter[], free: readonly ProviderView[] }

/** What is offered to chosen companies can be offered to this one; everything else is for all. */
function providersForm (words: Words, { id }: CompanyView, { adapters, free }: Providers): Html {
  const forAll = [...free, ...adapters.filter(({ offer }) => offer === 'all')].map(({ name, code }) => name ?? code ?? '')
  const some = adapters.filter(({ offer }) => offer !== 'all')
  return html`<p>${words.setupForAll} ${forAll.length === 0 ? words.none : forAll.join(', ')}.</p>${
    some.length === 0 ? html`` : html`<form method="post" action="/console/companies/${String(id)}/setup/providers"><fieldset>
<legend>${words.setupForSome}</legend>${
      some.map(({ code, name, offer }) =>
        html`<div class="choice"><input type="hidden" name="shown" value="${code}"><input type="checkbox" id="p-${code}" name="provider" value="${code}"${
          isFor(offer, id) ? html` checked` : html``
        }><label for="p-${code}">${name}</label></div>`
      )
    }</fieldset><div class="actions"><button class="second">${words.save}</button></div></form>`
  }`
}
