import { isRecord, type JsonObject } from '@dispatch/common'
import { ApiRefused, boundaryOf, choiceField, fill, type Html, html, type LongList, longList, notice, numberOf, page, pretty, readForm,
  type Refusal, sampleOf, sentences, serviceNames, table, templateName, time, withQuery } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { type BatchView, cellTypes, type Mapping } from '../contract/batches.ts'
import { headOf } from '../contract/csv.ts'
import { servicePaths } from '../contract/paths.ts'
import { placeOf, placesIn } from './places.ts'
import { stateWord, statusWord, typeWord, type Visit, visitOf, type Words } from './words.ts'

/** The largest file of the console, in bytes: between two pages the form holds it, as base64. */
const largestFile = 8 * 1024 * 1024
/** The largest text of a form, and a form: the file, and a place and a type for each of 1,000 columns. */
const [largestField, bodyLimit] = [1024 * 1024, 16 * 1024 * 1024]
const maxParts = 2_100
const shownRows = 3
const tooLarge = 'A file has 8 MiB at most here; the API takes 256 MiB.'

/** The form of a new batch. `file`: base64. */
type Draft = { service: string, template: string, name: string, file: string, common: string, key: string }

/** Where the cells of columns stand, in the order of the columns. */
type Chosen = readonly { pointer: string, type: string }[]

type TemplateSummary = { id: number, name: string, service: string, sample?: JsonObject }

/** Sending many dispatches: a file is chosen, its columns get their places, and all rows are checked. */
export const newBatchPages: FastifyPluginCallback = (app, _options, done) => {
  app.addContentTypeParser('multipart/form-data', takeForm)

  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/batches', async (request, reply) => {
    const { cursor } = request.query
    return reply.page(await listView(visitOf(request), typeof cursor === 'string' ? cursor : ''))
  })

  app.post<{ Body: URLSearchParams }>('/batches/new', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const draft = draftIn(request.body)
    if (draft.file === '') {
      return reply.code(422).page(await listView(visit, '', notice('bad', html`<p>${visit.words.batchFileHelp}</p>`)))
    }
    const common = draft.template === '' ? '' : pretty({ template: { id: Number(draft.template) } })
    return reply.page(await columnsView(visit, { ...draft, common }))
  })

  app.post<{ Body: URLSearchParams }>('/batches', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const { body } = request
    const draft = draftIn(body)
    const types = body.getAll('type')
    const chosen = body.getAll('place').map((pointer, at) => ({ pointer: pointer.trim(), type: types[at] ?? 'text' }))
    const taken = await take(visit, draft, chosen)
    if (taken.ok) return reply.redirect(`/console/batches/${taken.body.batchId}`, 303)
    return refused(visit, reply, { draft, chosen, refusal: taken })
  })
  done()
}

/** Makes of a form with a file what other forms are: the file becomes base64. */
async function takeForm (request: FastifyRequest, form: Readable): Promise<URLSearchParams> {
  const boundary = boundaryOf(request.headers['content-type']) ?? ''
  const fields = new URLSearchParams()
  for await (const { name, filename, bytes, text } of readForm(form, { boundary, max: maxParts, tooLarge })) {
    if (name === 'file' && filename !== undefined) {
      fields.append('name', filename)
      fields.append('file', Buffer.concat(await Array.fromAsync(bytes(largestFile))).toString('base64'))
    } else fields.append(name, await text(name === 'file' ? bodyLimit : largestField))
  }
  return fields
}

function draftIn (body: URLSearchParams): Draft {
  const textOf = (name: string): string => body.get(name) ?? ''
  const key = textOf('key')
  return {
    service: textOf('service'),
    template: /^\d{1,9}$/.test(textOf('template')) ? textOf('template') : '',
    name: textOf('name'),
    file: textOf('file'),
    common: textOf('common'),
    key: key === '' ? randomUUID() : key
  }
}

const isCsv = ({ name }: Pick<Draft, 'name'>): boolean => !/\.(nd)?jsonl?$/i.test(name)

/** Asks the API to check all rows, and to wait then. */
function take ({ api, mode }: Visit, draft: Draft, chosen: Chosen) {
  const bytes = Buffer.from(draft.file, 'base64')
  const form = new FormData()
  if (draft.common.trim() !== '') form.append('common', draft.common)
  if (isCsv(draft)) form.append('mapping', JSON.stringify(mappingOf(bytes, chosen)))
  form.append('file', new Blob([bytes]), isCsv(draft) ? 'rows.csv' : 'rows.ndjson')
  const { service, key } = draft
  const path = withQuery('/api/v1/batches', { service, mode: 'valid', hold: 'true', sandbox: String(mode === 'test') })
  return api.upload<BatchView>(path, form, key)
}

