import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { type Html, html } from '../../html.ts'
import { onceIn } from '../form/fields.ts'
import { pretty } from '../form/json.ts'
import { creditsOf, fill, wordFor, type Words } from '../language/language.ts'
import { ApiRefused, type Refusal, type ValidationResponse, withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { notice, sentences } from './layout.ts'
import { sendNoPreview, sendPreview } from './preview.ts'
import { nameOf } from './provider-names.ts'
import { requestFile } from './send-code.ts'
import { addressOf, beginDraft, type Draft, readDraft, requestOf, type SentTemplate } from './send-draft.ts'
import { choicePage, draftPage, type Shown } from './send-view.ts'

type Posted = { Body: URLSearchParams }

/** The largest form, in bytes: data of 200,000 characters, of which many are escaped. */
const bodyLimit = 2 * 1024 * 1024

/** Sending a document: a template, its data in a form, a look at the document, and the dispatch. */
export const sendPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/send', async (request, reply) => {
    const visit = visitOf(request)
    const textOf = (name: string): string => typeof request.query[name] === 'string' ? request.query[name] : ''
    const chosen = { template: textOf('template'), service: textOf('service') }
    const then = [textOf('then1'), textOf('then2')]
    if (chosen.template !== '') return show(request, reply, await beginDraft(visit, { ...chosen, then }))
    const q = textOf('q').slice(0, 100)
    const path = withQuery('/api/v1/templates', { status: 'published', limit: '100', q, cursor: textOf('cursor') })
    const { data, nextCursor } = await visit.api.read<{ data: SentTemplate[], nextCursor: string | null }>(path)
    return reply.page(choicePage(visit, { templates: data, nextCursor, q }))
  })

  // Lines that come and go, and the data as JSON or as a form.
  app.post<Posted>('/send', { bodyLimit }, async (request, reply) => show(request, reply, await readDraft(visitOf(request), request.body)))

  app.post<Posted>('/send/validate', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const draft = await readDraft(visit, request.body)
    const found = await visit.api.send<ValidationResponse>('POST', addressOf(draft, '/validate'), requestOf(draft))
    return found.ok ? show(request, reply, draft, validated(visit.words, found.body, draft)) : refused(request, reply, draft, found)
  })

  // What the script asks while somebody types: the answer stands beside the fields and the buttons.
  app.post<Posted>('/send/check', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const draft = await readDraft(visit, request.body)
    const found = await visit.api.send<ValidationResponse>('POST', addressOf(draft, '/validate'), requestOf(draft))
    const once = onceIn(request.body)
    if (found.ok) {
      const { body } = found
      return show(request, reply, draft, { told: plannedBy(visit.words, body, draft), problems: body.warnings, accepted: true, once })
    }
    if (found.status === 429 || found.status >= 500) throw new ApiRefused(found)
    return show(request, reply, draft, { told: notYet(visit.words, found), problems: found.error.details ?? [], once })
  })

  app.post<Posted>('/send/request', { bodyLimit }, async (request, reply) => {
    const draft = await readDraft(visitOf(request), request.body)
    return reply.headers({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': `attachment; filename="${requestFile}"`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store'
    }).send(pretty(requestOf(draft)))
  })

  app.post<Posted>('/send/preview', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const { template: { id }, data } = await readDraft(visit, request.body)
    const made = await visit.api.file(`/api/v1/templates/${String(id)}/preview`, { data })
    if (made.ok) return sendPreview(reply, made.body)
    return sendNoPreview(reply, made.status, [made.error.message, ...(made.error.details ?? []).map(({ message }) => message)])
  })

  app.post<Posted>('/send/dispatch', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const draft = await readDraft(visit, request.body)
    const sent = await visit.api.send<{ dispatchId: string }>('POST', addressOf(draft), requestOf(draft), onceIn(request.body))
    const dispatchId = sent.ok ? sent.body.dispatchId : sent.error.dispatchId
    // What was recorded has a page that says how it ended.
    if (dispatchId !== undefined) return reply.redirect(`/console/dispatches/${dispatchId}`, 303)
    return sent.ok ? reply.redirect('/console/dispatches', 303) : refused(request, reply, draft, sent)
  })
  done()
}

function show (request: FastifyRequest, reply: FastifyReply, draft: Draft, shown: Shown = {}): FastifyReply {
  return reply.page(draftPage(visitOf(request), draft, { ...shown, origin: `${request.protocol}://${request.host}` }), 'framing')
}

/** The form again, with everything in it. Where it is in doubt what has happened, a repeat stays the same request. */
function refused (request: FastifyRequest<Posted>, reply: FastifyReply, draft: Draft, refusal: Refusal): FastifyReply {
  const { status, error } = refusal
  if (status === 401) throw new ApiRefused(refusal)
  const { words }: Visit = visitOf(request)
  const once = status >= 500 ? onceIn(request.body) : undefined
  const said = notice('bad', html`<p>${words.sendRefused}</p>${sentences(words, error)}`)
  return show(request, reply.code(status), draft, { said, problems: error.details ?? [], once })
}

function validated (words: Words, found: ValidationResponse, draft: Draft): Shown {
  return {
    said: notice(found.warnings.length === 0 ? 'good' : 'warn', plannedBy(words, found, draft)),
    problems: found.warnings,
    accepted: true
  }
}

/** That the service would accept a request, by whom, for how much, and what it remarks. */
function plannedBy (words: Words, { warnings, plan }: ValidationResponse, { providers }: Draft): Html {
  const steps = plan.map(({ service, providerName, credits }) =>
    html`<p>${
      fill(words.sendPlan, {
        service: wordFor(words, 'service', service),
        provider: providerName == null ? words.noProvider : nameOf(providers, providerName),
        credits: creditsOf(words, credits)
      })
    }</p>`
  )
  const remarks = warnings.length === 0 ? html`` : html`<ul lang="en">${warnings.map(({ message }) => html`<li>${message}</li>`)}</ul>`
  return html`<p>${words.sendValid}</p>${steps}${remarks}`
}

/** The most sentences that are read out while somebody types. All of them stand beside their fields. */
const mostTold = 5

/** What the service would refuse, each with its place in the request. */
function notYet (words: Words, { error: { message, details = [] } }: Refusal): Html {
  const told = details.slice(0, mostTold).map((one) => html`<li><code>${one.path}</code> <span lang="en">${one.message}</span></li>`)
  return html`<p>${words.sendNotYet}</p>${told.length === 0 ? html`<p lang="en">${message}</p>` : html`<ul>${told}</ul>`}`
}
