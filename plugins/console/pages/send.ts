import type { FastifyPluginAsync, FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { randomUUID } from 'node:crypto'
import { type Html, html } from '../../html.ts'
import { onceIn } from '../form/fields.ts'
import { pretty } from '../form/json.ts'
import { placeIn } from '../form/place.ts'
import { isList, isObject } from '../form/schema.ts'
import { sentenceOf } from '../form/sentence.ts'
import { blockIn, blockPage, blockPlace } from '../language/block-place.ts'
import { fill, type Words } from '../language/language.ts'
import { sharedTemplates, templateName } from '../language/template-names.ts'
import { type ApiAnswer, ApiRefused, type Refusal, type ValidationResponse, withQuery } from '../session/api.ts'
import { isAuthor } from '../session/kept-form.ts'
import { pathIn } from '../session/mode.ts'
import { givenServices } from '../session/services.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { profilesSections, type ProfilesView } from './e-invoices.ts'
import { notice, page, sentences } from './layout.ts'
import { sendNoPreview, sendPreview, sendRefusedPreview } from './preview.ts'
import { requestFile } from './send-code.ts'
import { addressOf, beginDraft, type Draft, keepDraft, listFiles, pageOf, readDraft, requestOf, resumeDraft, type SentTemplate,
  type StoredDraft } from './send-draft.ts'
import { fillSection, withRecipient } from './send-fill.ts'
import { type ListedFile, serviceForms } from './send-forms.ts'
import { isReal, review, samplesRefused, type Untouched, untouchedIn } from './send-review.ts'
import { choicePage, draftPage, type Shown } from './send-view.ts'

type Posted = { Body: URLSearchParams }

/** The largest form, in bytes: data of 200,000 characters, of which many are escaped. */
const bodyLimit = 2 * 1024 * 1024

/** A template, and its data in a form. */
const draftPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/send', async (request, reply) => {
    const visit = visitOf(request)
    const textOf = (name: string): string => typeof request.query[name] === 'string' ? request.query[name] : ''
    const given = givenServices.includes(textOf('given')) ? textOf('given') : ''
    const chosen = { template: textOf('template'), service: given === '' ? textOf('service') : given }
    const isChosen = chosen.template !== '' || given !== ''
    const then = [textOf('then1'), textOf('then2')]
    const id = textOf('draft')
    if (isChosen || id !== '') {
      // The address has the number of the draft: who comes back to it sends the same once.
      if (!isDraftId(id)) {
        return reply.redirect(
          withQuery('/console/send', {
            template: chosen.template,
            ...given === '' ? { service: chosen.service } : { given },
            then1: then[0],
            then2: then[1],
            draft: randomUUID()
          }),
          303
        )
      }
      const stored = await visit.api.send<StoredDraft>('GET', `/api/v1/drafts/${id}`)
      const elsewhere = stored.ok ? otherConsole(visit, stored.body) : undefined
      if (elsewhere !== undefined) return reply.redirect(elsewhere, 303)
      const resumed = stored.ok ? await resumeDraft(visit, stored.body) : undefined
      if (stored.ok && resumed !== undefined) {
        const { userId, dispatchId } = stored.body
        if (userId !== visit.actor.userId) return await copy(visit, reply, resumed)
        return show(request, reply, resumed, { once: id, ...dispatchId !== null && { said: wasSent(visit.words, dispatchId) } })
      }
      if (isChosen) return show(request, reply, await beginDraft(visit, { ...chosen, then }), { once: id })
    }
    const q = textOf('q').slice(0, 100)
    const cursor = textOf('cursor')
    const path = withQuery('/api/v1/templates', { status: 'published', limit: '100', q, cursor })
    const { data, nextCursor } = await visit.api.read<{ data: SentTemplate[], nextCursor: string | null }>(path)
    const shared = q === '' || cursor !== '' ? [] : await sharedBeside(visit, q, data)
    return reply.page(choicePage(visit, { templates: [...shared, ...data], nextCursor, q }))
  })

  // Lines that come and go, and the data as JSON or as a form.
  app.post<Posted>('/send', { bodyLimit }, async (request, reply) => {
    const draft = await readKept(request)
    const recipient = request.body.get(':fill') === 'recipient' ? (request.body.get(':recipient') ?? '').trim() : ''
    if (recipient === '') return show(request, reply, draft, onceOf(request))
    const visit = visitOf(request)
    const filled = await withRecipient(visit, draft, recipient)
    const said = filled === undefined ? notice('warn', html`<p>${fill(visit.words.fillNotFound, { name: recipient })}</p>`) : html``
    return show(request, reply, filled ?? draft, { ...onceOf(request), said })
  })

  app.post<Posted>('/send/copy', { bodyLimit },
    async (request, reply) => copy(visitOf(request), reply, await readDraft(visitOf(request), request.body)))
  done()
}

