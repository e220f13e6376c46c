import { badge, choiceField, documentTypeName, type Html, html, type LongList, longList, notice, optionsFor, page, templateName,
  templateServices, time, withQuery, wordFor } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { TemplateView } from '../contract/templates.ts'
import { visitOf, type Words } from './words.ts'

/** The templates that the reader's company may use: its own and the shared ones. */
export const templatesPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/templates', async (request, reply) => {
    const visit = visitOf(request)
    const { words, actor: { role } } = visit
    const textOf = (name: string): string => typeof request.query[name] === 'string' ? request.query[name] : ''
    const [service, cursor] = [textOf('service'), textOf('cursor')]
    const { data, nextCursor } = await visit.api.read<{ data: TemplateView[], nextCursor: string | null }>(
      withQuery('/api/v1/templates', { limit: '50', service, cursor })
    )
    const said = request.query['removed'] === undefined ? html`` : notice('good', html`<p>${words.templateRemoved}</p>`)
    const main = html`${said}<p>${words.templatesIntro}</p>${
      role === 'admin' ? newLink(words) : html``
    }<p><a href="/console/partials">${words.partials}</a> <a href="/console/assets">${words.assets}</a></p>
<section aria-labelledby="list"><h2 id="list">${words.templates}</h2>
<form class="filters" method="get" action="/console/templates">${
      choiceField({
        name: 'service',
        label: words.service,
        value: service,
        none: words.any,
        options: optionsFor(words, 'service', templateServices)
      })
    }<div class="actions"><button class="second">${words.show}</button></div></form><hr>
${
      data.length === 0
        ? html`<p>${words.templatesNone}</p>`
        : longList(visit, templateList, { label: words.templates, rows: data, known: { words } })
    }${
      nextCursor === null
        ? html``
        : html`<p><a href="${withQuery('/console/templates', { service, cursor: nextCursor })}">${words.more}</a></p>`
    }</section>`
    return reply.page(page(visit, { title: words.templates, section: 'templates', main }))
  })
  done()
}

function newLink (words: Words): Html {
  return html`<p><a class="button" href="/console/templates/new/blocks">${words.templateNew}</a></p>`
}

const templateList: LongList<TemplateView, { words: Words }> = {
  name: 'templates',
  first: {
    title: (words) => words.name,
    cell: ({ id, name }, { words }) => html`<a href="/console/templates/${String(id)}">${templateName(words, { id, name })}</a>`
  },
  columns: {
    service: { title: (words) => words.service, cell: ({ service }, { words }) => wordFor(words, 'service', service) },
    documentType: {
      title: (words) => words.documentType,
      cell: ({ documentType = '' }, { words }) => documentTypeName(words, documentType)
    },
    version: {
      title: (words) => words.version,
      cell: ({ version, latestVersion }, { words }) =>
        html`${String(version)}${latestVersion === version ? html`` : html` <small>(${words.newest} ${String(latestVersion)})</small>`}`,
      isNumber: true
    },
    status: { title: (words) => words.status, cell: ({ status }, { words }) => badge(words, 'version', status) },
    owner: {
      title: ({ templateOwner }) => templateOwner,
      cell: ({ companyId }, { words }) => companyId === null ? words.templateShared : words.templateOwn
    },
    changed: { title: ({ changedAt }) => changedAt, cell: ({ updatedAt }) => time(updatedAt) },
    id: { title: (words) => words.templateId, cell: ({ id }) => String(id), isNumber: true }
  },
  usual: ['service', 'documentType', 'version', 'status', 'owner', 'changed']
}
