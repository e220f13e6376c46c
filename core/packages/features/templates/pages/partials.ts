import { ApiRefused, choiceField, type Confirmation, type ConfirmRequest, editorScript, type Html, html, longTextField, notice, outlives,
  page, type PlacedProblem, type Refusal, sentences, table, textField, time } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import type { PartialAnswer, PartialDetail, PartialView } from '../contract/partials.ts'
import type { AssetUseView } from '../contract/templates.ts'
import { usesList } from './assets.ts'
import { type Visit, visitOf, type Words } from './words.ts'

type Query = Readonly<Record<string, unknown>>
type Named = { Params: { name: string } }
type Posted = { Body: URLSearchParams }

/** The largest form, in bytes: a text of 50,000 characters, of which many are escaped. */
const bodyLimit = 512 * 1024

/** What the templates of the reader's company share: blocks that they include, and pages that they have. */
export const partialPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/partials', async (request, reply) => {
    const visit = visitOf(request)
    const said = request.query['removed'] === undefined ? html`` : notice('good', html`<p>${visit.words.partialRemoved}</p>`)
    return reply.page(await listView(visit, said))
  })

  app.get<{ Querystring: Query }>('/partials/new', async (request, reply) => show(reply, visitOf(request), beginning, {}))

  app.post<Posted>('/partials/new', { bodyLimit }, async (request, reply) => save(visitOf(request), writtenIn(request.body), reply))

  app.get<Named & { Querystring: Query }>('/partials/:name', async (request, reply) => {
    const visit = visitOf(request)
    const { name, kind, source, version } = await visit.api.read<PartialDetail>(apiPath(request.params.name))
    return show(reply, visit, { name, kind, source, base: String(version) }, { isSaved: request.query['saved'] !== undefined })
  })

  app.post<Named & Posted>('/partials/:name', { bodyLimit },
    async (request, reply) => save(visitOf(request), { ...writtenIn(request.body), name: request.params.name }, reply))

  // What was written is shown again after a sign-in.
  app.post<Named & Posted>('/partials/:name/again', { bodyLimit }, async (request, reply) => {
    const written = writtenIn(request.body)
    return show(reply, visitOf(request), written.base === '' ? written : { ...written, name: request.params.name }, {})
  })

  app.post<Named>('/partials/:name/remove', { config: { confirms: removal } }, async (request, reply) => {
    const removed = await visitOf(request).api.send('DELETE', apiPath(request.params.name))
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.redirect('/console/partials?removed=1', 303)
  })
  done()
}

export const apiPath = (name: string): string => `/api/v1/partials/${encodeURIComponent(name)}`
export const addressOf = (name: string): string => `/console/partials/${encodeURIComponent(name)}`

export const kindOf = (words: Words, kind: string): string => kind === 'layout' ? words.partialKind_layout : words.partialKind_partial

/** A partial as it stands in the form; `base` is '' for a new one. */
type Written = { name: string, kind: string, source: string, base: string }

export const beginning: Written = {
  name: '',
  kind: 'partial',
  base: '',
  source: 'blocks:\n  - rule: {}\n  - paragraph: { text: Payable within 14 days., size: 7, color: muted }\n'
}

function writtenIn (body: URLSearchParams): Written {
  const textOf = (name: string): string => (body.get(name) ?? '').replaceAll('\r\n', '\n')
  return { name: textOf('name'), kind: textOf('kind'), source: textOf('source'), base: textOf('base') }
}

async function removal (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const { name } = request.params
  const { data } = await api.read<{ data: AssetUseView[] }>(`${apiPath(name)}/templates`)
  return {
    title: `${words.partialRemove}${words.colon}${name}`,
    says: [words.partialRemoveIntro],
    touches: [[words.partialUses, data.length]],
    button: words.partialRemove,
    back: addressOf(name)
  }
}

async function save (visit: Visit, written: Written, reply: FastifyReply): Promise<FastifyReply> {
  const { name, kind, source, base } = written
  const saved = await visit.api.send<PartialAnswer>('PUT', apiPath(name), {
    kind,
    source,
    ...base !== '' && { baseVersion: /^\d{1,9}$/.test(base) ? Number(base) : base }
  })
  if (saved.ok) return reply.redirect(`${addressOf(name)}?saved=1`, 303)
  if (saved.status === 401 || saved.status === 403) throw new ApiRefused(saved)
  return show(reply.code(saved.status), visit, written, { refusal: saved })
}