/** The shared templates that are found by the names which the reader sees: the API knows the English ones. */
async function sharedBeside ({ words, api }: Visit, q: string, found: readonly SentTemplate[]): Promise<SentTemplate[]> {
  const others = sharedTemplates(words, q).filter(({ id }) => !found.some((one) => one.id === id))
  return Promise.all(others.map(({ id }) => api.read<SentTemplate>(`/api/v1/templates/${String(id)}`)))
}

/** What would be refused, and the request as a file. */
const checkPages: FastifyPluginCallback = (app, _options, done) => {
  app.post<Posted>('/send/validate', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const draft = await readKept(request)
    const found = await visit.api.send<ValidationResponse>('POST', addressOf(draft, '/validate'), requestOf(draft))
    if (!found.ok) return refused(request, reply, draft, found)
    return show(request, reply, draft, { ...onceOf(request), ...validated(visit.words, found.body, draft) })
  })

  // What the script asks while somebody types: the answer stands beside the fields and the buttons.
  app.post<Posted>('/send/check', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const draft = await readKept(request)
    const found = await visit.api.send<ValidationResponse>('POST', addressOf(draft, '/validate'), requestOf(draft))
    const once = onceOf(request)
    if (found.ok) {
      const { body } = found
      return show(request, reply, draft, { report: plannedBy(visit.words, body, draft), problems: body.warnings, accepted: true, ...once })
    }
    if (found.status === 429 || found.status >= 500) throw new ApiRefused(found)
    return show(request, reply, draft, { report: notYet(visit, found, draft), problems: found.error.details ?? [], ...once })
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
  done()
}

/** Files, and a look at what would be sent. */
const previewPages: FastifyPluginCallback = (app, _options, done) => {
  // The form waits as a draft until its reader comes back with a file.
  app.post<Posted>('/send/files', { bodyLimit }, async (request, reply) => {
    await readKept(request)
    return reply.redirect(withQuery('/console/files', { draft: onceIn(request.body) }), 303)
  })

  // What the frame says before a document is made.
  app.get('/send/preview', (request, reply) => sendNoPreview(reply, 200, [visitOf(request).words.sendPreviewNone]))

  app.post<Posted>('/send/preview', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const { template, data } = await readDraft(visit, request.body)
    if (template === undefined) return sendNoPreview(reply, 404, [visit.words.sendGivenNoPreview])
    const { id } = template
    const made = await visit.api.file(`/api/v1/templates/${String(id)}/preview`, { data })
    if (made.ok) return sendPreview(reply, made.body)
    return sendRefusedPreview(reply, visit.words, made)
  })

  app.post<Posted>('/send/e-invoices', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const draft = await readKept(request)
    const found = await profilesIn(visit, draft)
    if (!found.ok) return refused(request, reply, draft, inRequest(draft, found))
    return reply.page(profilesPage(visit, draft, found.body, { draft: onceIn(request.body) ?? '', ...chosenIn(draft.fields) }))
  })

  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/send/e-invoices', async (request, reply) => {
    const visit = visitOf(request)
    const textOf = (name: string): string => typeof request.query[name] === 'string' ? request.query[name] : ''
    const id = textOf('draft')
    const stored = await visit.api.read<StoredDraft>(`/api/v1/drafts/${encodeURIComponent(id)}`)
    const elsewhere = otherConsole(visit, stored)
    if (elsewhere !== undefined) return reply.redirect(elsewhere, 303)
    const draft = await resumeDraft(visit, stored)
    if (draft === undefined) return reply.redirect(withQuery('/console/send', { draft: id }), 303)
    const found = await profilesIn(visit, draft)
    if (!found.ok) throw new ApiRefused(found)
    return reply.page(profilesPage(visit, draft, found.body, { draft: id, profile: textOf('profile'), format: textOf('format') }))
  })
  done()
}

