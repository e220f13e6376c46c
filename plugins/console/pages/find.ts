import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { textField } from '../form/fields.ts'
import type { Query } from '../form/filter.ts'
import { fill, textIn, wordFor, type Words } from '../language/language.ts'
import { ApiRefused, type DispatchView, withQuery } from '../session/api.ts'
import { type Found, partsAt, type Visit, visitOf } from '../session/visit.ts'
import { badge, page, time } from './layout.ts'
import { menuEntries } from './menu.ts'
import { nameOf, readProviders } from './provider-names.ts'

/** How many of a kind are shown. */
const max = 6

/** Finds dispatches, what features keep, providers, pages and actions by a text. The script shows it in a dialog, too. */
export const findPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/find', async (request, reply) => {
    const visit = visitOf(request)
    const { words, parts } = visit
    const q = (typeof request.query['q'] === 'string' ? request.query['q'] : '').trim().slice(0, 100)
    const lists = q === ''
      ? []
      : await Promise.all([findDispatches(visit, q), ...partsAt(parts, 'finds').map((find) => find(visit, q)), findProviders(visit, q)])
    const found = [...lists.flatMap((list) => list.slice(0, max)), ...pagesOf(visit).filter(({ title }) => isIn(title, q))]
    const groups = [...Map.groupBy(found, ({ kind }) => kind)]
    const main = html`<search><form action="/console/find" class="filters">${
      textField({ name: 'q', label: words.find, help: words.findHelp, type: 'search', value: q, autofocus: true })
    }<div class="actions"><button>${words.findDo}</button></div></form></search>
<p class="quiet" data-count>${found.length === 0 ? words.findNone : fill(words.findCount, { n: found.length })}</p>${
      groups.map(([kind, all]) => section(kind, all))
    }`
    return reply.page(page(visit, { title: words.find, main }))
  })
  done()
}

function section (kind: string, found: readonly Found[]): Html {
  return html`<section aria-label="${kind}"><h2>${kind}</h2><ul class="list">${
    found.map(({ title, path, about = '' }) => html`<li><a href="${path}">${title}</a> <span class="quiet">${about}</span></li>`)
  }</ul></section>`
}

/** Those with this id, or with this in their number or recipient; somebody who sees none finds none. */
async function findDispatches ({ words, api, mode }: Visit, search: string): Promise<Found[]> {
  const answer = await api.send<{ data: DispatchView[] }>('GET',
    withQuery('/api/v1/dispatches', { search, test: String(mode === 'test'), limit: String(max) }))
  if (!answer.ok && answer.status !== 403 && answer.status !== 400) throw new ApiRefused(answer)
  return (answer.ok ? answer.body.data : []).map(({ dispatchId, documentNumber, recipient, services, status, createdAt }) => {
    const service = services.map((name) => wordFor(words, 'service', name)).join(', ')
    // What has no number is called by its service, as on the first page; its id tells people nothing.
    const reported = [recipient ?? '', documentNumber === undefined ? '' : service].filter((text) => text !== '').join(' · ')
    return {
      kind: words.dispatches,
      title: documentNumber ?? service,
      path: `/console/dispatches/${dispatchId}`,
      about: html`${reported} ${badge(words, 'status', status)} ${time(createdAt)}`
    }
  })
}

async function findProviders (visit: Visit, q: string): Promise<Found[]> {
  const providers = await readProviders(visit)
  const codes = providers.flatMap(({ state, code }) => state === 'installed' && code !== undefined ? [code] : [])
  return codes.filter((code) => isIn(`${nameOf(providers, code)} ${code}`, q)).map((code) => ({
    kind: visit.words.providers,
    title: nameOf(providers, code),
    path: `/console/providers/${code}`
  }))
}

/** Whether a text has all words of another one. */
function isIn (text: string, words: string): boolean {
  const within = text.toLowerCase()
  return words.toLowerCase().split(/\s+/).every((word) => within.includes(word))
}

/** Where people go without a name in mind: the entries of the menu, and what they lead to. */
function pagesOf (visit: Visit): Found[] {
  const { words, actor: { role } } = visit
  const entries = menuEntries(visit).map(({ label, path }) => ({ title: textIn(words, label), path }))
  const others: readonly (readonly [keyof Words, string, ...string[]])[] = [
    ['audit', '/console/audit', 'admin', 'operator'],
    ['credits', '/console/credits'],
    ['requests', '/console/developers/requests', 'admin', 'member'],
    ['endpoints', '/console/developers/endpoints', 'admin'],
    ['account', '/console/sessions'],
    ['stepChoose', '/console/providers', 'admin'],
    ['stepSend', '/console/send'],
    ['stepKey', '/console/developers']
  ]
  return [
    ...entries,
    ...others.filter(([, , ...roles]) => roles.length === 0 || roles.includes(role)).map(([word, path]) => ({ title: words[word], path }))
  ].map((one) => ({ kind: words.findPages, ...one }))
}
