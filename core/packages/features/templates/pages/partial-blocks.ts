import { CannotEdit, editText, newItem, outlineOf } from '@dispatch/documents'
import { type ApiAnswer, type ApiFile, choiceField, fill, type Html, html, objectIn, type PlacedProblem, pretty, textField,
  withQuery } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { PartialAnswer, PartialDetail } from '../contract/partials.ts'
import type { AssetUseView, TemplateDetail, TemplateView } from '../contract/templates.ts'
import { type Edited, editedAt, openedAt, show } from './block-editor.ts'
import { addressOf, apiPath, beginning, kindOf, show as showText } from './partials.ts'
import { type Visit, visitOf, type Words } from './words.ts'
import { forAdmins, linesIn, type SharedText, type Written } from './written.ts'

type Shared = Written & { partial: SharedText }

/** Writing what templates share block by block, beside a template that shows it. */
export const partialBlockPages: FastifyPluginCallback = (app, _options, done) => {
  app.get('/partials/new/blocks', async (request, reply) => {
    const visit = forAdmins(visitOf(request))
    const { name, base, source } = beginning
    return show(reply, visit, { of: shared, written: await shownIn(visit, { name, base, source, format: '' }, 'partial', '') })
  })

  app.get<{ Params: { id: string }, Querystring: { open?: unknown } }>('/partials/:id/blocks', async (request, reply) => {
    const visit = forAdmins(visitOf(request))
    const { name, kind, source, version } = await visit.api.read<PartialDetail>(apiPath(request.params.id))
    const [used] = await usesOf(visit, name)
    const stored = { name, source, base: String(version), format: '' }
    const written = await shownIn(visit, stored, kind, used === undefined ? '' : String(used.templateId))
    return show(reply, visit, { of: shared, written, ...openedAt(written, request.query.open) })
  })
  editedAt(app, shared, ['/partials/new/blocks', '/partials/:id/blocks'])
  done()
}

async function usesOf ({ api }: Visit, name: string): Promise<readonly AssetUseView[]> {
  return (await api.read<{ data: AssetUseView[] }>(`${apiPath(name)}/templates`)).data
}

/**
 * What is written, with the data of the template that shows it. `chosen`: the number of a template that includes it, with a `+` that of one
 * which does not; one that is gone is none.
 */
async function shownIn (
  { api }: Visit,
  written: Pick<Written, 'name' | 'base' | 'source' | 'format'>,
  kind: SharedText['kind'],
  chosen: string
): Promise<Shared> {
  const id = /^\+?(\d{1,9})$/.exec(chosen)?.[1]
  const found = id === undefined ? undefined : await api.send<TemplateDetail>('GET', `/api/v1/templates/${id}`)
  if (found?.ok !== true) return { ...written, schema: '{}', sample: '{}', partial: { kind, shownIn: '', around: '', template: '' } }
  const { schema, sample, source: around, name: template } = found.body
  return { ...written, schema: pretty(schema), sample: pretty(sample), partial: { kind, shownIn: chosen, around, template } }
}

/** What every block editor of templates asks of what templates share. */
const shared: Edited = {
  read (visit, named, body) {
    const base = body.get('base') ?? ''
    const name = base === '' || named === undefined ? (body.get('name') ?? '').trim() : named
    const kind = body.get('kind') === 'layout' ? 'layout' : 'partial'
    const written = { name, base, source: linesIn(body, 'source'), format: body.get('format') ?? '' }
    return shownIn(visit, written, kind, body.get('shownIn') ?? '')
  },
  at: (written) => `${placeOf(written)}/blocks`,
  back: (words, written) =>
    written.base === ''
      ? html`<a href="/console/partials">${words.partialBack}</a>`
      : html`<a href="${addressOf(written.name)}">${words.partialTo}</a>`,
  title: (words, { name, base }) => base === '' ? words.partialNew : fill(words.partialEdit, { name }),
  intro: (words) => `${words.partialBlocksIntro} ${words.partialTextIntro}`,
  save: (words) => words.partialSave,

  async fields (visit, written, problems) {
    const { words } = visit
    const { kind } = sharedIn(written).partial
    const { value, options } = await templatesFor(visit, sharedIn(written))
    return html`${head(words, sharedIn(written), problems)}${
      choiceField({
        name: 'shownIn',
        label: words.partialShownIn,
        help: words.partialShownInHelp,
        value,
        none: words.partialShownAlone,
        options
      })
    }${written.base === '' ? html`` : html`<input type="hidden" name="kind" value="${kind}">`}`
  },
  preview: (visit, written) => preview(visit, sharedIn(written)),

  async keep ({ api }, written) {
    const { name, base, source } = written
    const saved = await api.send<PartialAnswer>('PUT', apiPath(name === '' ? '-' : name), {
      kind: sharedIn(written).partial.kind,
      source,
      ...base !== '' && { baseVersion: /^\d{1,9}$/.test(base) ? Number(base) : base }
    })
    if (saved.ok) return { ok: true, kept: { at: withQuery(addressOf(name), { saved: '1' }) } }
    // No partial can have a name that is no name.
    if (base !== '' || saved.status !== 404) return saved
    return { ...saved, error: { ...saved.error, details: [{ path: '/name', code: 'format', message: saved.error.message }] } }
  },
  showText: (reply, visit, written) => {
    const { name, base, source } = written
    return showText(reply, visit, { name, base, source, kind: sharedIn(written).partial.kind }, {})
  }
}