/** The dispatch. */
const dispatchPages: FastifyPluginCallback = (app, _options, done) => {
  app.post<Posted>('/send/dispatch', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const draft = await readKept(request)
    const once = onceIn(request.body)
    const untouched = await samplesForReal(visit, draft)
    if (untouched.length > 0) {
      return show(request, reply.code(422), draft, { ...onceOf(request), said: notice('bad', samplesRefused(visit.words, untouched)) })
    }
    const sent = await visit.api.send<{ dispatchId: string, approvalId?: string }>('POST', addressOf(draft), requestOf(draft), once)
    if (sent.ok && sent.body.approvalId !== undefined) return reply.redirect(`/console/approvals/${sent.body.approvalId}`, 303)
    const dispatchId = sent.ok ? sent.body.dispatchId : sent.error.dispatchId
    if (!sent.ok && sent.error.error === 'idempotency_key_reused' && dispatchId !== undefined) {
      return show(request, reply.code(sent.status), draft, { ...onceOf(request), said: wasSent(visit.words, dispatchId) })
    }
    if (dispatchId !== undefined && isDraftId(once)) await keepDraft(visit, once, draft, dispatchId)
    // What was recorded has a page that says how it ended.
    if (dispatchId !== undefined) return reply.redirect(`/console/dispatches/${dispatchId}`, 303)
    return sent.ok ? reply.redirect('/console/dispatches', 303) : refused(request, reply, draft, sent)
  })
  done()
}

/** Sending a document: a template, its data in a form, a look at the document, and the dispatch. */
export const sendPages: FastifyPluginAsync = async (app) => {
  await app.register(draftPages)
  await app.register(checkPages)
  await app.register(previewPages)
  await app.register(dispatchPages)
}

/** The address of the same page where a draft is at home: that of a test is open among tests, any other where things are real. */
function otherConsole ({ mode, path }: Visit, { sandbox }: StoredDraft): string | undefined {
  const own = sandbox ? 'test' : 'live'
  return own === mode ? undefined : pathIn(own, path)
}

/** What a form says beside its data, and its e-invoice says too. */
const terms = ['dueDate', 'paymentTerms', 'from'] as const

/** Which profiles of e-invoices the data of a form fit, with what it says beside them. One without a template has none. */
async function profilesIn ({ api }: Visit, { template, service, fields, data }: Draft): Promise<ApiAnswer<ProfilesView>> {
  const isMade = Object.hasOwn(serviceForms[service]?.properties ?? {}, 'eInvoiceProfile')
  const said = isMade ? terms.filter((name) => fields[name] !== undefined) : []
  return api.send<ProfilesView>('POST', `/api/v1/templates/${String(template?.id ?? 0)}/e-invoices`, {
    data,
    ...said.length > 0 && { terms: Object.fromEntries(said.map((name) => [name, fields[name]])) }
  })
}

/** A refusal of the profiles, with the places that a request has: the form shows each at its field. */
function inRequest ({ service }: Draft, refusal: Refusal): Refusal {
  const { error: { details = [], ...error }, ...answer } = refusal
  const placed = details.map(({ path, ...one }) => ({
    ...one,
    path: path.replace(/^\/terms(?=\/|$)/, `/${service}`).replace(/^\/data(?=\/|$)/, '/template/data')
  }))
  return { ...answer, error: { ...error, details: placed } }
}

/** `query`: the draft, and which profile is shown. */
function profilesPage (visit: Visit, { template }: Draft, found: ProfilesView, { draft, profile = '', format = '' }: {
  draft: string
  profile?: string
  format?: string
}): Html {
  const { words } = visit
  const linkTo = (one: object): string => withQuery('/console/send/e-invoices', { draft, ...one })
  const main = html`<p><a href="${withQuery('/console/send', { draft })}">${words.sendBack}</a></p>${
    profilesSections(words, found, { chosen: { profile, ...format !== '' && { format } }, linkTo })
  }`
  const title = fill(words.sendTitle, { name: template === undefined ? '' : templateName(words, template) })
  return page({ ...visit, path: linkTo({ profile, format }) }, { title, section: 'send', main })
}

/** The profile and the format that a form names. */
function chosenIn ({ eInvoiceProfile: profile, eInvoiceFormat: format }: Draft['fields']): { profile?: string, format?: string } {
  return { ...typeof profile === 'string' && { profile }, ...typeof format === 'string' && { format } }
}

/** What is still a sample in a form that would be sent for real. What the service refuses anyway, it says itself. */
async function samplesForReal (visit: Visit, draft: Draft): Promise<readonly Untouched[]> {
  const untouched = untouchedIn(visit.words, draft)
  if (untouched.length === 0) return []
  const found = await visit.api.send<ValidationResponse>('POST', addressOf(draft, '/validate'), requestOf(draft))
  return found.ok && isReal(found.body) ? untouched : []
}

/** The form as it was sent, which is kept under the number that its page has: for the user who has filled it in, and no other. */
async function readKept (request: FastifyRequest<Posted>): Promise<Draft> {
  const visit = visitOf(request)
  const draft = await readDraft(visit, request.body)
  const id = onceIn(request.body)
  if (isDraftId(id) && isAuthor(visit, request.body)) await keepDraft(visit, id, draft)
  return draft
}

