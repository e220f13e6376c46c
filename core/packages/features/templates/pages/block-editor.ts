import { type BlockList, CannotEdit, type DataField, editText, newItem, type OutlinedBlock, type TemplateOutline, textOfItem,
  usualFormats } from '@dispatch/documents'
import { type ApiAnswer, type ApiFile, ApiRefused, fill, type Html, html, notice, outlives, page, type PlacedProblem, type Refusal,
  sendPreview, sendToScript, sentences, textOfSaid, withQuery, withSubject } from '@dispatch/plugins/console'
import { isServiceName, madeAs } from '@dispatch/services'
import type { FastifyInstance, FastifyPluginCallback, FastifyReply } from 'fastify'
import type { PartialView } from '../contract/partials.ts'
import type { AssetView } from '../contract/templates.ts'
import { blockIn, dataFieldsOf, formOf, TooManyChanges, wholeDocument, withDataField, withFields, withTyped } from './block-fields.ts'
import { blockForms } from './block-forms.ts'
import { blocksView } from './block-view.ts'
import { editorOf, livePart } from './live.ts'
import { show as showText } from './template-editor.ts'
import { type Visit, visitOf, type Words } from './words.ts'
import { addressOf, bodyLimit, forAdmins, linesIn, newTemplate, outlineIn, preview, readWritten, save, textsOf, type Written,
  writtenIn } from './written.ts'

type Query = { from?: unknown, version?: unknown, open?: unknown }
type Posted = { Params: { id?: string }, Body: URLSearchParams }

/** A template that was stored: where that is said, or with what is warned of. */
type Kept = { at: string } | { written: Written, warnings: readonly PlacedProblem[] }

/** What is edited by its blocks, and what its page says and does. */
export type Edited = {
  /** What a form says. `named`: the part of its address that names it; undefined for a new one. */
  read: (visit: Visit, named: string | undefined, body: URLSearchParams) => Promise<Written> | Written
  /** Its page, below which the previews are. */
  at: (written: Written) => string
  back: (words: Words, written: Written) => Html
  title: (words: Words, written: Written) => string
  intro: (words: Words) => string
  save: (words: Words, written: Written) => string
  /** What its form has besides the source. */
  fields: (visit: Visit, written: Written, problems: readonly PlacedProblem[]) => Promise<Html> | Html
  preview: (visit: Visit, written: Written) => Promise<ApiAnswer<ApiFile>>
  keep: (visit: Visit, written: Written) => Promise<Refusal | { ok: true, kept: Kept }>
  showText: (reply: FastifyReply, visit: Visit, written: Written) => Promise<FastifyReply>
}

const templates: Edited = {
  read: (_visit, id, body) => writtenIn(id, body),
  at: ({ id }) => `${addressOf(id)}/blocks`,
  back: (words, { id }) =>
    html`<a href="${id === undefined ? '/console/templates' : addressOf(id)}">${
      id === undefined ? words.templateBack : words.templateTo
    }</a>`,
  title: (words, { id, name }) => id === undefined ? words.templateNew : fill(words.templateEdit, { name }),
  intro: (words) => words.blocksIntro,
  save: (words, { id }) => id === undefined ? words.templateCreate : words.templateSave,
  fields: (_visit, { name, schema, sample }) =>
    html`<input type="hidden" name="name" value="${name}">${hiddenText('schema', schema)}${hiddenText('sample', sample)}`,
  preview,

  async keep (visit, written) {
    const saved = await save(visit, written)
    if (!saved.ok) return saved
    const { id, version, warnings } = saved.body
    return warnings.length > 0
      ? { ok: true, kept: { written: { ...textsOf(saved.body), id: String(id) }, warnings } }
      : { ok: true, kept: { at: withQuery(`/console/templates/${String(id)}`, { version: String(version), saved: '1' }) } }
  },
  showText
}

function hiddenText (name: string, text: string): Html {
  return html`<textarea name="${name}" hidden>
${text}</textarea>`
}

/** The longest source that is shown as blocks, in characters: a longer one is edited as a text. */
const longestSource = 40_000