function sharedIn (written: Written): Shared {
  if (written.partial === undefined) throw new TypeError('A template is not shared by templates.')
  return { ...written, partial: written.partial }
}

const placeOf = ({ name, base }: Pick<Written, 'name' | 'base'>): string => base === '' ? '/console/partials/new' : addressOf(name)

/** The name and the kind of a new one; those of another stay. */
function head (words: Words, { name, base, partial: { kind } }: Shared, problems: readonly PlacedProblem[]): Html {
  if (base !== '') return html``
  const kinds = (['partial', 'layout'] as const).map((value) => ({ value, label: kindOf(words, value) }))
  const refused = problems.some(({ path }) => path === '/name') ? words.assetNameWrong : undefined
  return html`${textField({ name: 'name', label: words.name, value: name, help: words.assetNameHelp, refused })}${
    choiceField({ name: 'kind', label: words.partialKind, value: kind, help: words.partialKindHelp, options: kinds })
  }`
}

/** The most templates that are offered, in pages of 100. */
const maxPages = 10

/**
 * The templates that can show it: those that include it or, where none does, any of the company; and which of them does. One that was
 * chosen stays, though it includes the block no longer.
 */
async function templatesFor (visit: Visit, { name, base, partial: { shownIn: chosen, template } }: Shared): Promise<Choice> {
  const uses = base === '' ? [] : await usesOf(visit, name)
  const used = new Map(uses.map(({ templateId, name: label }) => [String(templateId), label]))
  const id = chosen.replace('+', '')
  if (used.has(id)) return { value: id, options: optionsOf(used) }
  const others = used.size > 0 ? used : await templatesOf(visit)
  const value = chosen === '' ? '' : `+${id}`
  return { value, options: optionsOf(value === '' || others.has(value) ? others : new Map([...others, [value, template]])) }
}

type Choice = { value: string, options: { value: string, label: string }[] }

const optionsOf = (names: ReadonlyMap<string, string>): Choice['options'] => [...names].map(([value, label]) => ({ value, label }))

async function templatesOf ({ api }: Visit): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  let cursor: string | null = ''
  for (let read = 0; read < maxPages && cursor !== null; read++) {
    const { data, nextCursor }: { data: TemplateView[], nextCursor: string | null } = await api.read(
      withQuery('/api/v1/templates', { limit: '100', cursor })
    )
    for (const { id, name } of data) found.set(`+${String(id)}`, name)
    cursor = nextCursor
  }
  return found
}

/** The document of the template that shows it or, without one, of its blocks alone. */
async function preview ({ api, words }: Visit, written: Shared): Promise<ApiAnswer<ApiFile>> {
  const { source, schema, sample, format, partial: { kind } } = written
  // One that has no name yet can be shown, too.
  const name = written.name === '' ? 'new' : written.name
  const made = await api.file('/api/v1/templates/preview', {
    source: around(words, { ...written, name }),
    schema: objectIn(schema) ?? {},
    sample: objectIn(sample) ?? {},
    partial: { name, kind, source },
    ...format === '' ? {} : { format }
  })
  return made.ok ? made : { ...made, error: { ...made.error, ...made.error.details && { details: made.error.details.map(placed) } } }
}

/** What is wrong in the text that is written has its lines; the lines of the template around it are not on the page. */
function placed<Told extends PlacedProblem> (problem: Told): Told {
  if (['/partial/source', '/partial/name'].includes(problem.path)) return { ...problem, path: problem.path.slice('/partial'.length) }
  const { line: _, column: __, ...others } = problem
  return others as Told
}

/** The text of a template that shows it. */
function around (words: Words, written: Shared): string {
  const { name, partial: { kind, shownIn: chosen, around: text } } = written
  if (chosen === '') return alone(words, written)
  if (!chosen.startsWith('+')) return text
  try {
    if (kind === 'layout') return editText(text, { do: 'set', path: '/layout', value: name })
    const body = outlineOf(text)?.lists.find(({ path }) => path === '/body')
    return editText(text, { do: 'insert', list: '/body', index: body?.blocks.length ?? 0, text: newItem({ partial: name }) })
  } catch (error) {
    if (error instanceof CannotEdit) return alone(words, written)
    throw error
  }
}

/** The text of a template that has nothing else. A name may be a word of YAML, such as null. */
function alone (words: Words, { name, source, partial: { kind } }: Shared): string {
  const [locale = words.code] = Object.keys((outlineOf(source, kind)?.value['texts'] ?? {}) as object)
  const start = `name: ${JSON.stringify(name)}\nservice: file\nlocale: ${JSON.stringify(locale)}\nbrand: true\n`
  return kind === 'layout'
    ? `${start}layout: ${JSON.stringify(name)}\nbody:\n  - paragraph: ${JSON.stringify(words.partialLayoutBody)}\n`
    : `${start}body:\n  - partial: ${JSON.stringify(name)}\n`
}
