import { ApiRefused, faultsOf, fill, type Html, html, linesOfSaid, longTextField, manyField, notice, otherServices, outlives, page,
  type PlacedProblem, placeOf, problemsOf, type Refusal, sendPreview, sendToScript, sentences, textOfSaid, withQuery, withSubject,
  wordFor } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { listedIn } from './also-for.ts'
import { editorOf, livePart } from './live.ts'
import { type Visit, visitOf, type Words } from './words.ts'
import { addressOf, bodyLimit, forAdmins, newTemplate, preview, readWritten, save, textsOf, type Written, writtenIn } from './written.ts'

type Query = { from?: unknown, version?: unknown }
type Posted = { Params: { id?: string }, Body: URLSearchParams }

/** Writing a template: a new one, a copy of a shared one, or the next version of the company's own. */
export const templateEditorPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/templates/new', async (request, reply) => {
    const visit = forAdmins(visitOf(request))
    return show(reply, visit, await newTemplate(visit, request.query.from))
  })

  app.get<{ Params: { id: string }, Querystring: Query }>('/templates/:id/edit', async (request, reply) => {
    const visit = forAdmins(visitOf(request))
    const { version } = request.query
    return show(reply, visit, await readWritten(visit, request.params.id, typeof version === 'string' ? version : ''))
  })

  for (const at of ['/templates/new', '/templates/:id/edit']) {
    app.post<Posted>(at, { bodyLimit }, async (request, reply) => {
      const visit = forAdmins(visitOf(request))
      return keep(visit, writtenIn(request.params.id, request.body), reply)
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

const syntaxes = { source: 'yaml', schema: 'json', sample: 'json' } as const

async function keep (visit: Visit, written: Written, reply: FastifyReply): Promise<FastifyReply> {
  const saved = await save(visit, written)
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
  const { details: problems = [], message, reason, error: word } = error
  const beside = Object.keys(syntaxes).flatMap((name) => problemsOf(problems, name))
  const elsewhere = problems.filter((problem) => !beside.includes(problem))
  const reported = beside.length === 0 || elsewhere.length > 0
    ? sentences(visit.words, { error: word, reason, message, details: elsewhere })
    : html``
  const said = notice('bad', html`<p>${visit.words.templateRefused}</p>${reported}`)
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
  const said = again ? words.liveBusy : isBeside ? words.liveRefused : linesOfSaid(words, { ...error, details }).join(' ')
  return { said, again, faults: Object.fromEntries(faults) }
}

type Shown = { said?: Html, problems?: readonly PlacedProblem[] }

export async function show (reply: FastifyReply, visit: Visit, written: Written, shown: Shown = {}): Promise<FastifyReply> {
  return reply.page(view(visit, written, { ...shown, editor: await editorOf(reply, 'text') }), 'framing')
}

function view (visit: Visit, written: Written, { said = html``, problems = [], editor }: Shown & { editor: string | undefined }): Html {
  const { words } = visit
  const { id, name, base } = written
  const template = addressOf(id)
  const at = id === undefined ? template : `${template}/edit`
  const main = html`<p><a href="${id === undefined ? '/console/templates' : template}">${
    id === undefined ? words.templateBack : words.templateTo
  }</a></p>${said}<section class="wide" aria-labelledby="texts"><h2 id="texts">${words.templateParts}</h2><p>${words.templateEditIntro}</p>
${editor === undefined ? html`` : html`<p class="quiet" id="keys" hidden>${words.templateKeys}</p>`}
<form method="post" action="${at}"${editor === undefined ? html`` : html` data-editor="${editor}" data-live="${at}/live"`}>${
    outlives(visit, `${at}/check`)
  }<input type="hidden" name="base" value="${base}"><input type="hidden" name="name" value="${name}">
<div class="workbench"><div>${fields(words, written, problems)}<div class="actions"><button>${
    id === undefined ? words.templateCreate : words.templateSave
  }</button>
<button class="second" formaction="${at}/check">${words.templateCheck}</button>
<button class="second" formaction="${template}/blocks">${words.editBlocks}</button></div></div>${livePart(words, written, at)}</div>
</form></section>`
  const title = id === undefined ? words.templateNew : fill(words.templateEdit, { name })
  return page({ ...visit, path: at }, { title, section: 'templates', main })
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
