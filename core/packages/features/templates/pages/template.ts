import { ApiRefused, badge, type Confirmation, type ConfirmRequest, documentTypeName, fill, type Html, html, notice, page, placeIn, pretty,
  previewFrame, profilesSections, type ProfilesView, sendPreview, sendRefusedPreview, sentenceOf, sentences, table, templateName, time,
  withQuery, withSubject, wordFor } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import { type PreviewFormat, previewFormats, savedFormats, type TemplateDetail, type VersionCheck,
  type VersionView } from '../contract/templates.ts'
import { type Visit, visitOf, type Words } from './words.ts'

type Query = Readonly<Record<string, unknown>>
type Named = { Params: { id: string }, Querystring: Query }
type Posted = { Params: { id: string }, Body: URLSearchParams }

/** A template: a version of it with its preview, all its versions, and what an admin can do about it. */
export const templatePages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named>('/templates/:id', async (request, reply) => {
    const visit = visitOf(request)
    const found = await find(visit, request.params.id, request.query)
    return reply.page(view(visit, found, request.query), 'framing')
  })

  app.get<Named>('/templates/:id/preview', async (request, reply) => {
    const { api, words } = visitOf(request)
    const made = await api.file(`${apiPath(request.params.id)}/preview`, {
      ...textIn(request.query, 'format') === '' ? {} : { format: textIn(request.query, 'format') },
      ...textIn(request.query, 'version') === '' ? {} : { version: Number(textIn(request.query, 'version')) }
    })
    if (made.ok) return sendPreview(reply, withSubject(made.body, words))
    return sendRefusedPreview(reply, words, made)
  })

  app.get<Named>('/templates/:id/e-invoices', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const { id } = request.params
    const version = textIn(request.query, 'version')
    const [template, found] = await Promise.all([
      api.read<TemplateDetail>(withQuery(apiPath(id), { version })),
      api.send<ProfilesView>('POST', `${apiPath(id)}/e-invoices`, version === '' ? {} : { version: Number(version) })
    ])
    if (!found.ok) throw new ApiRefused(found)
    const [profile, format] = [textIn(request.query, 'profile'), textIn(request.query, 'format')]
    const linkTo = (one: object): string => withQuery(`${addressOf(template)}/e-invoices`, { version, ...one })
    const main = html`<p><a href="${addressOf(template)}">${words.templateTo}</a></p>${
      profilesSections(words, found.body, { chosen: { profile, ...format !== '' && { format } }, linkTo })
    }`
    const path = linkTo({ profile, format })
    return reply.page(page({ ...visit, path }, { title: templateName(visit.words, template), section: 'templates', main }))
  })

  app.post<Posted>('/templates/:id/publish', { config: { confirms: warning } }, async (request, reply) => {
    const version = request.body.get('version') ?? ''
    const published = await visitOf(request).api.send('POST', `${apiPath(request.params.id)}/publish`, { version: Number(version) })
    if (!published.ok) throw new ApiRefused(published)
    return reply.redirect(withQuery(`/console/templates/${encodeURIComponent(request.params.id)}`, { published: version }), 303)
  })

  app.post<Posted>('/templates/:id/remove', { config: { confirms: withdrawal } }, async (request, reply) => {
    const removed = await visitOf(request).api.send('DELETE', apiPath(request.params.id))
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.redirect('/console/templates?removed=1', 303)
  })
  done()
}

function apiPath (id: string): string {
  return `/api/v1/templates/${encodeURIComponent(id)}`
}

function textIn (query: Query, name: string): string {
  const text = query[name]
  return typeof text === 'string' ? text : ''
}

/** What a reader confirms before a version is published; undefined where none of the latest dispatches speaks against it. */
async function warning (request: ConfirmRequest): Promise<Confirmation | undefined> {
  const { api, words } = visitOf(request)
  const [{ id }, version] = [request.params, request.body.get('version') ?? '']
  // The API says what is wrong with the version when it is published.
  if (!/^[1-9]\d{0,8}$/.test(version)) return undefined
  const checked = await api.send<VersionCheck>('GET', withQuery(`${apiPath(id)}/check`, { version }))
  if (!checked.ok && checked.status !== 503) throw new ApiRefused(checked)
  if (checked.ok && checked.body.refused === 0) return undefined
  const said = checked.ok ? refusals(words, checked.body) : html`<p>${words.publishUnchecked}</p>${sentences(words, checked.error)}`
  const at = `/console/templates/${encodeURIComponent(id)}`
  return {
    title: fill(words.publishFull, { version }),
    says: [],
    more: html`${notice('warn', said)}<p><a href="${withQuery(`${at}/edit`, { version })}">${words.edit}</a></p>`,
    button: words.publishAnyway,
    back: withQuery(at, { version })
  }
}