async function listView (visit: Visit, said: Html): Promise<Html> {
  const { api, words, actor: { role } } = visit
  const { data } = await api.read<{ data: PartialView[] }>('/api/v1/partials?limit=100')
  const rows = data.map(({ name, kind, version, updatedAt }) =>
    html`<tr><th scope="row"><a href="${addressOf(name)}">${name}</a></th><td>${kindOf(words, kind)}</td><td class="count">${
      String(version)
    }</td><td>${time(updatedAt)}</td></tr>
`
  )
  const head = [words.name, words.partialKind, words.version, words.changedAt]
  const main = html`<p><a href="/console/templates">${words.templateBack}</a></p>${said}<p>${words.partialsIntro}</p>${
    role === 'admin' ? html`<p><a class="button" href="/console/partials/new/blocks">${words.partialNew}</a></p>` : html``
  }<section aria-labelledby="list"><h2 id="list">${words.partials}</h2>${
    rows.length === 0 ? html`<p>${words.partialsNone}</p>` : table(words.partials, head, rows)
  }</section>`
  return page({ ...visit, path: '/console/partials' }, { title: words.partials, section: 'templates', main })
}

type Shown = { isSaved?: boolean, refusal?: Refusal }

export async function show (
  reply: FastifyReply,
  visit: Visit,
  written: Written,
  { isSaved = false, refusal }: Shown
): Promise<FastifyReply> {
  const { words, api, actor: { role } } = visit
  const { name, base } = written
  const isNew = base === ''
  const [script, uses] = await Promise.all([
    editorScript('text').catch((error: unknown) => {
      reply.log.error({ err: error }, 'the editor of the console cannot be built')
    }),
    isNew ? [] : api.read<{ data: AssetUseView[] }>(`${apiPath(name)}/templates`).then(({ data }) => data)
  ])
  const isAdmin = role === 'admin'
  const at = isNew ? '/console/partials/new' : addressOf(name)
  const saved = uses.length === 0 ? words.partialSavedUnused : words.partialSaved
  // No partial can have a name that is no name.
  const hasNoName = isNew && refusal?.status === 404
  const main = html`<p><a href="/console/partials">${words.partialBack}</a></p>${
    refusal === undefined
      ? isSaved ? notice('good', html`<p>${saved}</p>`) : html``
      : notice('bad', html`<p>${words.templateRefused}</p>${hasNoName ? html`` : sentences(words, refusal.error)}`)
  }<section class="wide" aria-label="${words.partialText}"><p>${words.partialTextIntro}</p><form method="post" action="${at}"${
    script === undefined || !isAdmin ? html`` : html` data-editor="${script.path}"`
  }>${isAdmin ? outlives(visit, `${at}/again`) : html``}<input type="hidden" name="base" value="${base}">${
    fields(words, written, { problems: refusal?.error.details ?? [], hasNoName })
  }${
    isAdmin ?
      html`<div class="actions"><button>${words.partialSave}</button>
<button class="second" formaction="${at}/blocks">${words.editBlocks}</button></div>` :
      html``
  }</form></section>${isNew ? html`` : about(words, { name, uses, isAdmin })}`
  return reply.page(page({ ...visit, path: at }, { title: isNew ? words.partialNew : name, section: 'templates', main }))
}

function fields (
  words: Words,
  { name, kind, source, base }: Written,
  { problems, hasNoName }: { problems: readonly PlacedProblem[], hasNoName: boolean }
): Html {
  const kinds = ['partial', 'layout'].map((value) => ({ value, label: kindOf(words, value) }))
  return html`${
    base === ''
      ? html`${
        textField({
          name: 'name',
          label: words.name,
          value: name,
          help: words.assetNameHelp,
          required: true,
          refused: hasNoName ? words.assetNameWrong : undefined
        })
      }${choiceField({ name: 'kind', label: words.partialKind, value: kind, help: words.partialKindHelp, options: kinds })}`
      : html`<input type="hidden" name="kind" value="${kind}">`
  }${
    longTextField(words, {
      name: 'source',
      label: words.templateSource,
      help: kind === 'layout' ? words.layoutSourceHelp : words.partialSourceHelp,
      value: source,
      syntax: 'yaml',
      problems
    })
  }`
}

function about (words: Words, { name, uses, isAdmin }: { name: string, uses: readonly AssetUseView[], isAdmin: boolean }): Html {
  return html`<section aria-labelledby="uses"><h2 id="uses">${words.partialUses}</h2><p>${words.partialUsesIntro}</p>${
    uses.length === 0 ? html`<p>${words.partialUnused}</p>` : usesList(words, uses)
  }</section>${
    isAdmin
      ? html`<section aria-labelledby="remove"><h2 id="remove">${words.partialRemove}</h2><p>${words.partialRemoveIntro}</p>
<form method="post" action="${addressOf(name)}/remove"><button class="danger">${words.partialRemove}</button></form></section>`
      : html``
  }`
}