function mappingOf (bytes: Buffer, chosen: Chosen): Mapping {
  const [names = []] = headOf(bytes, shownRows)
  return Object.fromEntries(names.flatMap((name, at) => {
    const { pointer = '', type = 'text' } = chosen[at] ?? {}
    return pointer === '' ? [] : [[name.trim(), { pointer, type: cellTypes.find((known) => known === type) ?? 'text' }]]
  }))
}

async function refused (
  visit: Visit,
  reply: FastifyReply,
  { draft, chosen, refusal }: { draft: Draft, chosen: Chosen, refusal: Refusal }
): Promise<FastifyReply> {
  const { status, error } = refusal
  if (status === 401 || status === 403) throw new ApiRefused(refusal)
  const said = notice('bad', html`<p>${visit.words.batchRefused}</p>${sentences(visit.words, error)}`)
  // A key goes with one request; what is changed is another one.
  return reply.code(status).page(await columnsView(visit, { ...draft, key: randomUUID() }, { chosen, said }))
}

async function listView (visit: Visit, cursor: string, said: Html = html``): Promise<Html> {
  const { api, words } = visit
  const [{ data, nextCursor }, templates] = await Promise.all([
    api.read<{ data: BatchView[], nextCursor: string | null }>(
      withQuery('/api/v1/batches', { cursor, test: String(visit.mode === 'test') })
    ),
    api.read<{ data: TemplateSummary[] }>('/api/v1/templates?limit=100')
  ])
  const more = nextCursor === null
    ? html``
    : html`<p><a href="${withQuery('/console/batches', { cursor: nextCursor })}">${words.more}</a></p>`
  const main = html`${said}<p>${words.batchesIntro}</p>
<section aria-labelledby="list"><h2 id="list">${words.batches}</h2>${
    data.length === 0
      ? html`<p>${words.batchesNone}</p><p><a href="/docs/batches" hreflang="en">${words.batchesHow}</a></p>`
      : longList({ ...visit, path: withQuery('/console/batches', { cursor }) }, batchList, {
        label: words.batches,
        rows: data,
        known: { words }
      })
  }${more}</section>${beginning(words, templates.data)}`
  return page({ ...visit, path: '/console/batches' }, { title: words.batches, section: 'batches', main })
}

const batchList: LongList<BatchView, { words: Words }> = {
  name: 'batches',
  first: {
    title: ({ batchStarted }) => batchStarted,
    cell: ({ batchId, createdAt }) => html`<a href="/console/batches/${batchId}">${time(createdAt)}</a>`
  },
  columns: {
    service: {
      title: ({ batchService }) => batchService,
      cell: ({ service }, { words }) => serviceNames(words, service.split('/'), ' → ')
    },
    status: { title: ({ status }) => status, cell: ({ status }, { words }) => statusWord(words, status) },
    rows: { title: ({ batchRows }) => batchRows, cell: ({ counts: { total } }, { words }) => numberOf(words, total), isNumber: true },
    done: {
      title: ({ batchDone }) => batchDone,
      cell: ({ counts: { total, unchecked, waiting, running } }, { words }) => numberOf(words, total - unchecked - waiting - running),
      isNumber: true
    },
    failed: {
      title: (words) => stateWord(words, 'failed'),
      cell: ({ counts: { failed, partial } }, { words }) => numberOf(words, failed + partial),
      isNumber: true
    },
    credits: {
      title: ({ batchCredits }) => batchCredits,
      cell: ({ credits }, { words }) => credits === null ? '' : numberOf(words, credits),
      isNumber: true
    },
    finished: { title: ({ finished }) => finished, cell: ({ finishedAt }) => finishedAt === null ? '' : time(finishedAt) },
    id: { title: ({ batchNumber }) => batchNumber, cell: ({ batchId }) => html`<code>${batchId}</code>` }
  },
  usual: ['service', 'status', 'rows', 'done']
}

/** What a row may be sent by: a service, or a document that is made and sent. */
function servicesOf (words: Words): { value: string, label: string }[] {
  return servicePaths.map((path) => ({ value: path.join('/'), label: serviceNames(words, path, ' → ') }))
}

