import { type ApiAnswer, ApiRefused, fieldsOf, fill, type Html, html, type LongList, longList, notice, objectIn, page, picks, picksForm,
  readSettings, sentences, textField, time, visitWith, withMany, withQuery } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { ContactView } from '../contract/contacts.ts'
import { contactForm, wordsOf } from './forms.ts'

const visitOf = visitWith(wordsOf)
type Visit = ReturnType<typeof visitOf>
type Query = Readonly<Record<string, unknown>>
type Typed = { values: object, refused?: Extract<ApiAnswer<ContactView>, { ok: false }> }

/** The contacts of the reader's company. */
export const contactsPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/contacts', async (request, reply) => {
    const visit = visitOf(request)
    const said = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visit.words.contactSaved}</p>`)
    return reply.page(await listPage(visit, { query: request.query, said }))
  })

  app.post<{ Body: URLSearchParams }>('/contacts', async (request, reply) => {
    const visit = visitOf(request)
    const values = contactIn(request.body)
    const answer = await visit.api.send<ContactView>('POST', '/api/v1/contacts', values)
    if (answer.ok) return reply.redirect('/console/contacts?saved=1#main', 303)
    return reply.code(answer.status).page(await listPage(visit, { query: {}, said: html``, typed: { values, refused: answer } }))
  })

  app.get<{ Params: { id: string } }>('/contacts/:id', async (request, reply) => {
    const visit = visitOf(request)
    return reply.page(contactPage(visit, await visit.api.read<ContactView>(pathOf(request.params.id))))
  })

  app.post<{ Params: { id: string }, Body: URLSearchParams }>('/contacts/:id', async (request, reply) => {
    const visit = visitOf(request)
    const values = contactIn(request.body)
    const answer = await visit.api.send<ContactView>('PUT', pathOf(request.params.id), values)
    if (answer.ok) return reply.redirect('/console/contacts?saved=1#main', 303)
    const known = await visit.api.read<ContactView>(pathOf(request.params.id))
    return reply.code(answer.status).page(contactPage(visit, known, { values, refused: answer }))
  })

  // What is deleted can be added again as it was: the page carries it.
  app.post<{ Params: { id: string } }>('/contacts/:id/delete', { config: { confirms: 'undone' } }, async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const contact = await api.read<ContactView>(pathOf(request.params.id))
    const deleted = await api.send('DELETE', pathOf(request.params.id))
    if (!deleted.ok) throw new ApiRefused(deleted)
    const { id: _id, createdAt: _created, updatedAt: _updated, ...kept } = contact
    const said = notice('good', html`<p>${fill(words.contactDeleted, kept)}</p>
<form method="post" action="/console/contacts"><input type="hidden" name=":contact" value="${
      JSON.stringify(kept)
    }"><button class="second">${fill(words.contactRestore, kept)}</button></form>`)
    return reply.page(await listPage(visit, { query: {}, said }))
  })

  withMany(app, {
    path: '/contacts/chosen/delete',
    list: () => '/console/contacts',
    section: 'contacts',
    title: ({ words }) => wordsOf(words).contactsDelete,
    says: ({ words }) => wordsOf(words).contactsDeleteIntro,
    act: ({ api }, id) => api.send('DELETE', pathOf(id))
  })
  done()
}

const pathOf = (id: string): string => `/api/v1/contacts/${encodeURIComponent(id)}`

function contactIn (body: URLSearchParams): object {
  const whole = body.get(':contact')
  return whole === null ? readSettings(contactForm, body) : objectIn(whole) ?? {}
}

