import { choiceField, errorOf, type Html, html, manyField, notice, page, type Query, said, table, templateName,
  type Typed } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import { channels, reasons, type TransactionalView } from '../contract/suppressions.ts'
import { apiPath } from './suppressions.ts'
import { reasonWord, type Visit, visitOf, type Words } from './words.ts'

const at = '/console/suppressions/templates'

type TemplateSummary = { id: number, name: string, service: string, alsoFor?: string[] }

/** The templates that are sent to suppressed recipients all the same. */
export const templatePages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/suppressions/templates', async (request, reply) => {
    const visit = visitOf(request)
    const reported = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visit.words.suppressionTemplateSaved}</p>`)
    return reply.page(await view(visit, reported))
  })

  app.post<{ Body: URLSearchParams }>('/suppressions/templates', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const path = `${apiPath}/templates/${encodeURIComponent(body.get('template') ?? '')}`
    const saved = await visit.api.send('PUT', path, { reasons: body.getAll('reasons') })
    if (saved.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(saved.status).page(await view(visit, html``, { body, error: errorOf(saved) }))
  })
  done()
}

async function view (visit: Visit, message: Html, typed?: Typed): Promise<Html> {
  const { words, api } = visit
  const [{ data: marked }, { data: templates }] = await Promise.all([
    api.read<{ data: TransactionalView[] }>(`${apiPath}/templates`),
    api.read<{ data: TemplateSummary[] }>('/api/v1/templates?limit=100')
  ])
  const options = templates.filter(({ service, alsoFor = [] }) =>
    [service, ...alsoFor].some((name) => channels.some((one) => one === name))
  )
    .map(({ id, name }) => ({ value: String(id), label: templateName(words, { id, name }) }))
  const main = html`<p><a href="/console/suppressions">${words.suppressionBack}</a></p>${message}
<section aria-label="${words.suppressionTemplates}"><p>${words.suppressionTemplatesIntro}</p>${
    marked.length === 0 ? html`<p>${words.suppressionTemplatesNone}</p>` : list(words, marked, templates)
  }</section>
<section aria-labelledby="change"><h2 id="change">${words.suppressionTemplateReasons}</h2>${said(words, typed)}
<form method="post" action="${at}">${
    choiceField({ name: 'template', label: words.suppressionTemplate, value: typed?.body.get('template') ?? undefined, options })
  }${
    manyField({
      name: 'reasons',
      label: words.suppressionTemplateReasons,
      options: reasons.map((value) => ({ value, label: reasonWord(words, value) })),
      values: typed?.body.getAll('reasons') ?? []
    })
  }<div class="actions"><button>${words.suppressionTemplateSave}</button></div></form></section>`
  return page({ ...visit, path: at }, { title: words.suppressionTemplates, section: 'suppressions', main })
}

function list (words: Words, marked: readonly TransactionalView[], templates: readonly TemplateSummary[]): Html {
  return table(words.suppressionTemplates, [words.suppressionTemplate, words.suppressionTemplateReasons],
    marked.map(({ templateId, reasons: allowed }) =>
      html`<tr><th scope="row">${nameOf(words, templateId, templates)}</th><td>${
        allowed.map((reason) => reasonWord(words, reason)).join(', ')
      }</td></tr>\n`
    ))
}

function nameOf (words: Words, id: number, templates: readonly TemplateSummary[]): string {
  const found = templates.find((one) => one.id === id)
  return found === undefined ? String(id) : templateName(words, found)
}
