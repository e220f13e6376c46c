import { type Asked, type Confirmation, facts, fill, type Html, html, modeOf, notice, page, pathIn, planned, pretty, previewFrame,
  sendNoPreview, sendPreview, sentences, table, templateIn, time, visitWith, withWords, wordFor } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import type { ProposalReview, ProposalSummary } from '../contract/proposals.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

const wordsOf = withWords({ en, fr })
const visitOf = visitWith(wordsOf)
type Visit = ReturnType<typeof visitOf>
type Words = Visit['words']
type Named = { Params: { id: string } }

const pathOf = ({ params: { id } }: Pick<FastifyRequest<Named>, 'params'>): string => `/api/v1/proposals/${encodeURIComponent(id)}`

/** What assistants propose: each with its document, its request and its price, and two buttons. */
export const proposalsPages: FastifyPluginCallback = (app, _options, done) => {
  // A proposal is one to send for real: whoever comes from tests is led to where it can be seen, and nothing is done.
  app.addHook('onRequest', async (request, reply) => {
    if (modeOf(request) === 'test') return reply.redirect(pathIn('live', request.url.replace(/\/(?:send|decline)$/, '')), 303)
  })

  app.get('/proposals', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const { data } = await api.read<{ data: ProposalSummary[] }>('/api/v1/proposals')
    const list = data.length === 0
      ? html`<p>${words.proposalsNone}</p>`
      : table(words.proposals, [words.proposalService, words.proposalAt, words.proposalReason, words.proposalStatus],
        data.map((one) => row(words, one)))
    const main = html`<section aria-label="${words.proposals}"><p>${words.proposalsIntro}</p>${list}</section>`
    return reply.page(page(visit, { title: words.proposals, section: 'proposals', main }))
  })

  app.get<Named>('/proposals/:id', async (request, reply) => {
    const visit = visitOf(request)
    return reply.page(view(visit, await visit.api.read<ProposalReview>(pathOf(request))), 'framing')
  })

  app.get<Named>('/proposals/:id/document', async (request, reply) => {
    const { api } = visitOf(request)
    const { request: asked } = await api.read<ProposalReview>(pathOf(request))
    const made = await api.file(`/api/v1/templates/${String(templateIn(asked)?.id ?? 0)}/preview`, { data: templateIn(asked)?.data ?? {} })
    return made.ok ? sendPreview(reply, made.body) : sendNoPreview(reply, made.status, [made.error.message])
  })

  app.post<Named & { Body: URLSearchParams }>('/proposals/:id/send', async (request, reply) => {
    const visit = visitOf(request)
    const sent = await visit.api.send<ProposalReview>('POST', `${pathOf(request)}/send`, { seen: request.body.get('seen') ?? '' })
    if (sent.ok) return reply.redirect(`/console/dispatches/${String(sent.body.dispatchId)}`, 303)
    const refused = notice('bad', sentences(visit.words, sent.error))
    return reply.code(sent.status).page(view(visit, await visit.api.read<ProposalReview>(pathOf(request)), refused), 'framing')
  })

  app.post<Named>('/proposals/:id/decline', { config: { confirms: refusal } }, async (request, reply) => {
    await visitOf(request).api.send('POST', `${pathOf(request)}/decline`)
    return reply.redirect(`/console/proposals/${encodeURIComponent(request.params.id)}`, 303)
  })
  done()
}

/** Asks before a proposal is declined. */
async function refusal (request: Asked): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const { service, reason } = await api.read<ProposalReview>(pathOf(request))
  return {
    title: `${words.proposalDecline}${words.colon}${wordFor(words, 'service', service)}`,
    says: [words.proposalDeclineIntro],
    touches: [[words.proposalReason, reason]],
    button: words.proposalDecline,
    back: `/console/proposals/${encodeURIComponent(request.params.id)}`
  }
}

function row (words: Words, { id, service, createdAt, reason = '', status }: ProposalSummary): Html {
  return html`<tr><th scope="row"><a href="/console/proposals/${id}">${service}</a></th><td>${time(createdAt)}</td><td>${reason}</td><td>${
    words[`proposal_${status}`]
  }</td></tr>\n`
}

function view (visit: Visit, proposal: ProposalReview, refused: Html = html``): Html {
  const { words } = visit
  const { id, service, reason, status, userId, dispatchId, createdAt, request, review, problem } = proposal
  const frame = templateIn(request) === undefined
    ? html``
    : html`<section aria-labelledby="document"><h2 id="document">${words.proposalDocument}</h2>${
      previewFrame(words, { name: service, source: `/console/proposals/${id}/document` })
    }</section>`
  const main = html`${refused}<section aria-label="${words.proposals}">${
    facts([
      [words.proposalStatus, words[`proposal_${status}`]],
      [words.proposalService, service.split('/').map((name) => wordFor(words, 'service', name)).join(' → ')],
      [words.proposalAt, time(createdAt)],
      [words.proposalBy, String(userId)],
      [words.proposalReason, reason],
      [words.proposalDispatch, dispatchId === null ? undefined : html`<a href="/console/dispatches/${dispatchId}">${dispatchId}</a>`]
    ])
  }</section>${problem === undefined ? html`` : notice('warn', html`<p>${problem}</p>`)}${
    review === null ? html`` : decision(words, id, review)
  }${frame}<section aria-labelledby="request"><h2 id="request">${words.proposalRequest}</h2><pre tabindex="0">${
    pretty(request)
  }</pre></section>`
  return page(visit, { title: fill(words.proposalOf, { at: createdAt.slice(0, 10) }), section: 'proposals', main })
}

function decision (words: Words, id: string, review: NonNullable<ProposalReview['review']>): Html {
  return html`<section aria-labelledby="plan"><h2 id="plan">${words.proposalPlan}</h2>${
    planned(words, words.proposalPlan, review)
  }<div class="actions"><form method="post" action="/console/proposals/${id}/send"><input type="hidden" name="seen" value="${review.seen}">
<button>${words.proposalSend}</button></form>
<form method="post" action="/console/proposals/${id}/decline"><button class="second">${words.proposalDecline}</button></form></div></section>`
}