/** Writing a template block by block, for those who do not write its text. */
export const blockEditorPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/templates/new/blocks', async (request, reply) => {
    const visit = forAdmins(visitOf(request))
    return show(reply, visit, { of: templates, written: await newTemplate(visit, request.query.from) })
  })

  app.get<{ Params: { id: string }, Querystring: Query }>('/templates/:id/blocks', async (request, reply) => {
    const visit = forAdmins(visitOf(request))
    const { version, open } = request.query
    const written = await readWritten(visit, request.params.id, typeof version === 'string' ? version : '')
    return show(reply, visit, { of: templates, written, ...openedAt(written, open) })
  })
  editedAt(app, templates, ['/templates/new/blocks', '/templates/:id/blocks'])
  done()
}

/** What the forms of block editors are sent to. */
export function editedAt (app: FastifyInstance, of: Edited, paths: readonly string[]): void {
  for (const at of paths) {
    app.post<Posted>(at, { bodyLimit }, async (request, reply) => {
      const visit = forAdmins(visitOf(request))
      return act(visit, { of, written: await of.read(visit, request.params.id, request.body) }, request.body, reply)
    })

    app.post<Posted>(`${at}/preview`, { bodyLimit }, async (request, reply) => {
      const visit = forAdmins(visitOf(request))
      const before = { of, written: await of.read(visit, request.params.id, request.body) }
      const state = attempt(() => typed(before, request.body))
      if (state instanceof CannotEdit) return cannotType(reply, visit, { ...before, body: request.body, why: state })
      const made = await of.preview(visit, state.written)
      return made.ok ? sendPreview(reply, withSubject(made.body, visit.words)) : refused(reply, visit, state, made)
    })

    // For the script, which makes previews while somebody writes.
    app.post<Posted>(`${at}/live`, { bodyLimit }, async (request, reply) => {
      const visit = forAdmins(visitOf(request))
      const written = await of.read(visit, request.params.id, request.body)
      const state = attempt(() => typed({ of, written }, request.body))
      if (state instanceof CannotEdit) {
        const faults = { [partOf(request.body)]: [{ message: reasonOf(visit, state), place: '' }] }
        return sendToScript(reply, 422, { said: visit.words.liveRefused, again: false, faults })
      }
      const made = await of.preview(visit, state.written)
      return made.ok
        ? sendPreview(reply, withSubject(made.body, visit.words))
        : sendToScript(reply, made.status, refusalFor(visit, state.written, made))
    })
  }
}

/**
 * What the page shows. `removed`: the text of a block that was taken away, and where it stood. `unwritten`: a form whose text could not be
 * written, and why.
 */
type State = {
  of: Edited
  written: Written
  open?: string
  adding?: { list: string, index: number }
  focus?: string
  said?: Html
  problems?: readonly PlacedProblem[]
  removed?: { list: string, index: string, text: string }
  unwritten?: { body: URLSearchParams, reason: string }
}

/** What is edited, with what was typed into the open form. */
function typed ({ of, written }: Pick<State, 'of' | 'written'>, body: URLSearchParams): State {
  const open = body.get('open') ?? ''
  if (written.source.length > longestSource) return { of, written, open }
  return { of, written: { ...written, source: withFields(written, body, open) }, open }
}

/** Does what a button of the form says, and shows the form again. */
async function act (
  visit: Visit,
  before: Pick<State, 'of' | 'written'>,
  body: URLSearchParams,
  reply: FastifyReply
): Promise<FastifyReply> {
  const { words } = visit
  const { of, written } = before
  const [verb = '', path = '', more = '', kind = ''] = (body.get('do') ?? '').split(':')
  if (verb === 'untyped') return of.showText(reply, visit, written)
  const state = attempt(() => typed(before, body))
  if (state instanceof CannotEdit) return cannotType(reply, visit, { ...before, body, why: state })
  switch (verb) {
    case 'text':
      return of.showText(reply, visit, state.written)
    case 'save':
      return keep(reply, visit, state)
    case 'check': {
      const made = await of.preview(visit, state.written)
      if (!made.ok) return refused(reply, visit, state, made)
      return show(reply, visit, { ...state, said: notice('good', html`<p>${words.templateRight}</p>`) })
    }
  }
  const known = await knownTo(visit, state.written)
  const next = attempt(() => changed({ visit, state, body, known }, { verb, path, more, kind }))
  return next instanceof CannotEdit
    ? cannot(reply, visit, { state, reason: reasonOf(visit, next), way: 'text' })
    : show(reply, visit, next, known)
}

