import { type Confirmation, type ConfirmRequest, documentFrames, errorOf, facts, fill, type Html, html, namedIn, notice, page, pathIn,
  planned, pretty, type Refusal, sendNamedDocument, sendTemplateDocument, sentences, table, time, visitWith, withQuery, withWords,
  wordFor } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import type { ProposalReview, ProposalSummary } from '../contract/proposals.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

const wordsOf = withWords({ en, fr })
const visitOf = visitWith(wordsOf)
type Visit = ReturnType<typeof visitOf>
type Words = Visit['words']
type Named = { Params: { id: string } }
type Nth = { Params: { id: string, nth: string } }

const pathOf = ({ params: { id } }: { params: { id: string } }): string => `/api/v1/proposals/${encodeURIComponent(id)}`

/** What assistants propose: each with its document, its request and its price, and two buttons. */
export const proposalsPages: FastifyPluginCallback = (app, _options, done) => {
  app.get('/proposals', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api, mode } = visit
    const { data } = await api.read<{ data: ProposalSummary[] }>(withQuery('/api/v1/proposals', { sandbox: String(mode === 'test') }))
    const list = data.length === 0
      ? html`<p>${words.proposalsNone}</p><p><a href="/docs/assistants" hreflang="en">${words.proposalsHow}</a></p>`
      : table(words.proposals, [words.proposalService, words.proposalAt, words.proposalReason, words.proposalStatus],
        data.map((one) => row(words, one)))
    const main = html`<section aria-label="${words.proposals}"><p>${words.proposalsIntro}</p>${list}</section>`
    return reply.page(page(visit, { title: words.proposals, section: 'proposals', main }))
  })

  app.get<Named>('/proposals/:id', async (request, reply) => {
    const visit = visitOf(request)
    const proposal = await visit.api.read<ProposalReview>(pathOf(request))
    const its = placeElsewhere(visit, proposal)
    return its === undefined ? reply.page(view(visit, proposal), 'framing') : reply.redirect(its, 303)
  })

  app.get<Nth>('/proposals/:id/templates/:nth', async (request, reply) => {
    const visit = visitOf(request)
    return sendTemplateDocument(reply, visit, (await visit.api.read<ProposalReview>(pathOf(request))).request, request.params.nth)
  })

  app.get<Nth>('/proposals/:id/documents/:nth', async (request, reply) => {
    const visit = visitOf(request)
    return sendNamedDocument(reply, visit, (await visit.api.read<ProposalReview>(pathOf(request))).request, request.params.nth)
  })

  app.post<Named & { Body: URLSearchParams }>('/proposals/:id/send', async (request, reply) => {
    const visit = visitOf(request)
    const its = placeElsewhere(visit, await visit.api.read<ProposalReview>(pathOf(request)))
    if (its !== undefined) return reply.redirect(its, 303)
    const sent = await visit.api.send<ProposalReview>('POST', `${pathOf(request)}/send`, { seen: request.body.get('seen') ?? '' })
    if (sent.ok) return reply.redirect(`/console/dispatches/${String(sent.body.dispatchId)}`, 303)
    return refused(request, reply, sent)
  })

  app.post<Named>('/proposals/:id/decline', { config: { confirms: refusal } }, async (request, reply) => {
    const visit = visitOf(request)
    const its = placeElsewhere(visit, await visit.api.read<ProposalReview>(pathOf(request)))
    if (its !== undefined) return reply.redirect(its, 303)
    const declined = await visit.api.send('POST', `${pathOf(request)}/decline`)
    if (!declined.ok) return refused(request, reply, declined)
    return reply.redirect(`/console/proposals/${encodeURIComponent(request.params.id)}`, 303)
  })
  done()
}

/** Where a proposal is seen whose mode is another one than that of the page: nothing is decided about it from there. */
function placeElsewhere ({ mode }: Visit, { id, sandbox }: ProposalSummary): string | undefined {
  const its = sandbox ? 'test' : 'live'
  return its === mode ? undefined : pathIn(its, `/console/proposals/${encodeURIComponent(id)}`)
}

/** The proposal as it is now, with why nothing was decided. */
async function refused (request: FastifyRequest<Named>, reply: FastifyReply, refusal: Refusal): Promise<FastifyReply> {
  const visit = visitOf(request)
  const reported = notice('bad', sentences(visit.words, errorOf(refusal)))
  return reply.code(refusal.status).page(view(visit, await visit.api.read<ProposalReview>(pathOf(request)), reported), 'framing')
}

/** Asks before a proposal is declined. */
async function refusal (request: ConfirmRequest): Promise<Confirmation | undefined> {
  const visit = visitOf(request)
  const { words, api } = visit
  const proposal = await api.read<ProposalReview>(pathOf(request))
  if (placeElsewhere(visit, proposal) !== undefined) return undefined
  const { service, reason } = proposal
  return {
    title: `${words.proposalDecline}${words.colon}${wordFor(words, 'service', service)}`,
    says: [words.proposalDeclineIntro],
    touches: [[words.proposalReason, reason]],
    button: words.proposalDecline,
    back: `/console/proposals/${encodeURIComponent(request.params.id)}`
  }
}

const servicesOf = (words: Words, service: string): string => service.split('/').map((name) => wordFor(words, 'service', name)).join(' → ')

function row (words: Words, { id, service, createdAt, reason = '', status }: ProposalSummary): Html {
  return html`<tr><th scope="row"><a href="/console/proposals/${id}">${service}</a></th><td>${time(createdAt)}</td><td>${reason}</td><td>${
    words[`proposal_${status}`]
  }</td></tr>\n`
}

function view (visit: Visit, proposal: ProposalReview, refused: Html = html``): Html {
  const { words } = visit
  const { id, service, reason, status, userId, dispatchId, createdAt, request, review, problem } = proposal
  const { files } = namedIn(request)
  const name = servicesOf(words, service)
  const frame = documentFrames(words, request, { title: words.proposalDocument, name, source: `/console/proposals/${id}` })
  const main = html`${refused}<section aria-label="${words.proposals}">${
    facts([
      [words.proposalStatus, words[`proposal_${status}`]],
      [words.proposalService, name],
      [words.proposalAt, time(createdAt)],
      [words.proposalBy, String(userId)],
      [words.proposalReason, reason],
      [words.proposalDispatch, dispatchId === null ? undefined : html`<a href="/console/dispatches/${dispatchId}">${dispatchId}</a>`]
    ])
  }</section>${problem === undefined ? html`` : notice('warn', sentences(words, problem))}${
    review === null ? html`` : decision(words, id, review, files)
  }${frame}<section aria-labelledby="request"><h2 id="request">${words.proposalRequest}</h2><pre tabindex="0">${
    pretty(request)
  }</pre></section>`
  return page(visit, { title: fill(words.proposalOf, { at: createdAt.slice(0, 10) }), section: 'proposals', main })
}

/** Nobody sends what nobody can look at: an uploaded file is not shown. */
function decision (words: Words, id: string, review: NonNullable<ProposalReview['review']>, files: readonly string[]): Html {
  const send = files.length > 0
    ? notice('warn', html`<p>${fill(words.proposalUnseen, { files: files.join(', ') })}</p>`)
    : html`<form method="post" action="/console/proposals/${id}/send"><input type="hidden" name="seen" value="${review.seen}">
<button>${words.proposalSend}</button></form>`
  return html`<section aria-labelledby="plan"><h2 id="plan">${words.proposalPlan}</h2>${
    planned(words, words.proposalPlan, review)
  }<div class="actions">${send}<form method="post" action="/console/proposals/${id}/decline"><button class="second">${words.proposalDecline}</button></form></div></section>`
}
