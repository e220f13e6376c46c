import { ApiRefused, type Asked, type Confirmation, fill, type Html, html, page, table, time, visitWith, withQuery, withWords,
  wordFor } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { DraftSummary } from '../contract/drafts.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

const wordsOf = withWords({ en, fr })
const visitOf = visitWith(wordsOf)
type Words = ReturnType<typeof wordsOf>

/** The drafts of the reader. */
export const draftsPages: FastifyPluginCallback = (app, _options, done) => {
  app.get('/drafts', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api, actor, mode } = visit
    const { data } = await api.read<{ data: DraftSummary[] }>(withQuery('/api/v1/drafts', { sandbox: String(mode === 'test') }))
    const rows = data.map((draft) => row(words, draft, actor.userId))
    const list = rows.length === 0
      ? html`<p>${words.draftsNone}</p>`
      : table(words.drafts, [words.draftOf, words.draftWritten, words.status, words.draftDelete], rows)
    const main = html`<section aria-label="${words.drafts}"><p>${words.draftsIntro}</p>${list}</section>`
    return reply.page(page(visit, { title: words.drafts, section: 'drafts', main }))
  })

  app.post<{ Params: { id: string } }>('/drafts/:id/delete', { config: { confirms: deletion } }, async (request, reply) => {
    const deleted = await visitOf(request).api.send('DELETE', `/api/v1/drafts/${encodeURIComponent(request.params.id)}`)
    if (!deleted.ok) throw new ApiRefused(deleted)
    return reply.redirect('/console/drafts', 303)
  })
  done()
}

/** Asks before a draft is deleted. */
async function deletion (request: Asked): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const { updatedAt, service } = await api.read<DraftSummary>(`/api/v1/drafts/${encodeURIComponent(request.params.id)}`)
  return {
    title: fill(words.draftDeleteOf, { at: updatedAt.slice(0, 16).replace('T', ' ') }),
    says: [words.draftDeleteIntro],
    touches: [[words.draftOf, service.split('/').map((name) => wordFor(words, 'service', name)).join(' → ')]],
    button: words.draftDelete,
    back: '/console/drafts'
  }
}

function row (words: Words, draft: DraftSummary, reader: number): Html {
  const { id, service, updatedAt, shared, dispatchId, userId } = draft
  const named = service.split('/').map((name) => wordFor(words, 'service', name)).join(' → ')
  const signs = [
    ...dispatchId === null
      ? []
      : [html`<a href="/console/dispatches/${dispatchId}"><span class="badge good">${words.draftSent}</span></a>`],
    ...shared ? [html`<span class="badge calm">${words.draftShared}</span>`] : []
  ]
  const remove = userId === reader
    ? html`<form method="post" action="/console/drafts/${id}/delete"><button class="second" aria-label="${
      fill(words.draftDeleteOf, { at: updatedAt })
    }">${words.draftDelete}</button></form>`
    : html``
  return html`<tr><th scope="row"><a href="${withQuery('/console/send', { draft: id })}">${named}</a></th><td>${
    time(updatedAt)
  }</td><td>${signs}</td><td>${remove}</td></tr>\n`
}
