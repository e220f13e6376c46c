import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { type Html, html } from '../../html.ts'
import { sentenceOf } from '../form/sentence.ts'
import { creditsOf, documentTypeName, serviceNames, wordFor, type Words } from '../language/language.ts'
import { type ApiAnswer, type CallbackView, type ChoicesView, type DispatchView, type EventView, isUnderWay, type ProviderView,
  type Refusal, type VendorCallView, withQuery } from '../session/api.ts'
import { pathIn } from '../session/mode.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { anchors } from './anchors.ts'
import { callbackList } from './callbacks.ts'
import { cancellation, cancellationIn, isCancellable } from './dispatch-cancellation.ts'
import { choiceTable } from './dispatch-choices.ts'
import { correctableOf, type Correction, correctionForms, isRetriable, readCorrection, readRequest,
  writtenCorrection } from './dispatch-correction.ts'
import { canBeCredited, credit } from './dispatch-credit.ts'
import { documentSections, shownOf } from './dispatch-document.ts'
import { canBeDuplicated, duplicate } from './dispatch-duplicate.ts'
import { failureNotice, fieldToChange, type Ways, wordOfChange } from './dispatch-failure.ts'
import { hasFramedMessage, messageSections } from './dispatch-message.ts'
import { requestSection, templateLink } from './dispatch-request.ts'
import { readStatuses, statusAsked, statusIn, statusSection } from './dispatch-statuses.ts'
import { timeline } from './dispatch-timeline.ts'
import { following } from './follow.ts'
import { badge, facts, notice, page, requestNumber, sentences, time } from './layout.ts'
import { nameIn, type People, readPeople } from './people.ts'
import { providerTitle, readProviders } from './provider-names.ts'
import { readFinding, resolveForm } from './resolve-form.ts'
import { timeFields } from './send-view.ts'
import { shownCalls, vendorCallsSection } from './vendor-calls.ts'

type Named = { Params: { id: string } }
type Posted = Named & { Body: URLSearchParams }
type Step = DispatchView['steps'][number]
type List<Item> = { data: Item[], nextCursor: string | null }

/** One dispatch: its steps, its timeline and its callbacks, and what a person can do about it. */
export const dispatchPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named>('/dispatches/:id', (request, reply) => show(visitOf(request), request.params.id, reply))

  app.post<Posted>('/dispatches/:id/cancel', { config: { confirms: cancellation } },
    (request, reply) => act(visitOf(request), request.params.id, reply, 'cancel'))

  app.post<Posted>('/dispatches/:id/statuses', { config: { confirms: statusAsked } }, async (request, reply) => {
    const { params: { id }, body } = request
    const visit = visitOf(request)
    const answer = await visit.api.send('POST', `${pathOf(id)}/statuses`, statusIn(body))
    return settle(visit, id, reply, answer)
  })

  app.post<Posted>('/dispatches/:id/schedule', async (request, reply) => {
    const { params: { id }, body } = request
    const visit = visitOf(request)
    const textOf = (name: string): string => (body.get(name) ?? '').trim()
    const typed = { sendAt: textOf(':sendAt'), timeZone: textOf(':timeZone') }
    const isNow = body.has(':now')
    if (!isNow && typed.sendAt === '') return show(visit, id, reply.code(422), { refused: html`<p>${visit.words.moveWhen}</p>` })
    const requested = isNow ? {} : movedTo(typed, await visit.api.read<DispatchView>(pathOf(id)))
    return settle(visit, id, reply, await visit.api.send('PUT', `${pathOf(id)}/schedule`, requested))
  })

  app.post<Posted>('/dispatches/:id/duplicate', async (request, reply) => {
    const { params: { id }, body } = request
    const visit = visitOf(request)
    const made = await duplicate(visit, id)
    if (!made.ok) return settle(visit, id, reply, made)
    const field = body.get('field') ?? ''
    const place = /^[\w-]{1,60}$/.test(field) ? `#f-data.${field}` : ''
    return reply.redirect(`${withQuery('/console/send', { draft: made.body.id })}${place}`, 303)
  })

  app.post<Posted>('/dispatches/:id/credit', async (request, reply) => {
    const { params: { id } } = request
    const visit = visitOf(request)
    const made = await credit(visit, id)
    if (made === undefined) return show(visit, id, reply.code(422), { refused: html`<p>${visit.words.creditNone}</p>` })
    if (!made.ok) return settle(visit, id, reply, made)
    return reply.redirect(withQuery('/console/send', { draft: made.body.id }), 303)
  })

  app.post<Posted>('/dispatches/:id/resolve', { config: { confirms: 'form' } },
    (request, reply) => act(visitOf(request), request.params.id, reply, 'resolve', readFinding(request.body)))

  app.post<Posted>('/dispatches/:id/retry', { bodyLimit }, (request, reply) => {
    const { params: { id }, body } = request
    const correction = writtenCorrection(body.get('correction') ?? '')
    const visit = visitOf(request)
    return correction === undefined
      ? show(visit, id, reply.code(400), { refused: html`<p>${visit.words.correctionUnreadable}</p>` })
      : act(visit, id, reply, 'retry?async=true', correction)
  })

  app.post<Posted>('/dispatches/:id/correct', { bodyLimit }, async (request, reply) => {
    const { params: { id }, body } = request
    const visit = visitOf(request)
    return correct(visit, id, reply, body)
  })

  app.post<Posted & { Params: { callback: string } }>('/dispatches/:id/callbacks/:callback', async (request, reply) => {
    const { params: { id, callback } } = request
    const visit = visitOf(request)
    return settle(visit, id, reply, await visit.api.send('POST', `/api/v1/callbacks/${encodeURIComponent(callback)}/replay`))
  })
  done()
}