function beginning (words: Words, templates: readonly TemplateSummary[]): Html {
  return html`<section aria-labelledby="new"><h2 id="new">${words.batchNew}</h2>
<form method="post" action="/console/batches/new" enctype="multipart/form-data">${
    choiceField({ name: 'service', label: words.batchService, options: servicesOf(words) })
  }${
    choiceField({
      name: 'template',
      label: words.batchTemplate,
      none: words.batchTemplateNone,
      options: templates.map(({ id, name, service }) => ({
        value: String(id),
        label: `${templateName(words, { id, name })} (${serviceNames(words, [service])})`
      }))
    })
  }<div class="field"><label for="f-file">${words.batchFile}</label><p class="help" id="f-file-help">${words.batchFileHelp}</p>
<input id="f-file" name="file" type="file" accept=".csv,.ndjson,.jsonl,text/csv" required aria-describedby="f-file-help"></div>
<div class="actions"><button>${words.batchRead}</button></div></form></section>`
}

/** Examples of what stands in the body of a row: that of each service, with the sample of the template. */
async function exampleOf ({ api }: Visit, { service, template }: Draft): Promise<JsonObject> {
  const bodies = service.split('/').map((name) => sampleOf(name))
  const { template: _shared, ...own } = Object.assign({}, ...bodies) as JsonObject
  const found = template === '' ? undefined : await api.send<TemplateSummary>('GET', `/api/v1/templates/${template}`)
  const data = found?.ok === true && isRecord(found.body.sample) ? { template: { data: found.body.sample } } : {}
  return { ...own, ...data, metadata: { reference: '' } }
}

type Shown = { chosen?: Chosen, said?: Html }

async function columnsView (visit: Visit, draft: Draft, { chosen, said = html`` }: Shown = {}): Promise<Html> {
  const { words } = visit
  const bytes = Buffer.from(draft.file, 'base64')
  const [names = [], ...rows] = isCsv(draft) ? headOf(bytes, shownRows) : []
  const places = placesIn(await exampleOf(visit, draft))
  const kept = ['service', 'template', 'name', 'file', 'key'] as const
  const main = html`<p><a href="/console/batches">${words.batchAgain}</a></p>${said}<section class="wide" aria-labelledby="columns">
<h2 id="columns">${words.batchColumns}</h2><p>${fill(words.batchFileKept, { name: draft.name })}</p>
<form method="post" action="/console/batches" enctype="multipart/form-data">${
    kept.map((name) => html`<input type="hidden" name="${name}" value="${draft[name]}">`)
  }${names.length === 0 ? html`` : columnTable(words, { names, rows, places, chosen })}${
    rows.length === 0 ? html`` : firstRows(words, names, rows)
  }${
    commonField(words, draft)
  }<p>${words.batchCheckNext}</p><div class="actions"><button>${words.batchCheck}</button></div></form></section>`
  return page({ ...visit, path: '/console/batches' }, { title: words.batchNew, section: 'batches', main })
}

type Columns = {
  names: readonly string[]
  rows: readonly (readonly string[])[]
  places: ReturnType<typeof placesIn>
  chosen: Chosen | undefined
}

function columnTable (words: Words, { names, rows: [first = []], places, chosen }: Columns): Html {
  const rows = names.map((name, at) => {
    const { pointer, type } = chosen?.[at] ?? placeOf(name.trim(), places)
    const options = cellTypes.map((one) =>
      html`<option value="${one}"${one === type ? html` selected` : html``}>${typeWord(words, one)}</option>`
    )
    return html`<tr><th scope="row">${name}</th><td>${(first[at] ?? '').slice(0, 60)}</td><td><input name="place" value="${pointer}"
 list="places" autocomplete="off" aria-label="${fill(words.batchPlaceOf, { name })}"></td><td><select name="type" aria-label="${
      fill(words.batchTypeOf, { name })
    }">${options}</select></td></tr>
`
  })
  return html`<p>${words.batchColumnsIntro}</p>${
    table(words.batchColumns, [words.batchColumn, words.batchFirst, words.batchPlace, words.batchType], rows)
  }<datalist id="places">${places.map(({ pointer }) => html`<option value="${pointer}"></option>`)}</datalist>`
}

function firstRows (words: Words, names: readonly string[], rows: readonly (readonly string[])[]): Html {
  return html`<h3>${words.batchFirstRows}</h3>${
    table(words.batchFirstRows, names, rows.map((cells) =>
      html`<tr>${
        names.map((_, at) => html`<td>${(cells[at] ?? '').slice(0, 200)}</td>`)
      }</tr>
`
    ))
  }`
}

function commonField (words: Words, { common }: Draft): Html {
  return html`<div class="field"><label for="f-common">${words.batchCommon}</label><p class="help" id="f-common-help">${words.batchCommonHelp}</p><textarea id="f-common" name="common" spellcheck="false" aria-describedby="f-common-help">
${common}</textarea></div>`
}
