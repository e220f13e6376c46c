import { ApiRefused, errorOf, facts, fill, type Html, html, notice, page, type Query, said, table, textField, time, type Typed, withQuery,
  wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { ErasureView, ReceiptView } from '../contract/erasures.ts'
import { retentionPages } from './retention.ts'
import { type Visit, visitOf, type Words } from './words.ts'

type Named = { Params: { id: string } }
type Sent = { Body: URLSearchParams }

const at = '/console/privacy'
const apiPath = '/api/v1/privacy'
const fields = ['address', 'number', 'reference'] as const

/** What the company holds about persons. */
export const privacyPages: FastifyPluginCallback = (app, _options, done) => {
  void app.register(retentionPages)

  app.get<{ Querystring: Query }>('/privacy', async (request, reply) => {
    const { cursor } = request.query
    return reply.page(await listPage(visitOf(request), { cursor: typeof cursor === 'string' ? cursor : '' }))
  })

  // Counting changes nothing; what it finds is shown before anything is erased.
  app.post<Sent>('/privacy', { config: { confirms: 'undone' } }, async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const counting = await visit.api.send<ErasureView>('POST', `${apiPath}/erasures`, { ...personIn(body), countFirst: true })
    if (counting.ok) return reply.redirect(`${at}/${counting.body.id}`, 303)
    return reply.code(counting.status).page(await listPage(visit, { cursor: '', typed: { body, error: errorOf(counting) } }))
  })

  app.post<Sent>('/privacy/export', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const gone = new AbortController()
    reply.raw.once('close', () => {
      gone.abort()
    })
    try {
      const lines = await visit.api.stream(`${apiPath}/exports`, gone.signal, personIn(body))
      return await reply.headers({
        'content-type': 'application/x-ndjson',
        'content-disposition': 'attachment; filename="person.ndjson"',
        'content-security-policy': 'default-src \'none\'; sandbox',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store'
      }).send(lines)
    } catch (error) {
      if (!(error instanceof ApiRefused)) throw error
      const { refusal } = error
      return reply.code(refusal.status).page(await listPage(visit, { cursor: '', typed: { body, error: errorOf(refusal) } }))
    }
  })

  app.get<Named>('/privacy/:id', async (request, reply) => reply.page(await erasurePage(visitOf(request), request.params.id)))

  app.post<Named & Sent>('/privacy/:id/begin', {
    config: {
      async confirms (request) {
        const { words, api } = visitOf(request)
        const { status, counts } = await api.read<ErasureView>(pathOf(request.params.id))
        if (status !== 'counted') return undefined
        return {
          title: words.privacyBeginAsk,
          says: [words.privacyBeginWhat, words.privacyKept],
          touches: countsOf(words, counts),
          button: words.privacyBegin,
          back: `${at}/${encodeURIComponent(request.params.id)}`
        }
      }
    }
  }, async (request, reply) => {
    const begun = await visitOf(request).api.send('POST', `${pathOf(request.params.id)}/begin`)
    if (!begun.ok && begun.status !== 409) throw new ApiRefused(begun)
    return reply.redirect(`${at}/${encodeURIComponent(request.params.id)}`, 303)
  })
  done()
}

const pathOf = (id: string): string => `${apiPath}/erasures/${encodeURIComponent(id)}`

const sumOf = (counts: ErasureView['counts']): number => Object.values(counts).reduce((sum, one) => sum + one, 0)

function personIn (body: URLSearchParams): object {
  return Object.fromEntries(fields.flatMap((name) => {
    const value = (body.get(name) ?? '').trim()
    return value === '' ? [] : [[name, value]]
  }))
}

