import { ApiRefused, type CompanyView, errorOf, fill, type Html, html, notice, page, type Query, said, table, textField, time, type Typed,
  withQuery, type Words as ConsoleWords, wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { DeletionView } from '../contract/deletions.ts'
import { type Visit, visitOf, wordsOf } from './words.ts'

type Sent = { Body: URLSearchParams }

const at = '/console/company-deletions'

/** On the page of a company, for operators. */
export function companyDeletionLink (given: ConsoleWords, { id }: CompanyView): Html {
  const words = wordsOf(given)
  return html`<section aria-labelledby="deletion"><h2 id="deletion">${words.deletionNew}</h2><p>${words.deletionOwn}</p>
<div class="actions"><a class="button second" href="${withQuery(at, { company: String(id) })}">${words.deletionNew}</a></div></section>`
}

/** The deletion of companies. */
export const deletionPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/company-deletions', async (request, reply) => {
    const { query: { cursor, company, begun } } = request
    const visit = visitOf(request)
    const reported = begun === undefined ? html`` : notice('good', html`<p>${visit.words.deletionBegun}</p>`)
    const typed = typeof company === 'string' ? { body: new URLSearchParams({ company }) } : undefined
    return reply.page(await view(visit, { message: reported, cursor: typeof cursor === 'string' ? cursor : '', typed }))
  })

  app.post<Sent>('/company-deletions', {
    config: {
      async confirms (request) {
        const { words, api } = visitOf(request)
        const plan = await api.send<DeletionView>('GET', pathOf(request.body))
        if (!plan.ok || plan.body.status !== 'possible' || plan.body.name !== request.body.get('name')) return undefined
        const { name, counts } = plan.body
        return {
          title: fill(words.deletionAsk, { name }),
          says: [words.deletionWhat, words.deletionNever],
          touches: [
            [words.users, counts['users'] ?? 0],
            [words.dispatches, counts['dispatches'] ?? 0],
            [words.creditsFree, counts['credits'] ?? 0]
          ],
          button: words.deletionDo,
          back: at
        }
      }
    }
  }, async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const begun = await visit.api.send('POST', pathOf(body), { name: body.get('name') ?? '' })
    if (begun.ok) return reply.redirect(`${at}?begun=1`, 303)
    if (begun.status === 403) throw new ApiRefused(begun)
    return reply.code(begun.status).page(await view(visit, { message: html``, cursor: '', typed: { body, error: errorOf(begun) } }))
  })
  done()
}

function pathOf (body: URLSearchParams): string {
  return `/api/v1/companies/${encodeURIComponent(body.get('company') ?? '')}/deletion`
}

async function view (
  visit: Visit,
  { message, cursor, typed }: {
    message: Html
    cursor: string
    typed?: { body: URLSearchParams, error?: Typed['error'] } | undefined
  }
): Promise<Html> {
  const { words, api } = visit
  const { data, nextCursor } = await api.read<{ data: DeletionView[], nextCursor: string | null }>(
    withQuery('/api/v1/company-deletions', { cursor, limit: '50' })
  )
  const rows = data.map(({ companyId, name, status, askedAt, sha256 }) =>
    html`<tr><th scope="row">${name}</th><td class="count">${String(companyId)}</td><td>${words[`deletionIs_${status}`]}</td><td>${
      askedAt === null ? html`` : time(askedAt)
    }</td><td>${sha256 === null ? html`` : html`<code>${sha256}</code>`}</td></tr>\n`
  )
  const refused = typed?.error === undefined ? undefined : { body: typed.body, error: typed.error }
  const field = (name: string, label: string, help?: string): Html =>
    textField({
      name,
      label,
      value: typed?.body.get(name) ?? '',
      wrong: wrongOf(words, refused, `/${name}`),
      ...help === undefined ? {} : { help }
    })
  const main = html`<p><a href="/console/companies">${words.companies}</a></p>${message}${said(words, refused, 'company', 'name')}
<section aria-labelledby="deleted"><h2 id="deleted">${words.deletions}</h2><p>${words.deletionsIntro}</p>${
    rows.length === 0
      ? html`<p>${words.deletionsNone}</p>`
      : table(words.deletions, [words.name, words.number, words.deletionStatus, words.created, words.deletionDigest], rows)
  }${
    nextCursor === null ? html`` : html`<hr><p><a href="${withQuery(at, { cursor: nextCursor })}" rel="next">${words.more}</a></p>`
  }</section>
<section aria-labelledby="new"><h2 id="new">${words.deletionNew}</h2><p>${words.deletionOwn}</p>
<form method="post" action="${at}" novalidate>${field('company', words.deletionCompany)}${
    field('name', words.deletionName, words.deletionNameHelp)
  }<div class="actions"><button>${words.deletionDo}</button></div></form></section>`
  return page({ ...visit, path: at }, { title: words.deletions, section: 'company-deletions', main })
}