/** The text says something in several places at once: only there it can be changed. `way`: what the button to the text does. */
function cannot (
  reply: FastifyReply,
  visit: Visit,
  { state, reason, way }: { state: State, reason: string, way: 'text' | 'untyped' }
): Promise<FastifyReply> {
  const button = html`<button class="second" name="do" value="${way}" form="template">${visit.words.editText}</button>`
  const said = notice('bad', html`<p>${reason}</p><p>${button}</p>`)
  return show(reply.code(422), visit, { ...state, said })
}

/** What was typed cannot be written into the text: it stays in the form, until its author takes it back or goes to the text without it. */
function cannotType (
  reply: FastifyReply,
  visit: Visit,
  { of, written, body, why }: Pick<State, 'of' | 'written'> & { body: URLSearchParams, why: CannotEdit }
): Promise<FastifyReply> {
  const reason = `${reasonOf(visit, why)} ${visit.words.blockTyped}`
  const state = { of, written, open: body.get('open') ?? '', unwritten: { body, reason: reasonOf(visit, why) } }
  return cannot(reply, visit, { state, reason, way: 'untyped' })
}

function reasonOf ({ words }: Visit, why: CannotEdit): string {
  return why instanceof TooManyChanges ? fill(words.blockTooMany, { max: why.max }) : words.blockCannot
}

/** The part of the page that is open, as its faults name it. */
function partOf (body: URLSearchParams): string {
  const open = body.get('open') ?? ''
  return open === wholeDocument ? '' : open
}

function attempt<T> (work: () => T): T | CannotEdit {
  try {
    return work()
  } catch (error) {
    if (error instanceof CannotEdit) return error
    throw error
  }
}

type Action = { verb: string, path: string, more: string, kind: string }
type Edit = { visit: Visit, state: State, body: URLSearchParams, known: Known }

function changed ({ visit, state, body, known }: Edit, { verb, path, more, kind }: Action): State {
  const { of, written, open = '' } = state
  const { source } = written
  const index = Number(more)
  const edited = (text: string, next: Omit<State, 'of' | 'written'>): State => ({
    of,
    written: { ...written, source: text },
    open,
    ...next
  })
  const outline = outlineIn(written)
  const fresh = () => ({ list: listIn(outline, written, open), partial: known.partials.find((one) => one.kind === 'partial')?.name ?? '' })
  switch (verb) {
    case 'open':
      return edited(source, { open: path, focus: firstField(outline, path) })
    case 'close':
      return edited(source, { open: '', focus: `open:${open}` })
    case 'add':
      return edited(source, { open: '', adding: { list: path, index } })
    case 'insert': {
      const made = `${path}/${more}`
      const text = editText(source, { do: 'insert', list: path, index, text: newItem(blockForms[kind]?.fresh(visit.words, fresh())) })
      return edited(text, { open: made, focus: firstField(outlineIn({ ...written, source: text }), made) })
    }
    case 'row': {
      const block = outline === undefined ? undefined : blockIn(outline, open)
      const rows = blockForms[block?.kind ?? '']?.rows?.find((one) => open + one.path === path)
      const count = (outline && formOf(outline, open))?.rows.find((one) => one.path === path)?.rows.length ?? 0
      return edited(editText(source, { do: 'insert', list: path, index: count, text: newItem(rows?.fresh(visit.words, fresh())) }), {
        focus: `row:${path}`
      })
    }
    case 'duplicate': {
      const [list, at] = [path.slice(0, path.lastIndexOf('/')), Number(path.slice(path.lastIndexOf('/') + 1)) + 1]
      const text = editText(source, { do: 'insert', list, index: at, text: textOfItem(source, path) })
      return edited(text, { open: `${list}/${String(at)}`, focus: `duplicate:${list}/${String(at)}` })
    }
    case 'move': {
      const by = more === '1' ? 1 : -1
      const moved = `${path.slice(0, path.lastIndexOf('/'))}/${String(Number(path.slice(path.lastIndexOf('/') + 1)) + by)}`
      return edited(editText(source, { do: 'move', path, by }), { open: path === open ? moved : open, focus: `move:${moved}:${more}` })
    }
    case 'remove': {
      const list = path.slice(0, path.lastIndexOf('/'))
      const removed = { list, index: path.slice(list.length + 1), text: textOfItem(source, path) }
      return edited(editText(source, { do: 'remove', path }), { open: path === open ? '' : open, removed, focus: 'restore' })
    }
    case 'restore':
      return edited(withRemoved(source, body), {})
    case 'field': {
      const form = outline && formOf(outline, open)
      const into = body.get('into') ?? ''
      return form === undefined
        ? state
        : edited(withDataField(source, form, { into, field: body.get('field') ?? '' }), { focus: `v:${into}` })
    }
  }
  return state
}

