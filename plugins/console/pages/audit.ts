import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { choiceField, textField } from '../form/fields.ts'
import { isFiltered, type Query, readFilter } from '../form/filter.ts'
import { fill, type Words } from '../language/language.ts'
import { ApiRefused, type AuditView, withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { actionChoices, actionText } from './audit-words.ts'
import { type LongList, longList } from './columns.ts'
import { type Columns, maxRows, sendCsv } from './export.ts'
import { folded, notice, page, sentences, time } from './layout.ts'
import { choicesOf, nameIn, type People, readPeople } from './people.ts'

type Filter = Readonly<Record<typeof fields[number], string>>

const fields = ['companyId', 'object', 'userId', 'action', 'from', 'to', 'cursor'] as const

const columnsWith = ({ emails }: People): Columns<AuditView> => ({
  at: ({ at }) => at,
  action: ({ action }) => action,
  object: ({ object: { kind, id } }) => `${kind}/${id}`,
  userId: ({ author }) => author?.userId,
  user: ({ author }) => author === null ? '' : emails.get(author.userId),
  impersonatorId: ({ author }) => author?.impersonatorId,
  keyId: ({ author }) => author?.keyId,
  address: ({ address }) => address,
  facts: ({ facts }) => JSON.stringify(facts)
})

/** Who changed what: of the company for its admins, of any company for operators. */
export const auditPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/audit', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api, actor: { role, companyId } } = visit
    const filter = readFilter(request.query, fields)
    const [answer, people] = await Promise.all([
      api.send<{ data: AuditView[], nextCursor: string | null }>('GET', withQuery('/api/v1/audit', { ...filter, limit: '50' })),
      readPeople(visit, filter.companyId)
    ])
    if (!answer.ok && answer.status === 403) throw new ApiRefused(answer)
    const main = html`<section aria-label="${words.filter}">${
      folded(words, isFiltered(filter), form(visit, filter, { ofAnyCompany: role === 'operator', people }))
    }</section>
${
      answer.ok
        ? html`<section aria-label="${words.audit}">${
          list(visit, answer.body, { filter, people, companyId: filter.companyId === '' ? companyId : Number(filter.companyId) })
        }</section>`
        : notice('bad', sentences(words, answer.error))
    }`
    return reply.code(answer.ok ? 200 : answer.status).page(page(visit, { title: words.audit, section: 'company', main }))
  })

  app.get<{ Querystring: Query }>('/audit.csv', async (request, reply) => {
    const visit = visitOf(request)
    const filter = readFilter(request.query, fields)
    const columns = columnsWith(await readPeople(visit, filter.companyId))
    return sendCsv<AuditView>(visit, reply, { name: 'audit', path: '/api/v1/audit', filter, columns })
  })
  done()
}

function form ({ words, parts }: Visit, filter: Filter, { ofAnyCompany, people }: { ofAnyCompany: boolean, people: People }): Html {
  const isListed = !people.hasMore && (filter.userId === '' || people.emails.has(Number(filter.userId)))
  const known = actionChoices(words, parts)
  const actions = filter.action === '' || known.some(({ value }) => value === filter.action)
    ? known
    : [{ value: filter.action, label: filter.action }, ...known]
  return html`<form action="/console/audit" class="filters">
${ofAnyCompany ? textField({ name: 'companyId', label: words.companyNumber, value: filter.companyId, isSought: true }) : html``}
${textField({ name: 'object', label: words.auditObjectAs, value: filter.object, isSought: true })}
${
    // Those beyond the first hundred have numbers alone, and operators may look for a user of another company than the one shown.
    ofAnyCompany || !isListed
      ? textField({ name: 'userId', label: words.userNumber, value: filter.userId, suggestions: choicesOf(people), isSought: true })
      : choiceField({ name: 'userId', label: words.auditAuthor, value: filter.userId, options: choicesOf(people), none: words.any })}
${choiceField({ name: 'action', label: words.action, value: filter.action, options: actions, none: words.any })}
${textField({ name: 'from', label: words.from, value: filter.from, type: 'date' })}
${textField({ name: 'to', label: words.before, value: filter.to, type: 'date' })}
<div class="actions"><button>${words.show}</button><a href="/console/audit">${words.showAll}</a></div></form>`
}

type Listed = { data: readonly AuditView[], nextCursor: string | null }

/** `companyId`: whose log it is. */
type Reading = { filter: Filter, people: People, companyId: number }

type Known = Reading & Pick<Visit, 'words' | 'parts'>

const auditList: LongList<AuditView, Known> = {
  name: 'audit',
  first: {
    title: ({ action }) => action,
    cell: ({ action }, { words, parts }) => {
      const said = actionText(words, parts, action)
      return html`${said}${said === action ? html`` : html`<div class="quiet"><code>${action}</code></div>`}`
    }
  },
  columns: {
    at: { title: ({ auditAt }) => auditAt, cell: ({ at }) => time(at) },
    object: {
      title: ({ auditObject }) => auditObject,
      cell: ({ object: { kind, id } }, reading) => {
        const object = `${kind}/${id}`
        return html`<a href="${withQuery('/console/audit', { companyId: reading.filter.companyId, object })}">${object}</a>${
          subjectOf(kind, id, reading)
        }`
      }
    },
    author: { title: ({ auditAuthor }) => auditAuthor, cell: ({ author }, known) => authorOf(known.words, author, known) },
    address: { title: ({ auditAddress }) => auditAddress, cell: ({ address = '' }) => address },
    details: {
      title: ({ details }) => details,
      cell: ({ facts }, { words }) =>
        Object.keys(facts).length === 0
          ? ''
          : html`<details><summary>${words.details}</summary><pre>${JSON.stringify(facts, null, 2)}</pre></details>`
    }
  },
  usual: ['at', 'object', 'author', 'address', 'details']
}

function list (visit: Visit, { data: entries, nextCursor: next }: Listed, reading: Reading): Html {
  const { words, parts } = visit
  const { filter } = reading
  if (entries.length === 0) {
    return html`<p>${isFiltered(filter) ? words.auditNone : words.auditNoneYet}</p>`
  }
  const more = next === null
    ? html``
    : html`<hr><p><a href="${withQuery('/console/audit', { ...filter, cursor: next })}" rel="next">${words.older}</a></p>`
  return html`${longList(visit, auditList, { label: words.audit, rows: entries, known: { ...reading, words, parts } })}${more}
<hr><div class="actions"><a class="button second" href="${
    withQuery('/console/audit.csv', { ...filter, cursor: '' })
  }">${words.export}</a><span class="quiet">${fill(words.exportMost, { max: maxRows })}</span></div>`
}

/** Who a user is of whom an entry tells. */
function subjectOf (kind: string, id: string, { people }: Reading): Html {
  const email = kind === 'user' ? people.emails.get(Number(id)) : undefined
  return email === undefined ? html`` : html`<div class="quiet">${email}</div>`
}

function authorOf (words: Words, author: AuditView['author'], { filter, people, companyId }: Reading): Html {
  if (author === null) return html`${words.auditCommandLine}`
  const { userId, impersonatorId, keyId } = author
  return html`<a href="${withQuery('/console/audit', { companyId: filter.companyId, userId: String(userId) })}">${
    nameIn(words, people, userId)
  }</a>${author.companyId === companyId ? html`` : html` <span class="badge calm">${words.auditPlatform}</span>`}${
    impersonatorId === undefined ? html`` : html` <span class="badge warn">${fill(words.auditImpersonator, { id: impersonatorId })}</span>`
  }${keyId === undefined ? html`` : html` <span class="badge calm">${words.auditKey}</span>`}`
}
