import { shortened } from '@dispatch/common'
import { ApiRefused, choiceField, errorOf, fill, folded, type Html, html, isFiltered, linesField, type LongList, longList, notice, page,
  picks, picksForm, type Query, readFilter, said, sentenceOf, textField, time, type Typed, withMany, withQuery, wordFor,
  wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { channels, type ImportView, reasons, type SuppressionView } from '../contract/suppressions.ts'
import { reasonWord, type Visit, visitOf, type Words, wordsOf } from './words.ts'

const at = '/console/suppressions'
export const apiPath = '/api/v1/suppressions'
const fields = ['channel', 'reason', 'search', 'cursor'] as const
type Filter = Readonly<Record<typeof fields[number], string>>

type Named = { Params: { id: string } }
type Sent = { Body: URLSearchParams }

/** To whom the company sends nothing. */
export const listPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/suppressions', async (request, reply) => {
    const visit = visitOf(request)
    const { words } = visit
    const { added, known, address, removed } = request.query
    const reported = typeof added === 'string' && typeof known === 'string'
      ? good(fill(words.suppressionImported, { added, known }))
      : typeof address === 'string'
      ? good(fill(words.suppressionAdded, { address }))
      : removed === undefined
      ? html``
      : good(words.suppressionRemoved)
    return reply.page(await listView(visit, { filter: readFilter(request.query, fields), message: reported }))
  })

  app.post<Sent>('/suppressions', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const added = await visit.api.send<SuppressionView>('POST', apiPath, {
      channel: body.get('channel') ?? '',
      address: body.get('address') ?? '',
      ...optional(body, 'note')
    })
    if (added.ok) return reply.redirect(withQuery(at, { address: added.body.address }), 303)
    return refused(visit, reply.code(added.status), { body, error: errorOf(added) })
  })

  app.post<Sent>('/suppressions/import', { bodyLimit: 5 * 1024 * 1024 }, async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const csv = ['address', ...linesIn(body).map(({ text }) => `"${text.replaceAll('"', '""')}"`)].join('\r\n')
    // In CSV, since JSON has too few values for the longest list.
    const form = { bytes: Readable.from([Buffer.from(csv)]), type: 'text/csv' }
    const done = await visit.api.upload<ImportView>(withQuery(`${apiPath}/import`, { channel: body.get('channel') ?? '' }), form,
      randomUUID())
    if (done.ok) return reply.redirect(withQuery(at, { added: String(done.body.added), known: String(done.body.known) }), 303)
    return refused(visit, reply.code(done.status), { body, error: errorOf(done) })
  })

  withMany(app, {
    path: '/suppressions/chosen/remove',
    list: () => at,
    section: 'suppressions',
    title: ({ words }) => wordsOf(words).suppressionsRemove,
    says: ({ words }) => wordsOf(words).suppressionsRemoveIntro,
    wrong: ({ words }, body) => whyOf(body) === '' ? whyField(wordsOf(words), [sentenceOf(words, whyMissing)]) : undefined,
    act: ({ api }, id, body) => api.send('DELETE', withQuery(`${apiPath}/${encodeURIComponent(id)}`, { why: whyOf(body) }))
  })

  app.get<Named>('/suppressions/:id', async (request, reply) => reply.page(await removalView(visitOf(request), request.params.id)))

  app.post<Named & Sent>('/suppressions/:id/remove', { config: { confirms: 'form' } }, async (request, reply) => {
    const [visit, { body, params: { id } }] = [visitOf(request), request]
    const removed = await visit.api.send('DELETE', withQuery(`${apiPath}/${encodeURIComponent(id)}`, { why: body.get('why') ?? '' }))
    if (removed.ok) return reply.redirect(`${at}?removed=1`, 303)
    if (removed.status === 404) throw new ApiRefused(removed)
    return reply.code(removed.status).page(await removalView(visit, id, { body, error: errorOf(removed) }))
  })

  app.get('/suppressions/suppressions.csv', async (request, reply) => {
    const gone = new AbortController()
    reply.raw.once('close', () => {
      gone.abort()
    })
    return reply.headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="suppressions.csv"',
      'content-security-policy': 'default-src \'none\'; sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store'
    }).send(await visitOf(request).api.stream(`${apiPath}/export?format=csv`, gone.signal))
  })
  done()
}

