import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { choiceField, textField } from '../form/fields.ts'
import { isFiltered, type Query, readFilter } from '../form/filter.ts'
import { fill, type Words } from '../language/language.ts'
import { ApiRefused, type LogCountView, type RequestView, statusClasses, withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { type LongList, longList } from './columns.ts'
import { folded, notice, page, sentences, time } from './layout.ts'
import { nameIn, type People, readPeople } from './people.ts'

type Filter = Readonly<Record<typeof fields[number], string>>

const at = '/console/developers/requests'
const fields = ['requestId', 'status', 'route', 'keyId', 'from', 'to', 'cursor'] as const

/** The requests of the company in the last days, for those who run it. */
export const requestsPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/developers/requests', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api, mode } = visit
    const filter = readFilter(request.query, fields)
    const [answer, people] = await Promise.all([
      api.send<Listed>('GET', withQuery('/api/v1/company/requests', { ...filter, test: String(mode === 'test'), limit: '30' })),
      readPeople(visit)
    ])
    if (!answer.ok && answer.status === 403) throw new ApiRefused(answer)
    const found = answer.ok ? list(visit, answer.body, { filter, people }) : notice('bad', sentences(words, answer.error))
    const main = html`<p><a href="/console/developers">${words.developersBack}</a></p>
<section aria-label="${words.filter}"><p>${words.requestsIntro}</p>${folded(words, isFiltered(filter), form(words, filter))}</section>
<section aria-label="${words.requests}">${answer.ok ? countedNotice(words, answer.body.counted) : html``}${found}</section>`
    return reply.code(answer.ok ? 200 : answer.status).page(page(visit, { title: words.requests, section: 'developers', main }))
  })
  done()
}

function form (words: Words, filter: Filter): Html {
  const options = statusClasses.map((value) => ({ value, label: value }))
  return html`<form action="${at}" class="filters">
${textField({ name: 'requestId', label: words.requestId, value: filter.requestId, isSought: true })}
${choiceField({ name: 'status', label: words.status, value: filter.status, none: words.any, options })}
${textField({ name: 'route', label: words.requestRoute, value: filter.route, isSought: true })}
${textField({ name: 'keyId', label: words.requestKey, value: filter.keyId, isSought: true })}
${textField({ name: 'from', label: words.from, value: filter.from, type: 'date' })}
${textField({ name: 'to', label: words.before, value: filter.to, type: 'date' })}
<div class="actions"><button>${words.show}</button><a href="${at}">${words.showAll}</a></div></form>`
}

type Listed = { data: readonly RequestView[], nextCursor: string | null, counted: readonly LogCountView[] }

/** A notice that says how many requests the log has not kept. */
function countedNotice (words: Words, counted: readonly LogCountView[]): Html {
  const n = counted.filter(({ log }) => log === 'requests').reduce((sum, { count }) => sum + count, 0)
  return n === 0 ? html`` : notice('warn', html`<p>${fill(words.requestsCounted, { n })}</p>`)
}

type Known = { words: Words, people: People }

const requestList: LongList<RequestView, Known> = {
  name: 'requests',
  first: {
    title: ({ requestRoute }) => requestRoute,
    cell: ({ method, route, path }) =>
      html`${method} <a href="${withQuery(at, { route })}">${route}</a><div class="quiet">${path === route ? '' : path}</div>`
  },
  columns: {
    at: { title: ({ auditAt }) => auditAt, cell: (request) => time(request.at) },
    status: {
      title: ({ status }) => status,
      cell: (request) => html`${statusOf(request)}<div class="quiet">${request.error ?? ''}</div>`
    },
    duration: {
      title: ({ requestDuration }) => requestDuration,
      cell: ({ milliseconds }) => `${String(milliseconds)} ms`,
      isNumber: true
    },
    author: { title: ({ auditAuthor }) => auditAuthor, cell: (request, { words, people }) => authorOf(words, request, people) },
    id: {
      title: ({ requestId }) => requestId,
      cell: ({ requestId }) => html`<a href="${withQuery(at, { requestId })}"><code>${requestId}</code></a>`
    }
  },
  usual: ['at', 'status', 'duration', 'author', 'id']
}

function list (visit: Visit, { data: requests, nextCursor: next }: Listed, { filter, people }: { filter: Filter, people: People }): Html {
  const { words } = visit
  if (requests.length === 0) {
    return html`<p>${isFiltered(filter) ? words.requestsNoneLike : words.requestsNone}</p>`
  }
  const more = next === null
    ? html``
    : html`<hr><p><a href="${withQuery(at, { ...filter, cursor: next })}" rel="next">${words.older}</a></p>`
  return html`${longList(visit, requestList, { label: words.requests, rows: requests, known: { words, people } })}${more}`
}

function statusOf ({ status }: RequestView): Html {
  const tone = status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'
  return html`<span class="badge ${tone}">${String(status)}</span>`
}

function authorOf (words: Words, { author: { userId, impersonatorId, keyId }, address = '' }: RequestView, people: People): Html {
  const impersonator = impersonatorId === undefined
    ? html``
    : html` <span class="badge warn">${fill(words.auditImpersonator, { id: impersonatorId })}</span>`
  const key = keyId === undefined ? html`` : html` <a class="badge calm" href="${withQuery(at, { keyId })}">${words.auditKey}</a>`
  return html`${nameIn(words, people, userId)}${impersonator}${key}<div class="quiet">${address}</div>`
}