/** The source with what was taken away at its place again. */
function withRemoved (source: string, body: URLSearchParams): string {
  const [list, at, text] = [body.get('removedFrom') ?? '', body.get('removedAt'), linesIn(body, 'removed')]
  return editText(source, { do: 'insert', list, index: Number(at), text })
}

/** A list of the data that a new table or loop begins with. */
function listIn (outline: TemplateOutline | undefined, written: Written, open: string): string {
  const fields: DataField[] = outline === undefined ? [] : dataFieldsOf(written, outline, open)
  return fields.find(({ type }) => type === 'list')?.path ?? 'lines'
}

function firstField (outline: TemplateOutline | undefined, open: string): string {
  const form = outline && formOf(outline, open)
  const first = form?.texts[0]?.fields[0] ?? form?.fields[0]
  return first === undefined ? 'close' : `v:${first.path}`
}

async function keep (reply: FastifyReply, visit: Visit, state: State): Promise<FastifyReply> {
  const saved = await state.of.keep(visit, state.written)
  if (!saved.ok) return refused(reply, visit, state, saved)
  const { kept } = saved
  if ('at' in kept) return reply.redirect(kept.at, 303)
  const said = notice('warn', html`<p>${visit.words.templateWarnings}</p>`)
  return show(reply, visit, { ...state, written: kept.written, said, problems: kept.warnings })
}

/** The form again, with what is wrong at the blocks. */
function refused (reply: FastifyReply, visit: Visit, state: State, refusal: Refusal): Promise<FastifyReply> {
  const { status, error } = refusal
  if (status === 401 || status === 403) throw new ApiRefused(refusal)
  const { details: problems = [] } = error
  const said = notice('bad', html`<p>${visit.words.templateRefused}</p>${problems.length === 0 ? sentences(visit.words, error) : html``}`)
  return show(reply.code(status), visit, { ...state, said, problems })
}

/** What is wrong, by the blocks. */
function byBlock (outline: TemplateOutline | undefined, problems: readonly PlacedProblem[]): Map<string, PlacedProblem[]> {
  return Map.groupBy(problems,
    ({ path, line, column = 1 }) => path === '/source' && line !== undefined ? outline?.blockAt(line, column) ?? '' : '')
}

/** The innermost block at a place of a template; undefined where no block is there. */
function blockAt (outline: TemplateOutline | undefined, place: string): string | undefined {
  const within = (lists: readonly BlockList[]): OutlinedBlock | undefined => {
    const found = lists.flatMap(({ blocks }) => blocks).find(({ path }) => path === place || place.startsWith(`${path}/`))
    return found && (within(found.lists) ?? found)
  }
  return within(outline?.lists ?? [])?.path
}

/** The block that a link to the page opens. `place`: in what is edited; one that is there no more opens nothing. */
export function openedAt (written: Written, place: unknown): Pick<State, 'open' | 'focus'> {
  const open = typeof place === 'string' ? blockAt(outlineIn(written), place) : undefined
  return open === undefined ? {} : { open, focus: 'close' }
}

