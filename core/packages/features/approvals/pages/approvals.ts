import type { JsonObject } from '@dispatch/common'
import { ApiRefused, type Confirmation, type ConfirmRequest, documentFrames, errorOf, facts, fill, type Html, html, notice, numberOf, page,
  planned, pretty, type Query, said, sendNamedDocument, sendTemplateDocument, sentences, table, textField, time, type Typed, withQuery,
  wordFor, wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import type { ApprovalFacts, ApprovalView } from '../contract/approvals.ts'
import { moneyOf, readRow, readRows, rowsSection, totalsOf } from './rows.ts'
import { type Visit, visitOf, type Words } from './words.ts'

const at = '/console/approvals'
type Named = { Params: { id: string } }
type Nth = { Params: { id: string, nth: string }, Querystring: Query }
type Sent = Named & { Body: URLSearchParams }

const pathOf = ({ params: { id } }: Pick<FastifyRequest<Named>, 'params'>): string => `/api/v1/approvals/${encodeURIComponent(id)}`
const read = (request: FastifyRequest<Named>): Promise<ApprovalView> => visitOf(request).api.read<ApprovalView>(pathOf(request))

/** What waits until somebody else has approved it: the document, the recipient, the price, and two buttons. */
export const approvalPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: { all?: string } }>('/approvals', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api, actor } = visit
    const all = request.query.all === 'true'
    const { data } = await api.read<{ data: ApprovalFacts[] }>(withQuery('/api/v1/approvals', { status: all ? undefined : 'waiting' }))
    const list = data.length === 0
      ? html`<p>${words.approvalsNone}</p>`
      : table(words.approvals, [words.approvalWhat, words.approvalTo, words.approvalAmount, words.approvalAt, words.status],
        data.map((one) => row(words, one)))
    const main = html`<section aria-label="${words.approvals}"><p>${words.approvalsIntro}</p>
<p><a href="${all ? at : `${at}?all=true`}">${all ? words.approvalsWaiting : words.approvalsAll}</a>${
      actor.role === 'admin' ? html` · <a href="${at}/rules">${words.approvalRules}</a>` : html``
    }</p>${list}</section>`
    return reply.page(page(visit, { title: words.approvals, section: 'approvals', main }))
  })

  app.get<Named & { Querystring: Query }>('/approvals/:id',
    async (request, reply) => reply.page(await view(visitOf(request), await read(request), { query: request.query }), 'framing'))

  // A batch shows the value of one of its rows.
  app.get<Nth>('/approvals/:id/templates/:nth', async (request, reply) => {
    const visit = visitOf(request)
    return sendTemplateDocument(reply, visit, await requestIn(visit, request), request.params.nth)
  })

  app.get<Nth>('/approvals/:id/documents/:nth', async (request, reply) => {
    const visit = visitOf(request)
    return sendNamedDocument(reply, visit, await requestIn(visit, request), request.params.nth)
  })

  app.post<Sent>('/approvals/:id/approve', { config: { confirms: 'form' } }, async (request, reply) => {
    const visit = visitOf(request)
    const { body } = request
    const [seen, reason] = [body.get('seen') ?? '', (body.get('reason') ?? '').trim()]
    const sent = await visit.api.send<ApprovalView>('POST', `${pathOf(request)}/approve`, {
      ...seen !== '' && { seen },
      ...reason !== '' && { reason }
    })
    if (!sent.ok) {
      const refused = notice('bad', sentences(visit.words, errorOf(sent)))
      return reply.code(sent.status).page(await view(visit, await read(request), { refused }), 'framing')
    }
    const { id, status, dispatchId, batchId } = sent.body
    // Somebody else has to approve it as well: the page says who.
    if (status === 'waiting') return reply.redirect(`${at}/${id}`, 303)
    if (dispatchId !== null) return reply.redirect(`/console/dispatches/${dispatchId}`, 303)
    return reply.redirect(batchId === null ? at : `/console/batches/${batchId}`, 303)
  })

  app.post<Sent>('/approvals/:id/refuse', { config: { confirms: 'form' } }, async (request, reply) => {
    const visit = visitOf(request)
    const { body } = request
    const sent = await visit.api.send('POST', `${pathOf(request)}/refuse`, { reason: (body.get('reason') ?? '').trim() })
    if (sent.ok) return reply.redirect(`${at}/${encodeURIComponent(request.params.id)}`, 303)
    const typed = { body, error: errorOf(sent) }
    return reply.code(sent.status).page(await view(visit, await read(request), { typed }), 'framing')
  })

  app.post<Named>('/approvals/:id/withdraw', { config: { confirms: withdrawal } }, async (request, reply) => {
    const sent = await visitOf(request).api.send('POST', `${pathOf(request)}/withdraw`)
    if (!sent.ok) throw new ApiRefused(sent)
    return reply.redirect(`${at}/${encodeURIComponent(request.params.id)}`, 303)
  })
  done()
}

