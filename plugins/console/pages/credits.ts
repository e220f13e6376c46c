import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { type Query, textOf } from '../form/filter.ts'
import { wordFor, type Words } from '../language/language.ts'
import { type CreditsView, withQuery } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { page, table, time } from './layout.ts'

/** The credits of the company: what was given, taken back and paid, with why. */
export const creditsPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/credits', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const cursor = textOf(request.query['cursor'])
    const { balance, held, ledger, nextCursor } = await api.read<CreditsView>(withQuery('/api/v1/credits', { limit: '50', cursor }))
    const more = nextCursor === null
      ? html``
      : html`<hr><p><a href="${withQuery('/console/credits', { cursor: nextCursor })}" rel="next">${words.older}</a></p>`
    const main = html`<section aria-labelledby="now"><h2 id="now">${words.creditsFree}</h2><p class="figure">${String(balance - held)}</p>
<p class="quiet">${words.creditsHeldNow}${words.colon}${String(held)}</p></section>
<section aria-labelledby="ledger"><h2 id="ledger">${words.ledger}</h2>${
      ledger.length === 0 ? html`<p>${words.ledgerNone}</p>` : ledgerTable(words, ledger)
    }${more}</section>`
    return reply.page(page(visit, { title: words.credits, section: 'home', main }))
  })
  done()
}

function ledgerTable (words: Words, ledger: CreditsView['ledger']): Html {
  const rows = ledger.map(({ kind, amount, balance, dispatchId, reason, at }) =>
    html`<tr><td>${time(at)}</td><th scope="row">${wordFor(words, 'ledger', kind)}</th><td class="count">${amount > 0 ? '+' : ''}${
      String(amount)
    }</td><td class="count">${String(balance)}</td><td>${
      dispatchId === undefined ? reason : html`<a href="/console/dispatches/${dispatchId}">${words.dispatch}</a>`
    }</td></tr>\n`
  )
  return table(words.ledger, [words.auditAt, words.action, words.amount, words.ledgerAfter, words.reason], rows)
}
