import { reportKinds, vatRegimes } from '@dispatch/einvoice'
import { ApiRefused, choiceField, type Confirmation, type ConfirmRequest, errorOf, facts, fill, type Html, html, modeOf, notice, numberOf,
  page, pathIn, type Query, said, sentences, table, textField, time, type Typed, visitWith, withQuery, withWords,
  wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import type { EReportSettings, EReportSummary, EReportView } from '../contract/e-reports.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'
import { ruleSentence } from './rule-sentences.ts'

const visitOf = visitWith(withWords({ en, fr }))
type Visit = ReturnType<typeof visitOf>
type Words = Visit['words']

const at = '/console/e-reports'
const apiPath = '/api/v1/e-reports'

type Named = { Params: { id: string } }
type Sent = { Body: URLSearchParams }

const pathOf = ({ params: { id } }: Pick<FastifyRequest<Named>, 'params'>): string => `${apiPath}/${encodeURIComponent(id)}`

/** What the company reports to the French tax authority. */
export const pages: FastifyPluginCallback = (app, _options, done) => {
  // Tests report nothing: whoever comes from them is led to where reports can be seen, and nothing is done.
  app.addHook('onRequest', async (request, reply) => {
    if (modeOf(request) === 'test') return reply.redirect(pathIn('live', request.url.replace(/\/(?:send|remove)$/, '')), 303)
  })

  app.get<{ Querystring: Query }>('/e-reports', async (request, reply) => {
    const { words } = visitOf(request)
    const reported = request.query['removed'] === undefined ? html`` : notice('good', html`<p>${words.eReportRemoved}</p>`)
    return reply.page(await listView(visitOf(request), { cursor: textIn(request.query['cursor']), message: reported }))
  })

  app.post<Sent>('/e-reports', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const made = await visit.api.send<EReportView>('POST', apiPath, { kind: body.get('kind') ?? '', day: (body.get('day') ?? '').trim() })
    if (made.ok) return reply.redirect(`${at}/${made.body.id}`, 303)
    return reply.code(made.status).page(await listView(visit, { typed: { body, error: errorOf(made) } }))
  })

  app.get<{ Querystring: Query }>('/e-reports/settings', async (request, reply) => {
    const { words } = visitOf(request)
    const reported = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${words.eReportSettingsSaved}</p>`)
    return reply.page(await settingsView(visitOf(request), reported))
  })

  app.post<Sent>('/e-reports/settings', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const set = await visit.api.send('PUT', `${apiPath}/settings`, settingsIn(body))
    if (set.ok) return reply.redirect(`${at}/settings?saved=1`, 303)
    return reply.code(set.status).page(await settingsView(visit, html``, { body, error: errorOf(set) }))
  })

  app.get<Named>('/e-reports/:id', async (request, reply) => {
    const visit = visitOf(request)
    return reply.page(view(visit, await visit.api.read<EReportView>(pathOf(request))))
  })

  app.get<Named>('/e-reports/:id/report.xml', async (request, reply) => {
    const gone = new AbortController()
    reply.raw.once('close', () => {
      gone.abort()
    })
    return reply.headers({
      'content-type': 'application/xml; charset=utf-8',
      'content-disposition': 'attachment; filename="e-report.xml"',
      'content-security-policy': 'default-src \'none\'; sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store'
    }).send(await visitOf(request).api.stream(`${pathOf(request)}/export`, gone.signal))
  })

  app.post<Named>('/e-reports/:id/send', { config: { confirms: 'form' } }, async (request, reply) => {
    const visit = visitOf(request)
    const sent = await visit.api.send('POST', `${pathOf(request)}/send`)
    if (sent.ok) return reply.redirect(`${at}/${encodeURIComponent(request.params.id)}`, 303)
    if (sent.status === 404) throw new ApiRefused(sent)
    const refused = notice('bad', sentences(visit.words, errorOf(sent)))
    return reply.code(sent.status).page(view(visit, await visit.api.read<EReportView>(pathOf(request)), refused))
  })

  app.post<Named>('/e-reports/:id/remove', { config: { confirms: removal } }, async (request, reply) => {
    const removed = await visitOf(request).api.send('DELETE', pathOf(request))
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.redirect(`${at}?removed=1`, 303)
  })
  done()
}

const textIn = (value: unknown): string | undefined => typeof value === 'string' ? value : undefined

/** Asks before a draft is removed. */
async function removal (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const report = await api.read<EReportView>(pathOf(request))
  return {
    title: words.eReportRemove,
    says: [],
    touches: [[words.eReportKind, words[`eReportKind_${report.kind}`]], [words.eReportPeriod, periodOf(report)]],
    button: words.eReportRemove,
    back: `${at}/${encodeURIComponent(request.params.id)}`
  }
}

/** A form without a nature leaves it out. */
function settingsIn (body: URLSearchParams): object {
  const text = (name: string): string => (body.get(name) ?? '').trim()
  return {
    siren: text('siren').replaceAll(' ', ''),
    name: text('name'),
    platform: { id: text('platformId'), name: text('platformName') },
    regime: text('regime'),
    providerName: text('providerName'),
    ...text('usualNature') !== '' && { usualNature: text('usualNature') }
  }
}

const periodOf = ({ period: { start, end } }: Pick<EReportSummary, 'period'>): string => `${start} – ${end}`

/** What the company has set; undefined before it has. */
async function settingsOf ({ api }: Visit): Promise<EReportSettings | undefined> {
  const read = await api.send<EReportSettings>('GET', `${apiPath}/settings`)
  if (read.ok) return read.body
  if (read.status === 404) return undefined
  throw new ApiRefused(read)
}

async function listView (
  visit: Visit,
  { cursor, message = html``, typed }: { cursor?: string | undefined, message?: Html, typed?: Typed }
): Promise<Html> {
  const { words, api, actor: { role } } = visit
  const [{ data, nextCursor }, settings] = await Promise.all([
    api.read<{ data: EReportSummary[], nextCursor: string | null }>(withQuery(apiPath, { cursor })),
    settingsOf(visit)
  ])
  const list = data.length === 0
    ? html`<p>${words.eReportsNone}</p>`
    : table(words.eReports, [words.eReportPeriod, words.eReportKind, words.eReportType, words.eReportState, words.eReportCount,
      words.eReportNeeded], data.map((one) => row(words, one)))
  const form = role === 'admin' && settings !== undefined ? makeForm(words, typed) : html``
  const main = html`${message}<section aria-label="${words.eReports}"><p>${words.eReportsIntro}</p>${
    settings === undefined ? html`<p>${words.eReportsUnset}</p>` : html``
  }<p><a href="${at}/settings">${words.eReportSettings}</a></p>${list}${
    nextCursor === null ? html`` : html`<hr><p><a href="${withQuery(at, { cursor: nextCursor })}" rel="next">${words.older}</a></p>`
  }</section>${form}`
  return page({ ...visit, path: at }, { title: words.eReports, section: 'e-reports', main })
}

function row (words: Words, report: EReportSummary): Html {
  const { id, kind, type, state, count, needed } = report
  return html`<tr><th scope="row"><a href="${at}/${id}">${periodOf(report)}</a></th><td>${words[`eReportKind_${kind}`]}</td><td>${
    words[`eReportType_${type}`]
  }</td><td>${words[`eReportState_${state}`]}</td><td>${numberOf(words, count)}</td><td>${numberOf(words, needed)}</td></tr>\n`
}

function makeForm (words: Words, typed: Typed | undefined): Html {
  return html`<section aria-labelledby="new"><h2 id="new">${words.eReportMake}</h2><p>${words.eReportMakeIntro}</p>${
    said(words, typed, 'kind', 'day')
  }<form method="post" action="${at}" novalidate>${
    choiceField({
      name: 'kind',
      label: words.eReportKind,
      value: typed?.body.get('kind') ?? reportKinds[0],
      options: reportKinds.map((value) => ({ value, label: words[`eReportKind_${value}`] })),
      wrong: wrongOf(words, typed, '/kind')
    })
  }${
    textField({
      name: 'day',
      label: words.eReportDay,
      help: words.eReportDayHelp,
      value: typed?.body.get('day') ?? '',
      required: true,
      wrong: wrongOf(words, typed, '/day')
    })
  }<div class="actions"><button>${words.eReportMake}</button></div></form></section>`
}

async function settingsView (visit: Visit, message: Html, typed?: Typed): Promise<Html> {
  const { words, actor: { role } } = visit
  const settings = await settingsOf(visit)
  const { siren, name, platform, regime, providerName, usualNature } = settings ?? {}
  const field = (field: string, label: string, value: string | undefined, more: { help?: string, place?: string } = {}): Html =>
    textField({
      name: field,
      label,
      value: typed?.body.get(field) ?? value ?? '',
      required: true,
      ...more.help !== undefined && { help: more.help },
      wrong: wrongOf(words, typed, more.place ?? `/${field}`)
    })
  const form = html`${said(words, typed, 'siren', 'name', 'platform/id', 'platform/name', 'regime', 'providerName', 'usualNature')}
<form method="post" action="${at}/settings" novalidate>${field('siren', words.eReportSiren, siren)}${
    field('name', words.eReportName, name)
  }${
    choiceField({
      name: 'regime',
      label: words.eReportRegime,
      value: typed?.body.get('regime') ?? regime,
      options: (Object.keys(vatRegimes) as (keyof typeof vatRegimes)[]).map((value) => ({ value, label: words[`eReportRegime_${value}`] })),
      wrong: wrongOf(words, typed, '/regime')
    })
  }${field('platformId', words.eReportPlatformId, platform?.id, { help: words.eReportPlatformIdHelp, place: '/platform/id' })}${
    field('platformName', words.eReportPlatformName, platform?.name, { place: '/platform/name' })
  }${field('providerName', words.eReportProvider, providerName, { help: words.eReportProviderHelp })}${
    choiceField({
      name: 'usualNature',
      label: words.eReportNature,
      value: typed?.body.get('usualNature') ?? usualNature,
      none: words.eReportNatureNone,
      options: (['GOODS', 'SERVICES'] as const).map((value) => ({ value, label: words[`eReportNature_${value}`] })),
      wrong: wrongOf(words, typed, '/usualNature')
    })
  }<div class="actions"><button>${words.eReportSave}</button></div></form>`
  const shown = settings === undefined ? html`<p>${words.eReportsUnset}</p>` : facts([
    [words.eReportSiren, siren],
    [words.eReportName, name],
    [words.eReportRegime, regime && words[`eReportRegime_${regime}`]],
    [words.eReportPlatformName, `${platform?.name ?? ''} (${platform?.id ?? ''})`],
    [words.eReportProvider, providerName],
    [words.eReportNature, usualNature === undefined ? words.eReportNatureNone : words[`eReportNature_${usualNature}`]]
  ])
  const main = html`<p><a href="${at}">${words.eReports}</a></p>${message}<section aria-label="${words.eReportSettings}">${
    role === 'admin' ? form : shown
  }</section>`
  return page({ ...visit, path: `${at}/settings` }, { title: words.eReportSettings, section: 'e-reports', main })
}

function view (visit: Visit, report: EReportView, refused: Html = html``): Html {
  const { words, actor: { role } } = visit
  const { id, kind, type, period, state, count, needed, createdAt, dispatchId, problems } = report
  const isDraft = state === 'draft'
  const missing = needed === 0
    ? html``
    : notice('warn', html`<p>${fill(words.eReportNeededNotice, { count: numberOf(words, needed) })}</p>`)
  const main = html`<p><a href="${at}">${words.eReports}</a></p>${refused}${missing}<section aria-label="${words.eReports}">${
    facts([
      [words.eReportKind, words[`eReportKind_${kind}`]],
      [words.eReportPeriod, periodOf(report)],
      [words.eReportDue, period.due],
      [words.eReportType, words[`eReportType_${type}`]],
      [words.eReportState, words[`eReportState_${state}`]],
      [words.eReportCount, numberOf(words, count)],
      [words.eReportNeeded, numberOf(words, needed)],
      [words.created, time(createdAt)],
      [words.eReportDispatch, dispatchId === null ? undefined : html`<a href="/console/dispatches/${dispatchId}">${dispatchId}</a>`]
    ])
  }${problems.length === 0 ? html`<p><a href="${at}/${id}/report.xml">${words.eReportXml}</a></p>` : html``}</section>${
    broken(words, problems)
  }${days(words, report)}${invoices(words, report)}${left(words, report)}${assumed(words, report)}${
    isDraft && role === 'admin' ? decision(words, report) : html``
  }`
  return page({ ...visit, path: `${at}/${id}` }, {
    title: `${words[`eReportKind_${kind}`]} ${periodOf(report)}`,
    section: 'e-reports',
    main
  })
}

function broken (words: Words, problems: EReportView['problems']): Html {
  if (problems.length === 0) return html``
  return html`<section aria-labelledby="problems"><h2 id="problems">${words.eReportProblems}</h2>${
    table(words.eReportProblems, [words.eReportRule, words.eReportWhy], problems.map((one) =>
      html`<tr><th scope="row">${one.code}</th><td>${ruleSentence(words, one)} <code>${one.path}</code></td></tr>\n`
    ))
  }</section>`
}

function parts (all: readonly { rate: string, amount: string }[] = []): string {
  return all.map(({ rate, amount }) => `${rate} %: ${amount}`).join(', ')
}

function days (words: Words, { kind, days: all }: EReportView): Html {
  const isSales = kind === 'transactions'
  const title = isSales ? words.eReportSales : words.eReportPayments
  const head = [words.eReportDate, ...isSales ? [words.eReportCategory, words.eReportBase, words.eReportTax, words.eReportCount] : [],
    words.eReportByRate]
  const rows = all.map(({ date, category = 'TLB1', base = '', tax = '', count = 0, parts: each }) =>
    html`<tr><th scope="row">${date}</th>${
      isSales
        ? html`<td>${words[`eReportCategory_${category as 'TLB1'}`]} (${category})</td><td>${base}</td><td>${tax}</td><td>${
          numberOf(words, count)
        }</td>`
        : html``
    }<td>${parts(each)}</td></tr>\n`
  )
  return section('days', title, rows.length === 0 ? html`<p>${words.eReportNothing}</p>` : table(title, head, rows))
}

function invoices (words: Words, { kind, invoices: all }: EReportView): Html {
  const isSales = kind === 'transactions'
  const title = isSales ? words.eReportInvoices : words.eReportPaidInvoices
  const head = [words.eReportNumber, words.eReportDate,
    ...isSales ? [words.eReportCustomer, words.eReportBase, words.eReportTax] : [words.eReportPaid, words.eReportByRate]]
  const rows = all.map(({ number, date, customer = '', base = '', tax = '', paid = '', parts: each }) =>
    html`<tr><th scope="row">${number}</th><td>${date}</td>${
      isSales ? html`<td>${customer}</td><td>${base}</td><td>${tax}</td>` : html`<td>${paid}</td><td>${parts(each)}</td>`
    }</tr>\n`
  )
  return section('invoices', title, rows.length === 0 ? html`<p>${words.eReportNothing}</p>` : table(title, head, rows))
}

function left (words: Words, { left: all }: EReportView): Html {
  const title = words.eReportLeft
  if (all.length === 0) return section('left', title, html`<p>${words.eReportNothing}</p>`)
  const rows = all.map(({ dispatchId, number = dispatchId, reason, needed, message, problems = [] }) =>
    html`<tr><th scope="row"><a href="/console/dispatches/${dispatchId}">${number}</a></th><td>${
      (words as Readonly<Record<string, string>>)[`eReportLeft_${reason}`] ?? message
    } ${problems.map((one) => html`${one.code}${words.colon}${ruleSentence(words, one)} `)}</td><td>${
      needed ? words.eReportMend : ''
    }</td></tr>\n`
  )
  return section('left', title,
    html`<p>${words.eReportLeftIntro}</p>${table(title, [words.eReportNumber, words.eReportWhy, words.eReportMend], rows)}`)
}

function assumed (words: Words, { assumed: all }: EReportView): Html {
  if (all.length === 0) return html``
  return section('assumed', words.eReportAssumed,
    html`<p>${words.eReportAssumedIntro}</p><ul>${all.map((id) => html`<li><a href="/console/dispatches/${id}">${id}</a></li>`)}</ul>`)
}

function decision (words: Words, { id, problems, invoices: some, days: others }: EReportView): Html {
  const send = problems.length > 0 || some.length + others.length === 0
    ? html``
    : html`<form method="post" action="${at}/${id}/send"><p>${words.eReportSendIntro}</p><div class="actions"><button>${words.eReportSend}</button></div></form>`
  return html`<section aria-label="${words.eReportSend}">${send}<form method="post" action="${at}/${id}/remove"><button class="second">${words.eReportRemove}</button></form></section>`
}

function section (id: string, title: string, content: Html): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`
}
