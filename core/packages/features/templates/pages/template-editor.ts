import { type ApiAnswer, type ApiFile, ApiRefused, choiceField, editorScript, faultsOf, fill, type Html, html, longTextField, manyField,
  notice, objectIn, otherServices, page, type PlacedProblem, placeOf, pretty, problemsOf, type Refusal, sendPreview, sendToScript,
  sentences, textOfSaid, withQuery, withSubject, wordFor } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { previewFormats, savedFormats, shownFormats, type TemplateAnswer, type TemplateDetail } from '../contract/templates.ts'
import { listedIn, withListed } from './also-for.ts'
import { type Visit, visitOf, type Words } from './words.ts'

type Query = { from?: unknown, version?: unknown }
type Posted = { Params: { id?: string }, Body: URLSearchParams }

/** The largest form, in bytes: three texts of 200,000 characters, of which many are escaped. */
const bodyLimit = 2 * 1024 * 1024

/** Writing a template: a new one, a copy of a shared one, or the next version of the company's own. */
export const templateEditorPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/templates/new', async (request, reply) => {
    const visit = forAdmins(visitOf(request))
    const { from } = request.query
    const written = typeof from === 'string' ? await readWritten(visit, from, '') : beginning
    // A copy gets a number of its own.
    return show(reply, visit, { ...written, source: written.source.replace(/^id:.*\n/m, ''), id: undefined, base: '' })
  })

  app.get<{ Params: { id: string }, Querystring: Query }>('/templates/:id/edit', async (request, reply) => {
    const visit = forAdmins(visitOf(request))
    const { version } = request.query
    return show(reply, visit, await readWritten(visit, request.params.id, typeof version === 'string' ? version : ''))
  })

  for (const at of ['/templates/new', '/templates/:id/edit']) {
    app.post<Posted>(at, { bodyLimit }, async (request, reply) => {
      const visit = forAdmins(visitOf(request))
      return save(visit, writtenIn(request.params.id, request.body), reply)
    })

    app.post<Posted>(`${at}/check`, { bodyLimit }, async (request, reply) => {
      const visit = forAdmins(visitOf(request))
      const written = writtenIn(request.params.id, request.body)
      const made = await preview(visit, written)
      if (!made.ok) return refused(reply, visit, written, made)
      return show(reply, visit, written, { said: notice('good', html`<p>${visit.words.templateRight}</p>`) })
    })

    app.post<Posted>(`${at}/preview`, { bodyLimit }, async (request, reply) => {
      const visit = forAdmins(visitOf(request))
      const written = writtenIn(request.params.id, request.body)
      const made = await preview(visit, written)
      return made.ok ? sendPreview(reply, withSubject(made.body, visit.words)) : refused(reply, visit, written, made)
    })

    // For the script, which makes previews while somebody writes.
    app.post<Posted>(`${at}/live`, { bodyLimit }, async (request, reply) => {
      const visit = forAdmins(visitOf(request))
      const written = writtenIn(request.params.id, request.body)
      const made = await preview(visit, written)
      return made.ok
        ? sendPreview(reply, withSubject(made.body, visit.words))
        : sendToScript(reply, made.status, refusalFor(visit.words, written, made))
    })
  }
  done()
}

/** The texts of a template as they stand in the form. Without an id the template is a new one. */
type Written = { id?: string | undefined, name: string, base: string, source: string, schema: string, sample: string, format: string }

const beginning: Written = {
  name: '',
  base: '',
  source: 'name: Letter\n# file, postal, esign, invoicing, email or sms.\nservice: file\n' +
    'locale: en\nbody:\n  - heading: Letter\n  - paragraph: Dear {{ name }}\n',
  schema: pretty({ type: 'object', additionalProperties: false, required: ['name'], properties: { name: { type: 'string' } } }),
  sample: pretty({ name: 'Ada' }),
  format: ''
}

const syntaxes = { source: 'yaml', schema: 'json', sample: 'json' } as const

function forAdmins (visit: Visit): Visit {
  if (visit.actor.role === 'admin') return visit
  const error = { error: 'forbidden', message: 'Only an admin of the company can do this.', requestId: '' } as const
  throw new ApiRefused({ ok: false, status: 403, error })
}