/** The schedule of a dispatch with another time. Its hours stay, and so does the zone in which they are meant. */
function movedTo (typed: { sendAt: string, timeZone: string }, { schedule: { sendAt: _, ...hours } = {} }: DispatchView): object {
  return { ...hours, ...momentIn(typed.sendAt, typed.timeZone === '' ? 'UTC' : typed.timeZone) }
}

/** A local time as a moment. What is none is left to the API, which says why. */
function momentIn (sendAt: string, timeZone: string): { sendAt: string, timeZone?: string } {
  try {
    const local = Temporal.PlainDateTime.from(sendAt)
    const there = local.toZonedDateTime(timeZone)
    if (there.toPlainDateTime().equals(local)) return { sendAt: there.toInstant().toString() }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return { sendAt, timeZone }
}

/** Asks the API for an action, and shows the dispatch as it is then, or why it was refused. */
async function act (visit: Visit, id: string, reply: FastifyReply, action: string, body?: object): Promise<FastifyReply> {
  return settle(visit, id, reply, await visit.api.send('POST', `${pathOf(id)}/${action}`, body))
}

function settle (visit: Visit, id: string, reply: FastifyReply, answer: ApiAnswer<unknown>): Promise<FastifyReply> | FastifyReply {
  if (answer.ok) return reply.redirect(`/console/dispatches/${encodeURIComponent(id)}`, 303)
  return show(visit, id, reply.code(answer.status), { refused: refusedBy(visit.words, answer) })
}

function refusedBy (words: Words, { error }: Refusal): Html {
  return html`<p>${words.serviceSays}</p>${sentences(words, error)}`
}

function pathOf (id: string): string {
  return `/api/v1/dispatches/${encodeURIComponent(id)}`
}

/** Retries a dispatch with what was corrected. Lines that come and go only show the form again. */
async function correct (visit: Visit, id: string, reply: FastifyReply, body: URLSearchParams): Promise<FastifyReply> {
  const dispatch = await visit.api.read<DispatchView>(pathOf(id))
  const requested = await readRequest(visit.api, id)
  if (!requested.ok) return show(visit, id, reply.code(requested.status), { refused: refusedBy(visit.words, requested) })
  const correction = readCorrection(dispatch, correctableOf(dispatch, requested.body), body)
  // It has gone on since the page was shown.
  if (correction === undefined) return show(visit, id, reply.code(409), { refused: html`<p>${visit.words.correctionTooLate}</p>` })
  if (body.has(':add') || body.has(':remove')) return show(visit, id, reply, { typed: correction })
  const { service, fields } = correction
  const answer = await visit.api.send('POST', `${pathOf(id)}/retry?async=true`, { [service]: fields })
  if (answer.ok) return reply.redirect(`/console/dispatches/${encodeURIComponent(id)}`, 303)
  return show(visit, id, reply.code(answer.status), {
    refused: refusedBy(visit.words, answer),
    typed: { ...correction, error: answer.error }
  })
}

/** In bytes: a message of 100,000 characters, of which many are escaped. */
const bodyLimit = 1024 * 1024

type Shown = { refused?: Html, typed?: Correction }

async function show (visit: Visit, id: string, reply: FastifyReply, { refused, typed }: Shown = {}): Promise<FastifyReply> {
  const { words, api } = visit
  const [dispatch, events, callbacks, choices, people, calls, providers, request] = await Promise.all([
    api.read<DispatchView>(pathOf(id)),
    api.read<List<EventView>>(`${pathOf(id)}/events?limit=100`),
    api.read<List<CallbackView>>(`${pathOf(id)}/callbacks?limit=100`),
    api.send<ChoicesView>('GET', `${pathOf(id)}/choices`),
    readPeople(visit),
    readCalls(visit, id),
    readProviders(visit),
    readRequest(api, id)
  ])
  const itsMode = dispatch.test === true ? 'test' : 'live'
  if (itsMode !== visit.mode && refused === undefined && typed === undefined) {
    return reply.redirect(pathIn(itsMode, `/console/dispatches/${dispatch.dispatchId}`), 303)
  }
  const requested = request.ok ? request.body : undefined
  const at = `/console/dispatches/${encodeURIComponent(id)}`
  const documents = shownOf(dispatch)
  const statuses = await readStatuses(visit, dispatch)
  const correctable = correctableOf(dispatch, requested)
  const duplicable = canBeDuplicated(dispatch)
  const begun = dispatch.status === 'partial' || dispatch.status === 'uncertain'
  const ways = {
    retriable: isRetriable(dispatch),
    uncertain: dispatch.status === 'uncertain' && visit.actor.role === 'admin',
    duplicable,
    begun,
    change: duplicable && !begun ? fieldToChange(dispatch) : undefined,
    creditable: canBeCredited(dispatch, requested),
    correctable
  }
  const main = html`${refused === undefined ? html`` : notice('bad', refused)}${
    isUnderWay(dispatch) ? following(words, { changes: `${at}/changes`, page: at }) : html``
  }
${testNotice(words, dispatch)}<section aria-labelledby="facts"><h2 id="facts">${words.summary}</h2>${
    factsOf(words, { dispatch, events: events.data, people })
  }</section>
${
    dispatch.steps.map((step, index) =>
      stepSection(words, step, {
        index,
        choices,
        providers,
        failure: failureNotice({ words, isAdmin: visit.actor.role === 'admin' }, { step, dispatch, providers }, ways)
      })
    )
  }
${
    actions(words, { dispatch, cancellable: isCancellable(dispatch, { events: events.data, providers }), ways, now: visit.now },
      correctionForms(words, at, { dispatch, steps: correctable, typed }))
  }
${statusSection(words, at, statuses)}${documentSections(words, at, documents)}${messageSections(words, at, requested)}${
    requestSection(words, request)
  }
${vendorCallsSection(words, calls, providers)}<section aria-labelledby="timeline"><h2 id="timeline">${words.timeline}</h2>${
    timeline(words, events, providers)
  }</section>
<section aria-labelledby="callbacks"><h2 id="callbacks">${words.callbacks}</h2>${
    callbacks.data.length === 0 ? html`<p>${words.noCallbacks}</p>` : callbackList(visit, callbacks.data, `${at}/callbacks`)
  }</section>
${requestNumber(words, dispatch.requestId)}`
  const title = [serviceNames(words, dispatch.services, ' + '), dispatch.documentNumber].filter((part) => part !== undefined).join(' · ')
  return reply.page(page({ ...visit, path: at }, { title, section: 'dispatches', main }),
    documents.length > 0 || hasFramedMessage(requested) ? 'framing' : 'closed')
}

/** The last calls of providers, which admins see, and one more where there is one. */
async function readCalls ({ api, actor }: Visit, id: string): Promise<readonly VendorCallView[]> {
  if (actor.role !== 'admin') return []
  return (await api.read<List<VendorCallView>>(`${pathOf(id)}/calls?limit=${String(shownCalls + 1)}`)).data
}

/** What looks real and is not: a test, or a step in a test environment. */
function testNotice (words: Words, { test, steps }: DispatchView): Html {
  if (test !== true && !steps.some(({ sandbox }) => sandbox)) return html``
  return html`<div class="notice warn"><p>${test === true ? words.testNotice : words.sandboxNotice}</p></div>`
}

type Shows = { dispatch: DispatchView, events: readonly EventView[], people: People }

function factsOf (words: Words, { dispatch, events, people }: Shows): Html {
  const metadata = Object.entries(dispatch.metadata).map(([name, value]) => html`<code>${name}</code> ${value}<br>`)
  return facts([
    [words.status,
      html`<span role="status">${badge(words, 'status', dispatch.status)}</span>${
        dispatch.test === true ? html` <span class="badge">${words.testData}</span>` : html``
      }`],
    [words.cancellation, cancellationIn(words, events)],
    [words.recipient, dispatch.recipient],
    [words.documentType, dispatch.documentType === undefined ? undefined : documentTypeName(words, dispatch.documentType)],
    [words.sendTemplate, dispatch.template === null ? undefined : templateLink(words, dispatch.template)],
    [words.created, time(dispatch.createdAt)],
    [words.sender, nameIn(words, people, dispatch.userId)],
    [words.finished, dispatch.finishedAt === null ? null : time(dispatch.finishedAt)],
    [words.sentAt, dispatch.sendAt === undefined ? undefined : time(dispatch.sendAt)],
    [words.nextTry, dispatch.nextTryAt === undefined || waitsForItsTime(dispatch) ? undefined : time(dispatch.nextTryAt)],
    [words.price, creditsOf(words, dispatch.creditsCharged)],
    [words.metadata, metadata.length === 0 ? undefined : html`${metadata}`],
    [words.dispatchId, html`<code>${dispatch.dispatchId}</code>`]
  ])
}

type StepPlace = {
  index: number
  choices: ApiAnswer<ChoicesView>
  providers: readonly ProviderView[]
  failure: Html
}

function stepSection (words: Words, step: Step, { index, choices, providers, failure }: StepPlace): Html {
  const { generatedDocument: made, providerResponse: answer, providerName, providerVersion, chosenBy, deliveryStatus = null } = step
  const id = `step-${String(index)}`
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${wordFor(words, 'service', step.service)} ${
    badge(words, 'status', step.status)
  }</h2>
${failure}
${
    facts([
      [words.sendTemplate, step.template === undefined ? undefined : templateLink(words, step.template)],
      [words.provider, providerName === null ?
        words.noProvider :
        html`${providerTitle(providers, providerName)}${providerVersion === null ? '' : ` ${providerVersion}`}${
          step.sandbox ? html` <span class="badge">${words.sandbox}</span>` : html``
        }`],
      [words.whyProvider, chosenBy === null ? null : words[`chosen_${chosenBy}`]],
      [words.vendorId, answer === null ? null : html`<code>${answer.id}</code>`],
      [words.vendorStatus, answer?.status],
      [words.delivery, deliveryStatus === null
        ? null
        : html`${badge(words, 'delivery', deliveryStatus)} ${
          step.deliveryMessage === undefined ? '' : sentenceOf(words, { message: step.deliveryMessage })
        }`],
      [words.reason, step.deliveryReason],
      [words.deferredOn, step.deferredOn],
      [words.nextTry, step.nextTryAt === undefined ? undefined : time(step.nextTryAt)],
      [words.document, made === null ? null : html`<a href="${made.url}">${made.filename}</a>`],
      [words.price, creditsOf(words, step.creditsCharged)]
    ])
  }${choices.ok ? choiceTable(words, choices.body, { index, providers }) : html``}</section>
`
}

/** Whether nothing of it has begun because its time has not come. */
function waitsForItsTime ({ status, sendAt, nextTryAt }: DispatchView): boolean {
  return status === 'queued' && sendAt !== undefined && sendAt === nextTryAt
}

/** What can be done with a dispatch in its state; the API decides whether it may be. */
function actions (
  words: Words,
  { dispatch, cancellable, ways, now }: { dispatch: DispatchView, cancellable: boolean, ways: Ways, now: Date },
  corrections: readonly Html[]
): Html {
  const at = `/console/dispatches/${dispatch.dispatchId}`
  const { uncertain, retriable, duplicable, change, creditable = false } = ways
  const field = fieldToChange(dispatch)
  if (!uncertain && !retriable && !cancellable && !duplicable) return html``
  const changes = change !== undefined
  const anew = duplicable
    ? html`<form method="post" action="${at}/duplicate" id="${anchors.anew}"><p>${words.sendAnewIntro}</p>${
      field === undefined ? html`` : html`<input type="hidden" name="field" value="${field}">`
    }<div class="actions"><button${changes ? html`` : html` class="second"`}>${
      changes ? wordOfChange(words, change) : words.sendAnew
    }</button></div></form>`
    : html``
  return html`<section aria-labelledby="actions"><h2 id="actions">${words.actions}</h2>
${
    uncertain
      ? html`<div id="${anchors.resolve}">${resolveForm(words, `${at}/resolve`, words.resolveIntro)}</div>`
      : html``
  }${changes ? anew : html``}${
    retriable
      ? html`<form method="post" action="${at}/retry" id="${anchors.retry}"><p>${words.retryIntro}</p>
<div class="actions"><button${changes ? html` class="second"` : html``}>${words.retry}</button></div></form>${corrections}`
      : html``
  }${
    waitsForItsTime(dispatch)
      ? html`<form method="post" action="${at}/schedule"><p>${words.moveIntro}</p>${
        timeFields(words, { sendAt: '', timeZone: '' }, { help: words.moveWhen, now })
      }<div class="actions"><button class="second">${words.move}</button></div></form>
<form method="post" action="${at}/schedule"><input type="hidden" name=":now" value="true"><p>${words.moveNowIntro}</p>
<div class="actions"><button class="second">${words.moveNow}</button></div></form>`
      : html``
  }${
    cancellable
      ? html`<form method="post" action="${at}/cancel"><p>${words.cancelIntro}</p><div class="actions"><button class="danger">${words.cancel}</button></div></form>`
      : html``
  }${changes ? html`` : anew}${
    creditable
      ? html`<form method="post" action="${at}/credit"><p>${words.creditIntro}</p>
<div class="actions"><button class="second">${words.credit}</button></div></form>`
      : html``
  }</section>`
}
