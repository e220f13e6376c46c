import { fill, type Html, html, page, pretty, templateName, textField, withQuery } from '@dispatch/plugins/console'
import type { ChangeObject, diffLines as DiffLines } from 'diff'
import type { FastifyPluginCallback } from 'fastify'
import type { TemplateDetail } from '../contract/templates.ts'
import { visitOf, type Words } from './words.ts'

type Query = { from?: unknown, to?: unknown }

/** The most changed lines that are compared: the time grows with their square. */
const maxChanges = 1000

/** How many equal lines are shown around a change. */
const around = 3

/** What differs between two versions of a template, line by line. */
export const templateDifferencePage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Params: { id: string }, Querystring: Query }>('/templates/:id/difference', async (request, reply) => {
    const visit = visitOf(request)
    const { words } = visit
    const versionOf = (version: unknown): Promise<TemplateDetail> =>
      visit.api.read(withQuery(`/api/v1/templates/${encodeURIComponent(request.params.id)}`, { version: String(version) }))
    const [from, to, { diffLines }] = await Promise.all([versionOf(request.query.from), versionOf(request.query.to), import('diff')])
    const at = `/console/templates/${String(to.id)}`
    const main = html`<p><a href="${withQuery(at, { version: String(to.version) })}">${words.templateTo}</a></p>
<section aria-label="${words.difference}"><form class="filters" method="get" action="${at}/difference">${
      textField({ name: 'to', label: words.differenceFrom, type: 'number', value: String(to.version) })
    }${textField({ name: 'from', label: words.differenceTo, type: 'number', value: String(from.version) })}
<div class="actions"><button class="second">${words.show}</button></div></form></section>${
      compared(words, diffLines, 'source', [words.templateSource, from.source, to.source])
    }${compared(words, diffLines, 'schema', [words.templateSchema, pretty(from.schema), pretty(to.schema)])}${
      compared(words, diffLines, 'sample', [words.templateSample, pretty(from.sample), pretty(to.sample)])
    }`
    const title = fill(words.differenceTitle, { name: templateName(words, to), from: from.version, to: to.version })
    return reply.page(page(visit, { title, section: 'templates', main }))
  })
  done()
}

function compared (words: Words, diffLines: typeof DiffLines, id: string, [title, from, to]: readonly [string, string, string]): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${
    from === to ? html`<p>${words.differenceNone}</p>` : changes(words, diffLines(from, to, { maxEditLength: maxChanges }))
  }</section>`
}

/** `undefined`: there are too many. */
function changes (words: Words, parts: readonly ChangeObject<string>[] | undefined): Html {
  if (parts === undefined) return html`<p>${words.differenceMuch}</p>`
  return html`<pre class="difference">${
    parts.map(({ value, added, removed }, index) => {
      const lines = value.replace(/\n$/, '').split('\n')
      if (removed) return html`${lines.map((line) => html`<del>- ${line}</del>`)}`
      if (added) return html`${lines.map((line) => html`<ins>+ ${line}</ins>`)}`
      return same(words, lines, { isFirst: index === 0, isLast: index === parts.length - 1 })
    })
  }</pre>`
}

/** Equal lines: those next to a change, and how many are left out. */
function same (words: Words, lines: readonly string[], { isFirst, isLast }: { isFirst: boolean, isLast: boolean }): Html {
  const before = isFirst ? [] : lines.slice(0, around)
  const after = isLast ? [] : lines.slice(Math.max(before.length, lines.length - around))
  const left = lines.length - before.length - after.length
  const shown = (line: string): Html =>
    html`  ${line}
`
  return html`${before.map(shown)}${
    left === 0 ? html`` : html`<span class="quiet">⋯ ${fill(words.differenceSame, { n: left })}</span>
`
  }${after.map(shown)}`
}
