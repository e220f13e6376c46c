import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { type Html, html } from '../../html.ts'
import { wordFor, type Words } from '../language/language.ts'
import type { HoldView, ProviderView, Refusal } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { badge, facts, notice, page, sentences, time } from './layout.ts'
import { providerTitle, readProviders } from './provider-names.ts'
import { type Finding, readFinding, resolveForm } from './resolve-form.ts'

type Named = { Params: { id: string } }
type Posted = Named & { Body: URLSearchParams }

/** One step of any company, whose doubt an operator ends. */
export const holdPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named>('/operation/holds/:id', (request, reply) => show(visitOf(request), request.params.id, reply))

  app.post<Posted>('/operation/holds/:id/resolve', { config: { confirms: 'form' } }, async (request, reply) => {
    const { params: { id }, body } = request
    const visit = visitOf(request)
    const found = readFinding(body)
    const answer = await visit.api.send('POST', `${pathOf(id)}/resolve`, found)
    return answer.ok
      ? reply.redirect('/console/operation/holds?uncertain=true&resolved=1', 303)
      : show(visit, id, reply.code(answer.status), { ...found, refused: answer.error })
  })
  done()
}

function pathOf (id: string): string {
  return `/api/v1/queue/holds/${encodeURIComponent(id)}`
}

type Typed = Finding & { refused?: Refusal['error'] }

async function show (visit: Visit, id: string, reply: FastifyReply, { refused, ...finding }: Typed = {}): Promise<FastifyReply> {
  const { words, api } = visit
  const [hold, providers] = await Promise.all([api.read<HoldView>(pathOf(id)), readProviders(visit)])
  const main = html`<p><a href="/console/operation/holds?uncertain=true">${words.holdsUncertain}</a></p>${
    refused === undefined ? html`` : notice('bad', sentences(words, refused))
  }
${summary(words, hold, providers)}
${hold.status === 'uncertain' ? actions(words, hold, finding) : html`<p>${words.holdNotInDoubt}</p>`}`
  return reply.page(page(visit, { title: words.holdsUncertain, section: 'operation', main }))
}

function summary (words: Words, hold: HoldView, providers: readonly ProviderView[]): Html {
  return html`<section aria-labelledby="facts"><h2 id="facts">${words.summary}</h2>${
    facts([
      [words.company, html`<a href="/console/companies/${String(hold.companyId)}">${hold.companyName}</a>`],
      [words.dispatch, html`<code>${hold.dispatchId}</code>`],
      [words.service, wordFor(words, 'service', hold.service)],
      [words.provider, hold.providerName === null ? null : providerTitle(providers, hold.providerName)],
      [words.status, badge(words, 'status', hold.status)],
      [words.creditsHeldNow, String(hold.held)],
      [words.created, time(hold.createdAt)],
      [words.holdsSince, hold.uncertainSince === null ? null : time(hold.uncertainSince)]
    ])
  }</section>`
}

function actions (words: Words, { stepId }: HoldView, finding: Finding): Html {
  const intro = `${words.resolveIntro} ${words.holdResolveIntro}`
  return html`<section aria-labelledby="actions"><h2 id="actions">${words.actions}</h2>
${resolveForm(words, `/console/operation/holds/${stepId}/resolve`, intro, finding)}</section>`
}
