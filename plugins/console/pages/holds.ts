import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { wordFor, type Words } from '../language/language.ts'
import { type HoldView, type ProviderView, withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { badge, notice, page, table, time } from './layout.ts'
import { providerTitle, readProviders } from './provider-names.ts'

/** The steps of all companies that hold credits or are in doubt, for operators, the oldest first. */
export const holdsPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/operation/holds', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const { uncertain, cursor, resolved } = request.query
    const filter = { uncertain: uncertain === 'true' ? 'true' : '', cursor: typeof cursor === 'string' ? cursor : '' }
    const [{ data, nextCursor }, providers] = await Promise.all([
      api.read<{ data: HoldView[], nextCursor: string | null }>(withQuery('/api/v1/queue/holds', filter)),
      readProviders(visit)
    ])
    const main = html`<p><a href="/console/operation">${words.operation}</a></p>${
      resolved === undefined ? html`` : notice('good', html`<p>${words.holdResolved}</p>`)
    }${choices(words, filter.uncertain === 'true')}
<section aria-labelledby="list"><h2 id="list">${filter.uncertain === '' ? words.holdsAll : words.holdsUncertain}</h2>${
      data.length === 0 ? html`<p>${words.holdsNone}</p>` : html`${holdTable(visit, data, providers)}`
    }${
      nextCursor === null
        ? html``
        : html`<hr><p><a href="${
          withQuery('/console/operation/holds', { ...filter, cursor: nextCursor })
        }" rel="next">${words.more}</a></p>`
    }<p class="quiet">${words.holdsIntro}</p></section>`
    return reply.page(page(visit, { title: words.holds, section: 'operation', main }))
  })
  done()
}

function choices (words: Words, uncertain: boolean): Html {
  const current = html` aria-current="page"`
  return html`<nav class="views" aria-label="${words.views}"><a href="/console/operation/holds"${
    uncertain ? html`` : current
  }>${words.holdsAll}</a>
<a href="/console/operation/holds?uncertain=true"${uncertain ? current : html``}>${words.holdsUncertain}</a></nav>`
}

/** Operators read the dispatches of their own company; those of others as one of their users. */
function holdTable ({ words, actor }: Visit, holds: readonly HoldView[], providers: readonly ProviderView[]): Html {
  const rows = holds.map((hold) =>
    html`<tr><th scope="row"><a href="/console/companies/${String(hold.companyId)}">${hold.companyName}</a></th><td>${
      hold.companyId === actor.companyId
        ? html`<a href="/console/dispatches/${hold.dispatchId}"><code>${hold.dispatchId}</code></a>`
        : html`<code>${hold.dispatchId}</code>`
    }</td><td>${wordFor(words, 'service', hold.service)}${
      hold.providerName === null ? html`` : html` · ${providerTitle(providers, hold.providerName)}`
    }</td><td>${
      hold.status === 'uncertain'
        ? html`${badge(words, 'status', hold.status)} <a href="/console/operation/holds/${hold.stepId}">${words.resolve}</a>`
        : wordFor(words, 'status', hold.dispatchStatus)
    }</td><td class="count">${String(hold.held)}</td><td>${time(hold.uncertainSince ?? hold.createdAt)}</td></tr>\n`
  )
  return table(words.holds, [words.company, words.dispatch, words.service, words.status, words.creditsHeldNow, words.holdsSince], rows)
}