/** The lines of a pasted list, each with its number there: blank ones are no addresses. */
function linesIn (body: URLSearchParams): { text: string, line: number }[] {
  return (body.get('addresses') ?? '').split(/\r?\n/).map((text, index) => ({ text: text.trim(), line: index + 1 }))
    .filter(({ text }) => text !== '')
}

/** So many lines with a fault are told; and so many characters of each. */
const [maxTold, longestTold] = [20, 80]

/** What is wrong with the addresses of a pasted list, by the numbers of their lines. */
function wrongLines (words: Words, typed: Typed | undefined): Html[] {
  if (typed === undefined) return []
  const lines = linesIn(typed.body)
  const wrong = (typed.error.details ?? []).flatMap((problem) => {
    const [, place = ''] = /^\/suppressions\/(\d+)(?:\/|$)/.exec(problem.path) ?? []
    const found = place === '' ? undefined : lines[Number(place)]
    if (found === undefined) return []
    const text = shortened(found.text, longestTold)
    return [html`${fill(words.suppressionWrongLine, { line: found.line, text })} ${sentenceOf(words, problem)}`]
  })
  const more = wrong.length - maxTold
  return [...wrong.slice(0, maxTold), ...more > 0 ? [html`${fill(words.suppressionWrongMore, { n: more })}`] : []]
}

const good = (text: string): Html => notice('good', html`<p>${text}</p>`)

const whyOf = (body: URLSearchParams): string => (body.get('why') ?? '').trim()

const whyMissing = { code: 'required', message: 'The field "why" is required.' }

const whyField = (words: Words, wrong: readonly Html[] = []): Html =>
  textField({ name: 'why', label: words.suppressionWhy, help: words.suppressionWhyHelp, wrong })

function optional (body: URLSearchParams, name: string): Record<string, string> {
  const value = (body.get(name) ?? '').trim()
  return value === '' ? {} : { [name]: value }
}

async function refused (visit: Visit, reply: FastifyReply, typed: Typed): Promise<FastifyReply> {
  return reply.page(await listView(visit, { filter: readFilter({}, fields), typed }))
}

async function listView (
  visit: Visit,
  { filter, message = html``, typed }: { filter: Filter, message?: Html, typed?: Typed }
): Promise<Html> {
  const { words, api, actor: { role } } = visit
  const { data, nextCursor } = await api.read<{ data: SuppressionView[], nextCursor: string | null }>(
    withQuery(apiPath, { ...filter, limit: '50' })
  )
  const isAdmin = role !== 'member'
  const none = isFiltered(filter) ? words.suppressionsNoneFound : words.suppressionsNone
  const main = html`${message}<section aria-label="${words.filter}"><p>${words.suppressionsIntro}</p>${
    folded(words, isFiltered(filter), filterForm(words, filter))
  }</section>
<section aria-label="${words.suppressions}">${
    data.length === 0 ? html`<p>${none}</p>` : list({ ...visit, path: withQuery(at, filter) }, data, isAdmin)
  }${
    nextCursor === null
      ? html``
      : html`<hr><p><a href="${withQuery(at, { ...filter, cursor: nextCursor })}" rel="next">${words.older}</a></p>`
  }<p><a href="${at}/suppressions.csv">${words.suppressionExport}</a></p></section>
${isAdmin ? forms(words, typed) : html``}`
  return page({ ...visit, path: at }, { title: words.suppressions, section: 'suppressions', main })
}

function filterForm (words: Words, filter: Filter): Html {
  return html`<form action="${at}" class="filters">
${
    choiceField({
      name: 'channel',
      label: words.suppressionChannel,
      value: filter.channel,
      none: words.suppressionAnyChannel,
      options: channelOptions(words)
    })
  }
${
    choiceField({
      name: 'reason',
      label: words.suppressionReason,
      value: filter.reason,
      none: words.suppressionAnyReason,
      options: reasons.map((value) => ({ value, label: reasonWord(words, value) }))
    })
  }
${textField({ name: 'search', label: words.suppressionSearch, value: filter.search, isSought: true })}
<div class="actions"><button>${words.filter}</button></div></form>`
}

function channelOptions (words: Words) {
  return channels.map((value) => ({ value, label: wordFor(words, 'service', value) }))
}

