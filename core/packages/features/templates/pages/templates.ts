import { badge, choiceField, documentTypeName, type Html, html, notice, optionsFor, page, table, templateServices, time, withQuery,
  wordFor } from '@dispatch/plugins/console'
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
    }<p><a href="/console/assets">${words.assets}</a></p>
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
${data.length === 0 ? html`<p>${words.templatesNone}</p>` : templateTable(words, data)}${
      nextCursor === null
        ? html``
        : html`<p><a href="${withQuery('/console/templates', { service, cursor: nextCursor })}">${words.more}</a></p>`
    }</section>`
    return reply.page(page(visit, { title: words.templates, section: 'templates', main }))
  })
  done()
}

function newLink (words: Words): Html {
  return html`<p><a class="button" href="/console/templates/new">${words.templateNew}</a></p>`
}

function templateTable (words: Words, templates: readonly TemplateView[]): Html {
  const head = [words.name, words.service, words.documentType, words.version, words.status, words.templateOwner, words.changedAt]
  return table(words.templates, head, templates.map((template) => {
    const { id, name, service, documentType = '', version, latestVersion, status, companyId, updatedAt } = template
    return html`<tr><th scope="row"><a href="/console/templates/${String(id)}">${name}</a></th><td>${
      wordFor(words, 'service', service)
    }</td><td>${documentTypeName(words, documentType)}</td>
<td class="count">${String(version)}${
      latestVersion === version ? html`` : html` <small>(${words.newest} ${String(latestVersion)})</small>`
    }</td><td>${badge(words, 'version', status)}</td><td>${companyId === null ? words.templateShared : words.templateOwn}</td><td>${
      time(updatedAt)
    }</td></tr>
`
  }))
}