/** Asks before a template is withdrawn, with all its versions. */
async function withdrawal (request: ConfirmRequest): Promise<Confirmation> {
  const visit = visitOf(request)
  const { words } = visit
  const { template: { id, name }, versions } = await find(visit, request.params.id, {})
  return {
    title: `${words.templateRemove}${words.colon}${name}`,
    says: [words.templateRemoveIntro],
    touches: [[words.versions, versions.length]],
    button: words.templateRemove,
    back: `/console/templates/${String(id)}`
  }
}

function refusals (words: Words, { checked, refused, complete, examples }: VersionCheck): Html {
  const shown = examples.map(({ dispatchId, problem }) =>
    html`<li><a href="/console/dispatches/${dispatchId}">${dispatchId}</a>: ${placeIn(words, problem.path)} ${
      sentenceOf(words, problem)
    }</li>
`
  )
  return html`<p>${fill(words.publishRefused, { checked, refused })}</p>${complete ? html`` : html`<p>${words.publishPartly}</p>`}
<p>${words.publishExamples}</p><ul>${shown}</ul>`
}

type Found = { template: TemplateDetail, versions: VersionView[] }

async function find ({ api }: Visit, id: string, query: Query): Promise<Found> {
  const [template, { data: versions }] = await Promise.all([
    api.read<TemplateDetail>(withQuery(apiPath(id), { version: textIn(query, 'version') })),
    api.read<{ data: VersionView[] }>(withQuery(`${apiPath(id)}/versions`, { limit: '100' }))
  ])
  return { template, versions }
}

function view (visit: Visit, { template, versions }: Found, query: Query): Html {
  const { words, actor: { role } } = visit
  const isEditable = role === 'admin' && template.companyId !== null
  const main = html`<p><a href="/console/templates">${words.templateBack}</a></p>${said(words, query)}${
    summary(words, template, role === 'admin')
  }${previewSection(words, template, textIn(query, 'format'))}${versionsSection(words, template, versions, isEditable)}${
    parts(words, template)
  }${isEditable ? removal(words, template) : html``}`
  const path = withQuery(addressOf(template), { version: textIn(query, 'version') })
  return page({ ...visit, path }, { title: templateName(visit.words, template), section: 'templates', main })
}

function addressOf ({ id }: TemplateDetail): string {
  return `/console/templates/${String(id)}`
}

function said (words: Words, query: Query): Html {
  const published = textIn(query, 'published')
  if (/^\d{1,9}$/.test(published)) return notice('good', html`<p>${fill(words.publishDone, { version: published })}</p>`)
  return query['saved'] === undefined ? html`` : notice('good', html`<p>${words.templateSaved}</p>`)
}

function summary (words: Words, template: TemplateDetail, isAdmin: boolean): Html {
  const { id, service, alsoFor = [], documentType, version, status, locale, languages, companyId } = template
  const isOwn = companyId !== null
  const edited = isOwn
    ? { blocks: `${addressOf(template)}/blocks`, text: `${addressOf(template)}/edit`, query: { version: String(version) } }
    : { blocks: '/console/templates/new/blocks', text: '/console/templates/new', query: { from: String(id) } }
  return html`<section aria-labelledby="summary"><h2 id="summary">${fill(words.templateVersion, { version })} ${
    badge(words, 'version', status)
  }</h2><dl><dt>${words.service}</dt><dd>${[service, ...alsoFor].map((name) => wordFor(words, 'service', name)).join(', ')}</dd>
${documentType === undefined ? html`` : html`<dt>${words.documentType}</dt><dd>${documentTypeName(words, documentType)}</dd>`}
<dt>${words.templateLanguages}</dt><dd>${languages.length === 0 ? locale : languages.join(', ')}</dd>
<dt>${words.templateOwner}</dt><dd>${isOwn ? words.templateOwn : words.templateShared}</dd></dl>${
    status === 'published' ? html`<hr><p><a href="/console/send?template=${String(id)}">${words.sendWith}</a></p>` : html``
  }${isAdmin ? whatToDo(words, template, edited) : html``}</section>`
}