async function readWritten ({ api }: Visit, id: string, version: string): Promise<Written> {
  const template = await api.read<TemplateDetail>(withQuery(`/api/v1/templates/${encodeURIComponent(id)}`, { version }))
  return { ...textsOf(template), id: String(template.id) }
}

function textsOf ({ name, latestVersion, source, schema, sample }: TemplateDetail): Written {
  return { name, base: String(latestVersion), source, schema: pretty(schema), sample: pretty(sample), format: '' }
}

/** Where the choice of services was changed, the source follows it; otherwise the source says which they are. */
function sourceIn (body: URLSearchParams): string {
  const [source, chosen] = [linesIn(body, 'source'), body.getAll('alsoFor')]
  return chosen.join(' ') === linesIn(body, 'listed') ? source : withListed(source, chosen)
}

function linesIn (body: URLSearchParams, name: string): string {
  return (body.get(name) ?? '').replaceAll('\r\n', '\n')
}

function writtenIn (id: string | undefined, body: URLSearchParams): Written {
  const textOf = (name: string): string => linesIn(body, name)
  return {
    id,
    name: textOf('name'),
    base: textOf('base'),
    source: sourceIn(body),
    schema: textOf('schema'),
    sample: textOf('sample'),
    format: textOf('format')
  }
}

/** What the API is sent. What is no JSON object goes as it was written, so that the API says so. */
function bodyOf ({ source, schema, sample }: Written): object {
  return { source, schema: objectIn(schema) ?? schema, sample: objectIn(sample) ?? sample }
}

function preview ({ api }: Visit, written: Written): Promise<ApiAnswer<ApiFile>> {
  const { format } = written
  return api.file('/api/v1/templates/preview', { ...bodyOf(written), ...format === '' ? {} : { format } })
}

async function save (visit: Visit, written: Written, reply: FastifyReply): Promise<FastifyReply> {
  const saved = written.id === undefined
    ? await visit.api.send<TemplateAnswer>('POST', '/api/v1/templates', bodyOf(written))
    : await visit.api.send<TemplateAnswer>('PUT', `/api/v1/templates/${encodeURIComponent(written.id)}`, {
      ...bodyOf(written),
      baseVersion: /^\d{1,9}$/.test(written.base) ? Number(written.base) : written.base
    })
  if (!saved.ok) return refused(reply, visit, written, saved)
  const { id, version, warnings } = saved.body
  if (warnings.length === 0) {
    return reply.redirect(withQuery(`/console/templates/${String(id)}`, { version: String(version), saved: '1' }), 303)
  }
  const said = notice('warn', html`<p>${visit.words.templateWarnings}</p>`)
  return show(reply, visit, { ...textsOf(saved.body), id: String(id) }, { said, problems: warnings })
}

/** The form again, with everything that was written in it. */
function refused (reply: FastifyReply, visit: Visit, written: Written, refusal: Refusal): Promise<FastifyReply> {
  const { status, error } = refusal
  if (status === 401 || status === 403) throw new ApiRefused(refusal)
  const { details: problems = [], message, error: word } = error
  const beside = Object.keys(syntaxes).flatMap((name) => problemsOf(problems, name))
  const elsewhere = problems.filter((problem) => !beside.includes(problem))
  const told = beside.length === 0 || elsewhere.length > 0 ? sentences(visit.words, { error: word, message, details: elsewhere }) : html``
  const said = notice('bad', html`<p>${visit.words.templateRefused}</p>${told}`)
  return show(reply.code(status), visit, written, { said, problems })
}

/** What a refusal says to the script: of each text its faults, and a sentence. */
function refusalFor (words: Words, written: Written, { status, error }: Refusal): object {
  const { details = [] } = error
  const again = status === 429 || status === 503
  const faults = Object.entries(syntaxes).map(([name, syntax]) =>
    [
      name,
      faultsOf({ name, value: written[name as keyof typeof syntaxes], syntax, problems: details }).map((problem) => ({
        message: textOfSaid(words, problem),
        place: placeOf(words, problem),
        line: problem.line,
        column: problem.column
      }))
    ] as const
  )
  const isBeside = faults.some(([, found]) => found.length > 0)
  const said = again ? words.liveBusy : isBeside ? words.liveRefused : [error, ...details].map((one) => textOfSaid(words, one)).join(' ')
  return { said, again, faults: Object.fromEntries(faults) }
}

