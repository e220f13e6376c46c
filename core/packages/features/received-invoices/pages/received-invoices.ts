import { ApiRefused, type Confirmation, type ConfirmRequest, errorOf, fill, type Html, html, notice, page, reasonOf, sendPreview,
  sendRefusedPreview, sentences, table, time, type Typed, withQuery } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import type { AnswerBody, ReceivedInvoiceDetails, ReceivedInvoiceView, ReceptionView } from '../contract/received-invoices.ts'
import { one } from './one.ts'
import { statusWord } from './status-word.ts'
import { type Visit, visitOf, type Words } from './words.ts'

const at = '/console/received'
const apiPath = '/api/v1/e-invoices/received'

type Named = { Params: { id: string } }
type Sent = Named & { Body: URLSearchParams }

/** E-invoices that others have sent to the reader's company. */
export const receivedPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: { cursor?: string } }>('/received',
    async (request, reply) => reply.page(await list(visitOf(request), { cursor: request.query.cursor })))

  app.post<{ Params: { code: string }, Body: URLSearchParams }>('/received/receptions/:code', async (request, reply) => {
    const [visit, { body, params: { code } }] = [visitOf(request), request]
    const receives = body.get('receives') === 'true'
    const set = await visit.api.send('PUT', `/api/v1/e-invoices/receptions/${encodeURIComponent(code)}`, { receives })
    if (set.ok) return reply.redirect(at, 303)
    return reply.code(set.status).page(await list(visit, { message: notice('bad', sentences(visit.words, errorOf(set))) }))
  })

  app.get<Named>('/received/:id', async (request, reply) => {
    const visit = visitOf(request)
    return reply.page(one(visit, await read(visit, request.params.id)), 'framing')
  })

  app.get<Named>('/received/:id/page', async (request, reply) => {
    const visit = visitOf(request)
    const made = await visit.api.file(withQuery(`${pathOf(request.params.id)}/file`, { format: 'html', language: visit.words.code }))
    return made.ok ? sendPreview(reply, made.body) : sendRefusedPreview(reply, visit.words, made)
  })

  app.get<Named>('/received/:id/file', (request, reply) => download(visitOf(request), reply, request.params.id, 'original'))
  app.get<Named>('/received/:id/pdf', (request, reply) => download(visitOf(request), reply, request.params.id, 'pdf'))

  app.post<Sent>('/received/:id/statuses', { config: { confirms: answering } }, async (request, reply) => {
    const [visit, { body, params: { id } }] = [visitOf(request), request]
    const said = await visit.api.send('POST', `${pathOf(id)}/statuses`, answerIn(body))
    if (said.ok) return reply.redirect(`${at}/${encodeURIComponent(id)}`, 303)
    const typed: Typed = { body, error: errorOf(said) }
    return reply.code(said.status).page(one(visit, await read(visit, id), typed), 'framing')
  })
  done()
}

const pathOf = (id: string): string => `${apiPath}/${encodeURIComponent(id)}`
const read = (visit: Visit, id: string): Promise<ReceivedInvoiceDetails> => visit.api.read<ReceivedInvoiceDetails>(pathOf(id))

function answerIn (body: URLSearchParams): Partial<Record<keyof AnswerBody, string>> {
  const given = (['code', 'reasonCode', 'reason', 'amount'] as const).map((name) => [name, (body.get(name) ?? '').trim()] as const)
  return Object.fromEntries(given.filter(([, value]) => value !== ''))
}

/** Asks before a seller is told something. */
async function answering (request: ConfirmRequest): Promise<Confirmation> {
  const visit = visitOf(request)
  const { words } = visit
  const { id } = request.params
  const { invoice } = await read(visit, id)
  const { code = '', reasonCode, reason, amount } = answerIn(request.body)
  return {
    title: fill(words.receivedSayTitle, { status: statusWord(words, code) }),
    says: [words.receivedSayWhat],
    touches: [
      [words.receivedNumber, invoice?.number],
      [words.receivedSeller, invoice?.seller],
      [words.receivedReasonCode, reasonCode],
      [words.receivedReason, reason],
      [words.receivedAmount, amount]
    ],
    button: words.receivedSay,
    back: `${at}/${encodeURIComponent(id)}`
  }
}