/** A page of the same form stays the same request, however often it is sent. */
function onceOf ({ body }: FastifyRequest<Posted>): Pick<Shown, 'once'> {
  return { once: onceIn(body) }
}

function isDraftId (id: string | undefined): id is string {
  return id !== undefined && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)
}

/** The same as a draft of its own. */
async function copy (visit: Visit, reply: FastifyReply, draft: Draft): Promise<FastifyReply> {
  const id = randomUUID()
  await keepDraft(visit, id, draft)
  return reply.redirect(pageOf(draft, id), 303)
}

/** That a draft was sent before, as it was then; and a way to send it anew. */
function wasSent (words: Words, dispatchId: string): Html {
  return notice('warn', html`<p>${words.sendWasSent} <a href="/console/dispatches/${dispatchId}">${words.sendWasSentSee}</a></p>
<p><button class="second" form="draft" formaction="/console/send/copy">${words.sendAnew}</button></p>`)
}

async function show (request: FastifyRequest, reply: FastifyReply, draft: Draft, shown: Shown = {}): Promise<FastifyReply> {
  const visit = visitOf(request)
  const origin = `${request.protocol}://${request.host}`
  const [filling, files] = await Promise.all([fillSection(visit), filesFor(visit, draft)])
  return reply.page(draftPage(visit, draft, { ...shown, filling, files, origin }), 'framing')
}

/** The newest files, where a line of the form may name one. */
async function filesFor (visit: Visit, { template, files, fields, following }: Draft): Promise<readonly ListedFile[]> {
  if (template === undefined) return files
  const lines = [fields, ...following.map((next) => next.fields)].flatMap((all) => Object.values(all)).filter(isList).flat()
  return lines.some(isObject) ? listFiles(visit) : []
}

/** The form again, with everything in it. A repeat stays the same request. */
function refused (request: FastifyRequest<Posted>, reply: FastifyReply, draft: Draft, refusal: Refusal): Promise<FastifyReply> {
  const { status, error } = refusal
  if (status === 401) throw new ApiRefused(refusal)
  const { words }: Visit = visitOf(request)
  const said = notice('bad',
    html`<p>${words.sendRefused}</p>${sentences(words, error, { whole: requestOf(draft) })}${blockLinks(visitOf(request), draft, error)}`)
  return show(request, reply.code(status), draft, { ...onceOf(request), said, problems: error.details ?? [] })
}

function validated (words: Words, found: ValidationResponse, draft: Draft): Shown {
  return {
    said: notice(found.warnings.length === 0 ? 'good' : 'warn', plannedBy(words, found, draft)),
    problems: found.warnings,
    accepted: true
  }
}

/** That the service would accept a request, what it would do, and what it remarks. */
function plannedBy (words: Words, found: ValidationResponse, draft: Draft): Html {
  const { warnings } = found
  const remarks = warnings.length === 0 ? html`` : html`<ul>${warnings.map((one) => html`<li>${sentenceOf(words, one)}</li>`)}</ul>`
  return html`<p>${words.sendValid}</p>${review(words, found, draft)}${remarks}`
}

/** The most sentences that are read out while somebody types. All of them stand beside their fields. */
const maxTold = 5

/** What the service would refuse, each with its place in the request. */
function notYet (visit: Visit, { error }: Refusal, draft: Draft): Html {
  const { words } = visit
  const whole = requestOf(draft)
  const reported = (error.details ?? []).slice(0, maxTold).map((one) =>
    html`<li>${placeIn(words, one.path, { whole })} ${sentenceOf(words, one)}</li>`
  )
  return html`<p>${words.sendNotYet}</p>${reported.length === 0 ? html`<p>${sentenceOf(words, error)}</p>` : html`<ul>${reported}</ul>`}${
    blockLinks(visit, draft, error)
  }`
}

/** The ways to the blocks of the template at which its document fails, each once, for who may change them. */
function blockLinks ({ words, actor }: Visit, { template }: Draft, { details = [] }: Refusal['error']): Html {
  const places = [...new Set(details.flatMap(({ message }) => blockIn(message) ?? []))]
  if (typeof template?.companyId !== 'number' || places.length === 0 || actor.role !== 'admin') return html``
  return html`<ul>${
    places.map((place) =>
      html`<li><a href="${blockPage(template.id, place)}">${fill(words.sendToBlock, { place: blockPlace(words, place) })}</a></li>`
    )
  }</ul>`
}