const suppressionList: LongList<SuppressionView, { words: Words }> = {
  name: 'suppressions',
  first: { title: ({ suppressionAddress }) => suppressionAddress, cell: ({ address }) => address },
  columns: {
    channel: {
      title: ({ suppressionChannel }) => suppressionChannel,
      cell: ({ channel }, { words }) => wordFor(words, 'service', channel)
    },
    reason: {
      title: ({ suppressionReason }) => suppressionReason,
      cell: ({ dispatchId, reason }, { words }) =>
        dispatchId === null ? reasonWord(words, reason) : html`<a href="/console/dispatches/${dispatchId}">${reasonWord(words, reason)}</a>`
    },
    note: { title: ({ suppressionNote }) => suppressionNote, cell: ({ note }) => note ?? '' },
    since: { title: ({ suppressionSince }) => suppressionSince, cell: ({ since }) => time(since) }
  },
  usual: ['channel', 'reason', 'note', 'since']
}

function list (visit: Visit, rows: readonly SuppressionView[], isAdmin: boolean): Html {
  const { words } = visit
  const cell = ({ id, address }: SuppressionView): Html =>
    html`<a href="${at}/${id}" aria-label="${fill(words.suppressionRemoveOf, { address })}">${words.suppressionRemove}</a>`
  return html`${
    longList(visit, suppressionList, {
      label: words.suppressions,
      rows,
      known: { words },
      ...isAdmin && {
        act: { title: words.suppressionRemove, cell },
        pick: picks(words, 'chosen', ({ id, address }: SuppressionView) => ({ id, name: address }))
      }
    })
  }${
    isAdmin
      ? picksForm(words, 'chosen', {
        action: `${at}/chosen/remove`,
        label: words.suppressionsRemove,
        asks: whyField(words)
      })
      : html``
  }`
}

function forms (words: Words, typed: Typed | undefined): Html {
  const { body } = typed ?? {}
  const [ofOne, ofMany] = body?.has('addresses') === true ? [undefined, typed] : [typed, undefined]
  const channel = (name: string, from: Typed | undefined): Html =>
    choiceField({
      name,
      label: words.suppressionChannel,
      value: from?.body.get('channel') ?? undefined,
      wrong: wrongOf(words, from, '/channel'),
      options: channelOptions(words)
    })
  return html`<section aria-labelledby="new"><h2 id="new">${words.suppressionNew}</h2>${said(words, ofOne, 'channel', 'address', 'note')}
<form method="post" action="${at}" novalidate>${channel('channel', ofOne)}
${
    textField({
      name: 'address',
      label: words.suppressionAddress,
      value: ofOne?.body.get('address') ?? '',
      wrong: wrongOf(words, ofOne, '/address')
    })
  }
${textField({ name: 'note', label: words.suppressionNote, value: ofOne?.body.get('note') ?? '', wrong: wrongOf(words, ofOne, '/note') })}
<div class="actions"><button>${words.suppressionAdd}</button></div></form></section>
<section aria-labelledby="many"><h2 id="many">${words.suppressionImport}</h2>${said(words, ofMany, 'suppressions')}
<form method="post" action="${at}/import" novalidate><div class="field"><label for="many-channel">${words.suppressionChannel}</label>
<select id="many-channel" name="channel">${
    channelOptions(words).map(({ value, label }) =>
      html`<option value="${value}"${value === ofMany?.body.get('channel') ? html` selected` : html``}>${label}</option>`
    )
  }</select></div>
${
    linesField({
      name: 'addresses',
      label: words.suppressionLines,
      help: words.suppressionImportHelp,
      value: ofMany?.body.get('addresses') ?? '',
      wrong: wrongLines(words, ofMany)
    })
  }
<div class="actions"><button>${words.suppressionAdd}</button></div></form></section>
<hr><p><a href="${at}/templates">${words.suppressionTemplates}</a></p>`
}

async function removalView (visit: Visit, id: string, typed?: Typed): Promise<Html> {
  const { words, api } = visit
  const { address, reason, since } = await api.read<SuppressionView>(`${apiPath}/${encodeURIComponent(id)}`)
  const path = `${at}/${encodeURIComponent(id)}`
  const main = html`<p><a href="${at}">${words.suppressionBack}</a></p>${said(words, typed, 'query/why')}
<p>${reasonWord(words, reason)}, ${time(since)}</p>
<form method="post" action="${path}/remove" novalidate>${
    textField({
      name: 'why',
      label: words.suppressionWhy,
      help: words.suppressionWhyHelp,
      value: typed?.body.get('why') ?? '',
      wrong: wrongOf(words, typed, '/query/why')
    })
  }<div class="actions"><button>${words.suppressionRemove}</button></div></form>`
  return page({ ...visit, path }, { title: fill(words.suppressionRemoveTitle, { address }), section: 'suppressions', main })
}