/** Asks before something is taken back. */
async function withdrawal (request: ConfirmRequest): Promise<Confirmation> {
  const { words } = visitOf(request)
  const { service, recipient, rows } = await read(request)
  return {
    title: `${words.approvalWithdraw}${words.colon}${servicesOf(words, service)}`,
    says: [words.approvalWithdrawIntro],
    touches: [[words.recipient, recipient], [words.approvalRowsCount, rows]],
    button: words.approvalWithdraw,
    back: `${at}/${encodeURIComponent(request.params.id)}`
  }
}

const servicesOf = (words: Words, service: string): string => service.split('/').map((name) => wordFor(words, 'service', name)).join(' → ')

function amountOf (words: Words, { amount, currency, rows }: ApprovalFacts): string {
  if (rows !== undefined) return fill(words.approvalRows, { rows: numberOf(words, rows) })
  return amount === undefined ? '' : moneyOf(words, amount, currency)
}

function row (words: Words, approval: ApprovalFacts): Html {
  const { id, service, recipient = '', createdAt, status } = approval
  return html`<tr><th scope="row"><a href="${at}/${id}">${servicesOf(words, service)}</a></th><td>${recipient}</td><td>${
    amountOf(words, approval)
  }</td><td>${time(createdAt)}</td><td>${words[`approval_${status}`]}</td></tr>\n`
}

type Shown = { refused?: Html, typed?: Typed, query?: Query }

const rowIn = ({ row }: Query): number | undefined => typeof row === 'string' && /^[1-9]\d{0,6}$/.test(row) ? Number(row) : undefined

/** The request that waits; of a batch, that of one of its rows. */
async function requestIn (visit: Visit, requested: FastifyRequest<Named & { Querystring: Query }>): Promise<JsonObject> {
  const { id, batchId, request } = await read(requested)
  const row = batchId === null ? undefined : await readRow(visit, id, rowIn(requested.query) ?? 1)
  return row?.request ?? request ?? {}
}

/** What is sent: the documents with their request; of a batch, its rows, and those of the one that is looked at. */
async function content (visit: Visit, approval: ApprovalView, query: Query): Promise<Html> {
  const { words } = visit
  const { id, service, batchId, request, status } = approval
  if (batchId === null) return requestSections(words, { name: service, request, source: `${at}/${id}`, query: {} })
  if (status !== 'waiting') return totalsOf(words, approval)
  const rows = await readRows(visit, id, query)
  const number = rowIn(query) ?? rows.data[0]?.row
  const chosen = number === undefined ? undefined : rows.data.find(({ row }) => row === number) ?? await readRow(visit, id, number)
  return html`${totalsOf(words, approval)}${rowsSection(words, `${at}/${id}`, rows, chosen?.row)}${
    chosen === undefined ? html`` : html`<div id="row">${
      requestSections(words, {
        name: fill(words.approvalRow, { row: numberOf(words, chosen.row) }),
        request: chosen.request,
        source: `${at}/${id}`,
        query: { row: String(chosen.row) }
      })
    }</div>`
  }`
}

type Requested = { name: string, request: JsonObject | null, source: string, query: Record<string, string> }

/** A request, with the document that is made for it and the stored ones that it names. */
function requestSections (words: Words, { name, request, source, query }: Requested): Html {
  if (request === null) return html``
  const frame = documentFrames(words, request, { title: words.approvalDocument, name, source, query })
  return html`${frame}<section aria-labelledby="request"><h2 id="request">${words.approvalRequest}</h2><pre tabindex="0">${
    pretty(request)
  }</pre></section>`
}

