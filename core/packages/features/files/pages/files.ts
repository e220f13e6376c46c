import { isUuid } from '@dispatch/common'
import { ApiRefused, type Confirmation, type ConfirmRequest, copied, fill, type Html, html, type LongList, longList, notice, page, picks,
  picksForm, sentences, time, visitWith, withMany, withQuery, withWords } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { type FileView, largestFile } from '../contract/files.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

const wordsOf = withWords({ en, fr })
const visitOf = visitWith(wordsOf)
type Visit = ReturnType<typeof visitOf>
type Words = Visit['words']

const apiPath = '/api/v1/files'
const at = '/console/files'

/** Files for what is sent: they are uploaded, listed and removed. */
export const filesPages: FastifyPluginCallback = (app, _options, done) => {
  app.addContentTypeParser('multipart/form-data', (_request, _form, parsed) => {
    parsed(null)
  })

  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/files', async (request, reply) => {
    const visit = visitOf(request)
    const { cursor, added } = request.query
    const draft = draftIn(request.query)
    const reported = typeof added === 'string'
      ? notice('good', html`<p>${fill(visit.words.fileUploaded, { id: added })}</p>${wayBack(visit, draft)}`)
      : wayBack(visit, draft)
    return reply.page(await listView(visit, { cursor: typeof cursor === 'string' ? cursor : '', draft, message: reported }))
  })

  app.post<{ Querystring: Readonly<Record<string, unknown>> }>('/files', { bodyLimit: largestFile + 1024 * 1024 },
    async (request, reply) => {
      const visit = visitOf(request)
      const draft = draftIn(request.query)
      // The form is the one that the API takes: it goes through bit by bit, whatever its size. One without a file has been read already.
      const bytes = request.raw.readableEnded ? Readable.from([]) : request.raw
      const form = { bytes, type: request.headers['content-type'] ?? '' }
      const taken = await visit.api.upload<FileView>(apiPath, form, randomUUID())
      if (taken.ok) return reply.redirect(withQuery(at, { added: taken.body.id, draft }), 303)
      if (taken.status === 401 || taken.status === 403) throw new ApiRefused(taken)
      const reported = notice('bad', html`<p>${visit.words.fileRefused}</p>${sentences(visit.words, taken.error)}`)
      return reply.code(taken.status).page(await listView(visit, { cursor: '', draft, message: reported }))
    })

  app.post<{ Params: { id: string } }>('/files/:id/remove', { config: { confirms: removal } }, async (request, reply) => {
    const removed = await visitOf(request).api.send('DELETE', pathOf(request.params.id))
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.redirect(at, 303)
  })

  withMany(app, {
    path: '/files/chosen/remove',
    list: () => at,
    section: 'files',
    title: ({ words }) => wordsOf(words).filesRemove,
    says: ({ words }) => wordsOf(words).fileRemoveIntro,
    act: ({ api }, id) => api.send('DELETE', pathOf(id))
  })
  done()
}

/** The draft of a form whose reader has come for a file. */
function draftIn ({ draft }: Readonly<Record<string, unknown>>): string {
  return typeof draft === 'string' && isUuid(draft) ? draft : ''
}

/** Back to the form, in which the file can be chosen. */
function wayBack ({ words }: Visit, draft: string): Html {
  return draft === '' ? html`` : html`<p><a href="${withQuery('/console/send', { draft })}">${words.filesBack}</a></p>`
}

function pathOf (id: string): string {
  return `${apiPath}/${encodeURIComponent(id)}`
}

/** Asks before a file is removed: what waits for it fails. */
async function removal (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const { filename, waiting = 0 } = await api.read<FileView>(`${pathOf(request.params.id)}?waiting=true`)
  return {
    title: fill(words.fileRemoveOf, { name: filename }),
    says: [words.fileRemoveIntro],
    touches: [[words.fileWaiting, waiting]],
    button: words.fileRemove,
    back: at
  }
}

async function listView (
  visit: Visit,
  { cursor, draft, message }: { cursor: string, draft: string, message: Html }
): Promise<Html> {
  const { words, api } = visit
  const { data, nextCursor } = await api.read<{ data: FileView[], nextCursor: string | null }>(
    withQuery(apiPath, { limit: '50', ...cursor !== '' && { cursor } })
  )
  const list = data.length === 0 ?
    html`<p>${words.filesNone}</p>` :
    html`${
      longList({ ...visit, path: withQuery(at, { cursor, draft }) }, fileList, {
        label: words.files,
        rows: data,
        known: { words },
        pick: picks(words, 'many', ({ id, filename }) => ({ id, name: filename })),
        act: { title: words.fileRemove, cell: (file) => removeForm(words, file) }
      })
    }${picksForm(words, 'many', { action: `${at}/chosen/remove`, label: words.fileRemove })}`
  const older = nextCursor === null
    ? html``
    : html`<p><a href="${withQuery(at, { cursor: nextCursor, draft })}" rel="next">${words.older}</a></p>`
  const main = html`${message}<section aria-label="${words.fileUpload}"><p>${words.filesIntro}</p>
<form method="post" action="${withQuery(at, { draft })}" enctype="multipart/form-data">
<div class="field"><label for="f-file">${words.fileChosen}</label><p class="help" id="f-file-help">${words.fileHelp}</p>
<input id="f-file" name="file" type="file" required aria-describedby="f-file-help"></div>
<button>${words.fileUpload}</button></form></section>
<section aria-label="${words.files}">${list}${older}</section>`
  return page({ ...visit, path: at }, { title: words.files, section: 'files', main })
}

const fileList: LongList<FileView, { words: Words }> = {
  name: 'files',
  first: { title: ({ fileName }) => fileName, cell: ({ filename }) => filename },
  columns: {
    size: { title: ({ fileSize }) => fileSize, cell: ({ size }, { words }) => sizeOf(words, size), isNumber: true },
    until: { title: ({ fileExpires }) => fileExpires, cell: ({ expiresAt }) => time(expiresAt) },
    type: { title: ({ fileType }) => fileType, cell: ({ contentType }) => contentType },
    id: { title: ({ fileId }) => fileId, cell: ({ id }, { words }) => copied(words, id) }
  },
  usual: ['size', 'until', 'type', 'id']
}

const units = ['byte', 'kilobyte', 'megabyte'] as const

/** A size as people write it: 820 byte, 1.4 MB. */
function sizeOf ({ code }: Words, bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const [unit, size] = [units[power] ?? 'byte', bytes / 1000 ** power]
  return new Intl.NumberFormat(code, { style: 'unit', unit, maximumFractionDigits: size < 10 && power > 0 ? 1 : 0 }).format(size)
}

function removeForm (words: Words, { id, filename }: FileView): Html {
  return html`<form method="post" action="${at}/${id}/remove"><button class="second" aria-label="${
    fill(words.fileRemoveOf, { name: filename })
  }">${words.fileRemove}</button></form>`
}