type Shown = { said?: Html, problems?: readonly PlacedProblem[] }

async function show (reply: FastifyReply, visit: Visit, written: Written, shown: Shown = {}): Promise<FastifyReply> {
  return reply.page(view(visit, written, { ...shown, editor: await editorOf(reply) }), 'framing')
}

/** The address of the editor's script. Without one the text areas stay as they are. */
async function editorOf ({ log }: FastifyReply): Promise<string | undefined> {
  try {
    return (await editorScript()).path
  } catch (error) {
    log.error({ err: error }, 'the editor of the console cannot be built')
    return undefined
  }
}

function view (visit: Visit, written: Written, { said = html``, problems = [], editor }: Shown & { editor: string | undefined }): Html {
  const { words } = visit
  const { id, name, base } = written
  const template = `/console/templates/${encodeURIComponent(id ?? 'new')}`
  const at = id === undefined ? template : `${template}/edit`
  const main = html`<p><a href="${id === undefined ? '/console/templates' : template}">${
    id === undefined ? words.templateBack : words.templateTo
  }</a></p>${said}<section class="wide" aria-labelledby="texts"><h2 id="texts">${words.templateParts}</h2><p>${words.templateEditIntro}</p>
${editor === undefined ? html`` : html`<p class="quiet" id="keys" hidden>${words.templateKeys}</p>`}
<form method="post" action="${at}"${
    editor === undefined ? html`` : html` data-editor="${editor}" data-live="${at}/live"`
  }><input type="hidden" name="base" value="${base}"><input type="hidden" name="name" value="${name}">
<div class="workbench"><div>${fields(words, written, problems)}<div class="actions"><button>${
    id === undefined ? words.templateCreate : words.templateSave
  }</button>
<button class="second" formaction="${at}/check">${words.templateCheck}</button></div></div>${previewPart(words, written, at)}</div>
</form></section>`
  const title = id === undefined ? words.templateNew : fill(words.templateEdit, { name })
  return page({ ...visit, path: at }, { title, section: 'templates', main })
}

function previewPart (words: Words, { name, format }: Written, at: string): Html {
  const title = fill(words.previewOf, { name: name === '' ? words.templateNew : name })
  return html`<div class="live" data-title="${title}" data-saved="${savedFormats.join(' ')}" data-shown="${shownFormats.join(' ')}"><hr>${
    choiceField({
      name: 'format',
      label: words.previewFormat,
      value: format,
      none: words.previewUsual,
      options: previewFormats.map((value) => ({ value, label: value }))
    })
  }<div class="actions"><button class="second" formaction="${at}/preview" formtarget="_blank">${words.previewOpen}</button></div>
<p class="help" role="status" data-working="${words.liveWorking}" data-ready="${words.liveReady}" data-lost="${words.liveLost}"></p></div>`
}

function fields (words: Words, { source, schema, sample }: Written, problems: readonly PlacedProblem[]): Html {
  const listed = listedIn(source)
  return html`<input type="hidden" name="listed" value="${listed.join(' ')}">${
    manyField({
      name: 'alsoFor',
      label: words.templateAlsoFor,
      help: words.templateAlsoForHelp,
      options: otherServices.map((value) => ({ value, label: wordFor(words, 'service', value) })),
      values: listed
    })
  }${
    longTextField(words, {
      name: 'source',
      label: words.templateSource,
      help: words.templateSourceHelp,
      value: source,
      syntax: syntaxes.source,
      problems
    })
  }${
    longTextField(words, {
      name: 'schema',
      label: words.templateSchema,
      help: words.templateSchemaHelp,
      value: schema,
      syntax: syntaxes.schema,
      problems
    })
  }${
    longTextField(words, {
      name: 'sample',
      label: words.templateSample,
      help: words.templateSampleHelp,
      value: sample,
      syntax: syntaxes.sample,
      problems
    })
  }`
}
