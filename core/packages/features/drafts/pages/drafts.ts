import { ApiRefused, type Confirmation, type ConfirmRequest, fill, type Html, html, type LongList, longList, nameIn, page, type People,
  picks, picksForm, readPeople, templateName, time, visitWith, withMany, withQuery, withWords, wordFor } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { DraftSummary, DraftView } from '../contract/drafts.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

const wordsOf = withWords({ en, fr })
const visitOf = visitWith(wordsOf)
type Visit = ReturnType<typeof visitOf>
type Words = Visit['words']

/** The drafts of the reader. */
export const draftsPages: FastifyPluginCallback = (app, _options, done) => {
  app.get('/drafts', async (request, reply) => {
    const visit = visitOf(request)
    const { words, actor } = visit
    const [data, people] = await Promise.all([
      readDrafts(visit),
      readPeople(visit)
    ])
    const own = data.filter(({ userId }) => userId === actor.userId)
    const list = data.length === 0 ?
      html`<p>${words.draftsNone}</p><p><a class="button second" href="/console/send">${words.send}</a></p>` :
      html`${
        longList({ ...visit, path: '/console/drafts' }, draftList, {
          label: words.drafts,
          rows: data,
          known: { words, people },
          pick: picks(words, 'many', (draft) => own.includes(draft) ? { id: draft.id, name: nameOf(words, draft) } : undefined),
          act: { title: words.draftDelete, cell: (draft) => own.includes(draft) ? removal(words, draft) : html`` }
        })
      }${own.length === 0 ? html`` : picksForm(words, 'many', { action: '/console/drafts/chosen/delete', label: words.draftDelete })}`
    const main = html`<section aria-label="${words.drafts}"><p>${words.draftsIntro}</p>${list}</section>`
    return reply.page(page(visit, { title: words.drafts, section: 'drafts', main }))
  })

  app.post<{ Params: { id: string } }>('/drafts/:id/delete', { config: { confirms: deletion } }, async (request, reply) => {
    const deleted = await visitOf(request).api.send('DELETE', `/api/v1/drafts/${encodeURIComponent(request.params.id)}`)
    if (!deleted.ok) throw new ApiRefused(deleted)
    return reply.redirect('/console/drafts', 303)
  })

  withMany(app, {
    path: '/drafts/chosen/delete',
    list: () => '/console/drafts',
    section: 'drafts',
    title: ({ words }) => wordsOf(words).draftsDelete,
    says: ({ words }) => wordsOf(words).draftDeleteIntro,
    act: ({ api }, id) => api.send('DELETE', `/api/v1/drafts/${encodeURIComponent(id)}`)
  })
  done()
}

/** Those of the list. */
async function readDrafts ({ api, mode }: Visit): Promise<readonly DraftSummary[]> {
  return (await api.read<{ data: DraftSummary[] }>(withQuery('/api/v1/drafts', { sandbox: String(mode === 'test') }))).data
}

/** Asks before a draft is deleted. One of the list is not read for that: it may be one that cannot be opened. */
async function deletion (request: ConfirmRequest): Promise<Confirmation> {
  const visit = visitOf(request)
  const { words, api } = visit
  const { id } = request.params
  const { updatedAt, service } = (await readDrafts(visit)).find((draft) => draft.id === id)
    ?? await api.read<DraftView>(`/api/v1/drafts/${encodeURIComponent(id)}`)
  return {
    title: fill(words.draftDeleteOf, { at: updatedAt.slice(0, 16).replace('T', ' ') }),
    says: [words.draftDeleteIntro],
    touches: [[words.draftOf, servicesOf(words, { service })]],
    button: words.draftDelete,
    back: '/console/drafts'
  }
}

const servicesOf = (words: Words, { service }: Pick<DraftSummary, 'service'>): string =>
  service.split('/').map((name) => wordFor(words, 'service', name)).join(' → ')

/** Two of the same service are told apart by their time. */
const nameOf = (words: Words, draft: DraftSummary): string =>
  [servicesOf(words, draft), draft.recipient, draft.updatedAt.slice(0, 16).replace('T', ' ')].filter((part) => part !== null).join(' ')

const draftList: LongList<DraftSummary, { words: Words, people: People }> = {
  name: 'drafts',
  first: {
    title: ({ draftOf }) => draftOf,
    cell: (draft, { words }) => html`<a href="${withQuery('/console/send', { draft: draft.id })}">${servicesOf(words, draft)}</a>`
  },
  columns: {
    recipient: { title: ({ recipient }) => recipient, cell: ({ recipient }) => html`${recipient ?? ''}` },
    about: {
      title: ({ draftAbout }) => draftAbout,
      cell: ({ subject, template }, { words }) =>
        html`${subject ?? ''}${template === null ? html`` : html`<div class="quiet">${templateName(words, template)}</div>`}`
    },
    written: { title: ({ draftWritten }) => draftWritten, cell: ({ updatedAt }) => time(updatedAt) },
    author: { title: ({ draftAuthor }) => draftAuthor, cell: ({ userId }, { words, people }) => html`${nameIn(words, people, userId)}` },
    status: {
      title: ({ status }) => status,
      cell: ({ dispatchId, shared }, { words }) =>
        html`${
          dispatchId === null
            ? html``
            : html`<a href="/console/dispatches/${dispatchId}"><span class="badge good">${words.draftSent}</span></a>`
        }${shared ? html`<span class="badge calm">${words.draftShared}</span>` : html``}`
    },
    begun: { title: ({ created }) => created, cell: ({ createdAt }) => time(createdAt) },
    id: { title: ({ draftId }) => draftId, cell: ({ id }) => html`<code>${id}</code>` }
  },
  usual: ['recipient', 'about', 'written', 'author', 'status']
}

function removal (words: Words, { id, updatedAt }: DraftSummary): Html {
  return html`<form method="post" action="/console/drafts/${id}/delete"><button class="second" aria-label="${
    fill(words.draftDeleteOf, { at: updatedAt })
  }">${words.draftDelete}</button></form>`
}