async function download (visit: Visit, reply: FastifyReply, id: string, format: 'original' | 'pdf'): Promise<FastifyReply> {
  const made = await visit.api.file(withQuery(`${pathOf(id)}/file`, { format, ...format === 'pdf' && { language: visit.words.code } }))
  if (!made.ok) throw new ApiRefused(made)
  const { bytes, contentType, filename = '' } = made.body
  return reply.headers({
    'content-type': contentType,
    'content-disposition': `attachment; ${filename}`,
    'content-security-policy': 'default-src \'none\'; sandbox',
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store'
  }).send(bytes)
}

async function list (visit: Visit, { cursor, message = html`` }: { cursor?: string | undefined, message?: Html }): Promise<Html> {
  const { words, api, actor: { role } } = visit
  const [{ data, nextCursor }, { data: receptions }] = await Promise.all([
    api.read<{ data: ReceivedInvoiceView[], nextCursor: string | null }>(withQuery(apiPath, { limit: '50', cursor })),
    api.read<{ data: ReceptionView[] }>('/api/v1/e-invoices/receptions')
  ])
  const rows = data.map((received) => row(words, received))
  const heads = [words.receivedNumber, words.receivedSeller, words.receivedTotal, words.receivedAt, words.status]
  const main = html`${message}<section aria-label="${words.received}"><p>${words.receivedIntro}</p>${
    rows.length === 0 ? html`<p>${words.receivedNone}</p>` : table(words.received, heads, rows)
  }${nextCursor === null ? html`` : html`<p><a href="${withQuery(at, { cursor: nextCursor })}" rel="next">${words.older}</a></p>`}</section>
<section aria-labelledby="receptions"><h2 id="receptions">${words.receptions}</h2><p>${words.receptionsIntro}</p>${
    receptions.length === 0
      ? html`<p>${words.receptionsNone}</p><p><a href="/console/providers">${words.providers}</a></p>`
      : table(words.receptions, [words.receptionProvider, words.status, words.receptionLooked, ''],
        receptions.map((reception) => receptionRow(words, reception, role !== 'member')))
  }</section>`
  return page({ ...visit, path: at }, { title: words.received, section: 'received-invoices', main })
}

function row (words: Words, { id, invoice, state, status, receivedAt, sandbox }: ReceivedInvoiceView): Html {
  const { number, seller = '', total, currency = '' } = invoice ?? {}
  const reported = status === null ? words[`receivedState_${state}`] : statusWord(words, status)
  return html`<tr><th scope="row"><a href="${at}/${id}">${number ?? words.receivedNoNumber}</a></th><td>${seller}</td><td>${
    total === undefined ? '' : `${total} ${currency}`
  }</td><td>${time(receivedAt)}</td><td>${reported}${
    sandbox ? html` <span class="quiet">${words.receivedSandbox}</span>` : html``
  }</td></tr>\n`
}

function receptionRow (words: Words, { provider, name, receives, lookedAt, problem, sandbox }: ReceptionView, isAdmin: boolean): Html {
  const [label, value] = receives ? [words.receptionEnd, 'false'] : [words.receptionBegin, 'true']
  const button = html`<form method="post" action="${at}/receptions/${provider}"><input type="hidden" name="receives" value="${value}">
<button class="second" aria-label="${label}${words.colon}${name}">${label}</button></form>`
  return html`<tr><th scope="row">${name}${sandbox ? html` <span class="quiet">${words.receivedSandbox}</span>` : html``}</th><td>${
    receives ? words.receptionOn : words.receptionOff
  }${problem === null ? html`` : html`<div class="quiet">${reasonOf(words, { reason: problem })}</div>`}</td><td>${
    lookedAt === null ? html`` : time(lookedAt)
  }</td><td>${isAdmin ? button : html``}</td></tr>\n`
}