async function listPage (visit: Visit, { cursor, typed }: { cursor: string, typed?: Typed }): Promise<Html> {
  const { words, api } = visit
  const { data, nextCursor } = await api.read<{ data: ErasureView[], nextCursor: string | null }>(
    withQuery(`${apiPath}/erasures`, { cursor, limit: '50' })
  )
  const rows = data.map(({ id, status, by, counts, createdAt }) =>
    html`<tr><th scope="row"><a href="${at}/${id}">${time(createdAt)}</a></th><td>${words[`privacyIs_${status}`]}</td><td>${
      byIn(words, by)
    }</td><td>${String(sumOf(counts))}</td></tr>\n`
  )
  const { privacyWhen, privacyStatus, privacyBy, privacyErased } = words
  const main = html`<p><a href="${at}/retention">${words.retention}</a></p>
<section aria-labelledby="find"><h2 id="find">${words.privacyPerson}</h2><p>${words.privacyIntro}</p>${
    said(words, typed, ...fields)
  }<form method="post" action="${at}" novalidate><p>${words.privacyPersonHelp}</p>
${field(words, typed, 'address', words.privacyAddress)}
${field(words, typed, 'number', words.privacyNumber, words.privacyNumberHelp)}
${field(words, typed, 'reference', words.privacyReference, words.privacyReferenceHelp)}
<div class="actions"><button>${words.privacyCount}</button>
<button class="second" formaction="${at}/export">${words.privacyExport}</button></div></form></section>
<section aria-labelledby="erasures"><h2 id="erasures">${words.privacyErasures}</h2>${
    rows.length === 0
      ? html`<p>${words.privacyNone}</p>`
      : table(words.privacyErasures, [privacyWhen, privacyStatus, privacyBy, privacyErased], rows)
  }${
    nextCursor === null ? html`` : html`<hr><p><a href="${withQuery(at, { cursor: nextCursor })}" rel="next">${words.older}</a></p>`
  }</section>`
  return page({ ...visit, path: at }, { title: words.privacy, section: 'privacy', main })
}

function field (words: Words, typed: Typed | undefined, name: typeof fields[number], label: string, help?: string): Html {
  return textField({
    name,
    label,
    value: typed?.body.get(name) ?? '',
    wrong: wrongOf(words, typed, `/${name}`),
    ...help === undefined ? {} : { help }
  })
}

const byIn = (words: Words, by: ErasureView['by']): string => by.map((one) => words[`privacyBy_${one}`]).join(', ')

async function erasurePage (visit: Visit, id: string): Promise<Html> {
  const { words, api } = visit
  const erasure = await api.read<ErasureView>(pathOf(id))
  const { status, by, person, counts, waiting, createdAt } = erasure
  const path = `${at}/${encodeURIComponent(id)}`
  const rows = countsOf(words, counts).map(([kind, count]) => html`<tr><th scope="row">${kind}</th><td>${String(count)}</td></tr>\n`)
  const goesOn = status === 'counting' || status === 'running'
  const main = html`<p><a href="${at}">${words.privacyBack}</a></p>
${
    facts([
      [words.privacyStatus, words[`privacyIs_${status}`]],
      [words.privacyWhen, time(createdAt)],
      [words.privacyBy, byIn(words, by)],
      [words.privacyHash, html`<code>${person}</code>`]
    ])
  }
${rows.length === 0 ? html`<p>${words.privacyNothing}</p>` : table(words.privacyErased, [words.privacyKind, words.privacyHowMany], rows)}
${waiting === 0 ? html`` : notice('warn', html`<p>${fill(words.privacyWaiting, { waiting: String(waiting) })}</p>`)}
<p>${words.privacyKept}</p>
${goesOn ? html`<p><a href="${path}">${words.privacyReload}</a></p>` : html``}
${
    status === 'counted'
      ? html`<form method="post" action="${path}/begin"><div class="actions"><button>${words.privacyBegin}</button></div></form>`
      : html``
  }
${status === 'finished' ? await receiptPart(visit, id) : html``}`
  return page({ ...visit, path }, { title: words.privacyErasures, section: 'privacy', main })
}

async function receiptPart ({ words, api }: Visit, id: string): Promise<Html> {
  const { receipt, sha256 } = await api.read<ReceiptView>(`${pathOf(id)}/receipt`)
  return html`<section aria-labelledby="receipt"><h2 id="receipt">${words.privacyReceipt}</h2><pre tabindex="0">${receipt}</pre><p>${
    fill(words.privacyReceiptHelp, { sha256 })
  }</p></section>`
}

const countsOf = (words: Words, counts: ErasureView['counts']): [kind: string, count: number][] =>
  Object.entries(counts).filter(([, count]) => count > 0).map(([kind, count]) => [kindWord(words, kind), count])

/** What a kind is called; of a feature that these words do not know, by its own name. */
function kindWord (words: Words, kind: string): string {
  const name = `privacyKind_${kind}`
  return name in words ? words[name as keyof typeof words] : kind
}