/** The rules that want it: who approves it for each, and who has. */
function rulesTable (words: Words, { asks }: ApprovalView): Html {
  return table(words.approvalRulesWanting, [words.approvalRule, words.ruleApprovers, words.approvalBySomebody],
    asks.map(({ name, approvers, approvedBy, approvedAt, lapsedBy }) =>
      html`<tr><th scope="row">${name}</th><td>${approvers.length === 0 ? words.ruleAdmins : approvers.join(', ')}</td><td>${
        approvedBy === null
          ? lapsedBy === null ? words.approvalNobodyYet : fill(words.approvalLapsed, { by: lapsedBy })
          : html`${approvedBy}, ${time(approvedAt ?? '')}`
      }</td></tr>\n`
    ))
}

async function view (visit: Visit, approval: ApprovalView, { refused = html``, typed, query = {} }: Shown = {}): Promise<Html> {
  const { words, actor } = visit
  const { id, service, status, userId, askedBy, decider, reason, recipient, credits, batchId, dispatchId } = approval
  const { createdAt, expiresAt, decidedAt, review, problem } = approval
  const own = status === 'waiting' && userId === actor.userId
  const main = html`${refused}<section aria-label="${words.approvals}">${
    facts([
      [words.status, words[`approval_${status}`]],
      [words.approvalWhat, servicesOf(words, service)],
      [words.recipient, recipient],
      [words.approvalAmount, amountOf(words, approval)],
      [words.price, numberOf(words, credits)],
      [words.approvalBy, askedBy],
      [words.approvalAt, time(createdAt)],
      [words.approvalUntil, status === 'waiting' ? time(expiresAt) : undefined],
      [words.approvalDecidedBy, decider],
      [words.approvalDecidedAt, decidedAt === null ? undefined : time(decidedAt)],
      [words.approvalReason, reason ?? undefined],
      [words.approvalBatch, batchId === null ? undefined : html`<a href="/console/batches/${batchId}">${batchId}</a>`],
      [words.approvalDispatch, dispatchId === null ? undefined : html`<a href="/console/dispatches/${dispatchId}">${dispatchId}</a>`]
    ])
  }${own ? html`<p>${words.approvalOwn}</p>${withdrawForm(words, id)}` : html``}</section>${
    problem === undefined ? html`` : notice('warn', sentences(words, problem))
  }<section aria-labelledby="rules"><h2 id="rules">${words.approvalRulesWanting}</h2>${rulesTable(words, approval)}</section>${
    review === null
      ? html``
      : html`<section aria-labelledby="plan"><h2 id="plan">${words.approvalPlan}</h2>${
        planned(words, words.approvalPlan, review)
      }</section>`
  }${await content(visit, approval, query)}${approval.mayRefuse ? decision(words, approval, typed) : html``}`
  return page(visit, { title: fill(words.approvalOf, { at: createdAt.slice(0, 10) }), section: 'approvals', main })
}

function withdrawForm (words: Words, id: string): Html {
  return html`<form method="post" action="${at}/${id}/withdraw"><button class="second">${words.approvalWithdraw}</button></form>`
}

/** Both ways to decide. What cannot be sent now, and what one has approved already, can be refused alone. */
function decision (words: Words, { id, review, batchId, mayDecide, problem, asks }: ApprovalView, typed: Typed | undefined): Html {
  const cannot = review === null && batchId === null || problem !== undefined
  const others = asks.filter(({ approvedBy }) => approvedBy === null).length > 1
  const approve = cannot || !mayDecide
    ? mayDecide ? html`` : html`<p>${words.approvalGiven}</p>`
    : html`<form method="post" action="${at}/${id}/approve"><input type="hidden" name="seen" value="${review?.seen ?? ''}"><p>${
      others ? words.approvalApprovePart : words.approvalApproveIntro
    }</p><div class="actions"><button>${words.approvalApprove}</button></div></form>`
  return html`<section aria-labelledby="decision"><h2 id="decision">${words.approvalDecision}</h2>${approve}
${said(words, typed, 'reason')}<form method="post" action="${at}/${id}/refuse" novalidate>${
    textField({
      name: 'reason',
      label: words.approvalRefuseWhy,
      value: typed?.body.get('reason') ?? '',
      wrong: wrongOf(words, typed, '/reason')
    })
  }<div class="actions"><button class="second">${words.approvalRefuse}</button></div></form></section>`
}