/** What a refusal says to the script: of each block its faults, and a sentence. */
function refusalFor ({ words }: Visit, written: Written, { status, error }: Refusal): object {
  const { details = [] } = error
  const again = status === 429 || status === 503
  const places: Readonly<Record<string, string>> = { '/source': '', '/name': words.name }
  const faults = [...byBlock(outlineIn(written), details)].map(([path, problems]) =>
    [path, problems.map((problem) => ({ message: textOfSaid(words, problem), place: places[problem.path] ?? problem.path }))] as const
  )
  return {
    said: again ? words.liveBusy : details.length > 0 ? words.liveRefused : textOfSaid(words, error),
    again,
    faults: Object.fromEntries(faults)
  }
}

type Known = { pictures: string[], partials: PartialView[] }

/** The pictures, partials and layouts that forms offer. */
async function knownTo ({ api }: Visit, written: Written): Promise<Known> {
  const [assets, partials] = await Promise.all([
    api.read<{ data: AssetView[] }>('/api/v1/assets?limit=100'),
    api.read<{ data: PartialView[] }>('/api/v1/partials?limit=100')
  ])
  const named = outlineIn(written)?.value['assets']
  const own = typeof named === 'object' && named !== null ? Object.keys(named) : []
  return {
    pictures: [...new Set([...own, ...assets.data.map(({ name }) => name)])],
    // None includes itself.
    partials: partials.data.filter(({ name }) => written.partial === undefined || name !== written.name)
  }
}

export async function show (reply: FastifyReply, visit: Visit, state: State, known?: Known): Promise<FastifyReply> {
  const { words } = visit
  const { of, written, said = html``, removed, problems = [] } = state
  const { base, source } = written
  const editor = await editorOf(reply, 'blocks')
  const at = of.at(written)
  const content = source.length > longestSource ? undefined : await contentOf(visit, state, known)
  const fields = await of.fields(visit, written, problems)
  const undo = removed === undefined
    ? html``
    : html`<div class="notice good" role="status"><p>${words.blockRemoved}</p><input type="hidden" name="removedFrom" value="${removed.list}">
<input type="hidden" name="removedAt" value="${removed.index}"><textarea name="removed" hidden>
${removed.text}</textarea><button class="second" name="do" value="restore" autofocus>${words.blockRestore}</button></div>`
  const main = html`<p>${
    of.back(words, written)
  }</p>${said}<section class="wide" aria-labelledby="blocks"><h2 id="blocks">${words.blocks}</h2><p>${of.intro(words)}</p>
<form id="template" method="post" action="${at}"${editor === undefined ? html`` : html` data-editor="${editor}" data-live="${at}/live"`}>
<button name="do" value="apply" hidden>${words.blockApply}</button>${outlives(visit, at)}<input type="hidden" name="base" value="${base}">
<div class="workbench"><div>${fields}<div class="changing">${hiddenText('source', source)}${undo}${
    content ?? html`<p>${words.blocksNone}</p>`
  }</div><div class="actions"><button name="do" value="save">${of.save(words, written)}</button>
<button class="second" name="do" value="check">${words.templateCheck}</button>
<button class="second" name="do" value="text">${words.editText}</button></div></div>${livePart(words, written, at)}</div>
</form></section>`
  return reply.page(page({ ...visit, path: at }, { title: of.title(words, written), section: 'templates', main }), 'framing')
}

/** The blocks; undefined where the text is none of a template. */
async function contentOf (
  visit: Visit,
  { written, open = '', adding, focus = '', problems = [], unwritten }: State,
  known?: Known
): Promise<Html | undefined> {
  const outline = outlineIn(written)
  if (outline === undefined) return undefined
  const { pictures, partials } = known ?? await knownTo(visit, written)
  const service = outline.value['service']
  const form = open === '' ? undefined : formOf(outline, open)
  const faults = byBlock(outline, problems)
  if (unwritten !== undefined) faults.set(partOf(unwritten.body), [{ path: '/source', message: unwritten.reason }])
  return blocksView({
    words: visit.words,
    outline,
    open,
    form: form === undefined || unwritten === undefined ? form : withTyped(form, unwritten.body),
    adding,
    made: typeof service === 'string' && isServiceName(service) ? madeAs(service, {}) : usualFormats.document,
    faults,
    data: open === '' ? [] : dataFieldsOf(written, outline, open),
    pictures,
    partials,
    focus
  })
}