const contactList: LongList<ContactView, { words: Visit['words'] }> = {
  name: 'contacts',
  first: {
    title: ({ data_name: title }) => title,
    cell: ({ id, name, contact = '' }) =>
      html`<a href="/console/contacts/${id}">${name}</a>${contact === '' ? html`` : html`<div class="quiet">${contact}</div>`}`
  },
  columns: {
    email: { title: ({ data_email: title }) => title, cell: ({ email = '' }) => email },
    where: {
      title: ({ contactWhere }) => contactWhere,
      cell: ({ postalCode = '', city = '' }) => `${postalCode} ${city}`.trim()
    },
    address: { title: ({ data_address: title }) => title, cell: ({ address = '' }) => address },
    country: { title: ({ data_country: title }) => title, cell: ({ country = '' }) => country },
    phone: { title: ({ data_phone: title }) => title, cell: ({ phone = '' }) => phone },
    vatId: { title: ({ data_vatId: title }) => title, cell: ({ vatId = '' }) => vatId },
    changed: { title: ({ contactChanged }) => contactChanged, cell: ({ updatedAt }) => time(updatedAt) }
  },
  usual: ['email', 'where']
}

type Listed = { query: Query, said: Html, typed?: Typed }

async function listPage (visit: Visit, { query, said, typed = { values: {} } }: Listed): Promise<Html> {
  const { words, api } = visit
  const textOf = (name: string): string => typeof query[name] === 'string' ? query[name] : ''
  const [q, cursor] = [textOf('q').slice(0, 100), textOf('cursor')]
  const { data, nextCursor } = await api.read<{ data: ContactView[], nextCursor: string | null }>(
    withQuery('/api/v1/contacts', { q, cursor, limit: '100' })
  )
  const main = html`${said}<section aria-label="${words.contacts}"><p>${words.contactsIntro}</p>${
    q === '' && cursor === '' && data.length === 0 ? html`` : searchForm(visit, q)
  }${
    data.length > 0
      ? html`${
        longList({ ...visit, path: withQuery('/console/contacts', { q, cursor }) }, contactList, {
          label: words.contacts,
          rows: data,
          known: { words },
          pick: picks(words, 'many', ({ id, name }) => ({ id, name }))
        })
      }${picksForm(words, 'many', { action: '/console/contacts/chosen/delete', label: words.contactsDelete })}`
      : html`<p>${q === '' ? words.contactsNone : words.contactsNotFound}</p>`
  }${
    nextCursor === null
      ? html``
      : html`<p><a href="${withQuery('/console/contacts', { q, cursor: nextCursor })}" rel="next">${words.sendMore}</a></p>`
  }</section>
<section aria-labelledby="add"><h2 id="add">${words.contactAdd}</h2>${form(visit, { action: '/console/contacts', typed })}</section>`
  return page(visit, { title: words.contacts, section: 'contacts', main })
}

function searchForm ({ words }: Visit, q: string): Html {
  return html`<form class="filters" method="get" action="/console/contacts" role="search">${
    textField({ name: 'q', label: words.contactSearch, type: 'search', value: q })
  }<div class="actions"><button class="second">${words.sendSearchDo}</button></div></form>`
}

function contactPage (visit: Visit, contact: ContactView, typed: Typed = { values: contact }): Html {
  const { words } = visit
  const action = `/console/contacts/${contact.id}`
  const main = html`<p><a href="/console/contacts">${words.contactsAll}</a></p><section aria-label="${contact.name}">${
    form(visit, { action, typed })
  }</section>
<section aria-label="${words.contactDelete}"><form method="post" action="${action}/delete"><div class="actions"><button class="second">${words.contactDelete}</button></div></form></section>`
  return page(visit, { title: contact.name, section: 'contacts', main })
}

function form ({ words }: Visit, { action, typed: { values, refused } }: { action: string, typed: Typed }): Html {
  return html`${
    refused === undefined ? html`` : notice('bad', sentences(words, refused.error))
  }<form method="post" action="${action}" novalidate>${
    fieldsOf(words, contactForm, { values: { ...values }, problems: refused?.error.details ?? [] }, { name: '', path: '' })
  }<div class="actions"><button>${words.contactSave}</button></div></form>`
}