function whatToDo (words: Words, template: TemplateDetail, edited: { blocks: string, text: string, query: Record<string, string> }): Html {
  const { version, status, companyId } = template
  const isOwn = companyId !== null
  const isWaiting = isOwn && status !== 'published'
  return html`<hr><div class="actions"><a class="button second" href="${withQuery(edited.blocks, edited.query)}">${
    isOwn ? words.edit : words.copy
  }</a><a href="${withQuery(edited.text, edited.query)}">${words.editText}</a>${
    isWaiting ? publishForm(words, template, version) : html``
  }</div>${isWaiting ? html`<p class="quiet">${words.publishIntro}</p>` : html``}`
}

function publishForm (words: Words, template: TemplateDetail, version: number): Html {
  return html`<form method="post" action="${addressOf(template)}/publish"><button name="version" value="${String(version)}"${
    version === template.version ? html`` : html` class="second"`
  } aria-label="${fill(words.publishFull, { version })}">${words.publish}</button></form>`
}

function previewSection (words: Words, template: TemplateDetail, requested: string): Html {
  const version = String(template.version)
  const format = previewFormats.find((one) => one === requested && !savedFormats.includes(one)) ?? ''
  const at = `${addressOf(template)}/preview`
  const linkTo = (one: PreviewFormat | ''): Html =>
    one !== '' && savedFormats.includes(one)
      ? html`<a href="${withQuery(at, { format: one, version })}" aria-label="${fill(words.previewDownload, { format: one })}">${one}</a> `
      : html`<a href="${withQuery(addressOf(template), { version, format: one })}#preview"${
        one === format ? html` aria-current="page"` : html``
      }>${one === '' ? words.previewUsual : one}</a> `
  return html`<section aria-labelledby="preview"><h2 id="preview">${words.preview}</h2><p class="quiet">${words.previewIntro}</p>
<nav class="views" aria-label="${words.previewFormat}">${(['', ...previewFormats] as const).map(linkTo)}</nav>${
    template.documentType === 'E_INVOICE'
      ? html`<p><a href="${withQuery(`${addressOf(template)}/e-invoices`, { version })}">${words.profilesShow}</a></p>`
      : html``
  }${previewFrame(words, { name: templateName(words, template), source: withQuery(at, { version, format }) })}</section>`
}

function versionsSection (words: Words, template: TemplateDetail, versions: readonly VersionView[], isEditable: boolean): Html {
  const at = addressOf(template)
  const head = [words.version, words.status, words.created, words.published, words.difference, ...isEditable ? [words.action] : []]
  return html`<section aria-labelledby="versions"><h2 id="versions">${words.versions}</h2>${
    table(words.versions, head, versions.map(({ version, status, createdAt, publishedAt }) =>
      html`<tr><th scope="row"><a href="${withQuery(at, { version: String(version) })}">${fill(words.templateVersion, { version })}</a></th>
<td>${badge(words, 'version', status)}</td><td>${time(createdAt)}</td><td>${publishedAt === null ? html`` : time(publishedAt)}</td><td>${
        version === 1 ?
          html`` :
          html`<a href="${at}/difference?from=${String(version - 1)}&amp;to=${String(version)}" aria-label="${
            fill(words.differenceFull, { version })
          }">${words.difference}</a>`
      }</td>${isEditable ? html`<td>${status === 'published' ? html`` : publishForm(words, template, version)}</td>` : html``}</tr>
`
    ))
  }</section>`
}

function parts (words: Words, { source, schema, sample }: TemplateDetail): Html {
  const shown = [[words.templateSource, source], [words.templateSchema, pretty(schema)], [words.templateSample, pretty(sample)]] as const
  return html`<section aria-labelledby="parts"><h2 id="parts">${words.templateParts}</h2>${
    shown.map(([title, text]) => html`<details><summary>${title}</summary><pre>${text}</pre></details>`)
  }</section>`
}

function removal (words: Words, template: TemplateDetail): Html {
  return html`<section aria-labelledby="remove"><h2 id="remove">${words.templateRemove}</h2><p>${words.templateRemoveIntro}</p>
<form method="post" action="${addressOf(template)}/remove"><button class="danger">${words.templateRemove}</button></form></section>`
}
