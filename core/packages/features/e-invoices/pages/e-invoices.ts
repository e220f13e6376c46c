import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { largestInvoice } from '@dispatch/einvoice'
import { ApiRefused, beginCredit, facts, type Html, html, notice, page, placeIn, pretty, sentenceOf, sentences, table, textField, visitWith,
  withQuery, withWords } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { type EInvoiceView, type RecipientsView } from '../contract/e-invoices.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

const wordsOf = withWords({ en, fr })
const visitOf = visitWith(wordsOf)
type Visit = ReturnType<typeof visitOf>
type Words = Visit['words']

const at = '/console/e-invoices'

/** The shared template of e-invoices. */
const templateId = 4

/** The most broken rules, and the most lost texts, that a page shows. */
const maxShown = 200

/** Reading an e-invoice of somebody, and writing a credit note about one. */
export const eInvoicePages: FastifyPluginCallback = (app, _options, done) => {
  app.addContentTypeParser('multipart/form-data', (_request, _form, parsed) => {
    parsed(null)
  })

  app.get<{ Querystring: { scheme?: string, id?: string } }>('/e-invoices', async (request, reply) => {
    const visit = visitOf(request)
    const { scheme, id } = request.query
    if (scheme === undefined || id === undefined) return reply.page(view(visit, html``))
    const requested = { scheme: scheme.trim(), id: id.trim() }
    const found = await visit.api.send<RecipientsView>('GET', withQuery('/api/v1/e-invoices/recipients', requested))
    if (found.ok) return reply.page(view(visit, recipientsOf(visit.words, found.body), requested))
    if (found.status === 401 || found.status === 403) throw new ApiRefused(found)
    return reply.code(found.status).page(view(visit, notice('bad', sentences(visit.words, found.error)), requested))
  })

  const bodyLimit = largestInvoice + 1024 * 1024

  app.post('/e-invoices', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const reading = await readIn(visit, request, reply)
    return reading === undefined ? reply : reply.page(view(visit, shown(visit.words, reading)))
  })

  app.post('/e-invoices/credit', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const reading = await readIn(visit, request, reply)
    if (reading === undefined) return reply
    const { service, documentType = null } = await visit.api.read<{ service: string, documentType?: string }>(
      `/api/v1/templates/${String(templateId)}`
    )
    const fields = { documentType, eInvoiceFormat: reading.format, eInvoiceProfile: reading.profile }
    const begun = await beginCredit(visit, { service, templateId, fields, data: reading.data })
    if (begun === undefined) return reply.code(422).page(view(visit, notice('bad', html`<p>${visit.words.eInvoiceNoCredit}</p>`)))
    if (!begun.ok) throw new ApiRefused(begun)
    return reply.redirect(withQuery('/console/send', { draft: begun.body.id }), 303)
  })
  done()
}

/** The e-invoice in the form of a request; undefined where it cannot be read, and the page says so. */
async function readIn (visit: Visit, request: FastifyRequest, reply: FastifyReply): Promise<EInvoiceView | undefined> {
  // The form is the one that the API takes: it goes through bit by bit. One without a file has been read already.
  const bytes = request.raw.readableEnded ? Readable.from([]) : request.raw
  const form = { bytes, type: request.headers['content-type'] ?? '' }
  const read = await visit.api.upload<EInvoiceView>('/api/v1/e-invoices/read', form, randomUUID())
  if (read.ok) return read.body
  if (read.status === 401 || read.status === 403) throw new ApiRefused(read)
  const { words } = visit
  reply.code(read.status).page(view(visit, notice('bad', html`<p>${words.eInvoiceRefused}</p>${sentences(words, read.error)}`)))
  return undefined
}

/** Whom each directory knows. */
function recipientsOf (words: Words, { data }: RecipientsView): Html {
  if (data.length === 0) return notice('warn', html`<p>${words.recipientsNoDirectory}</p>`)
  const reported = data.map(({ directory, result, recipients, message }) =>
    result === 'found'
      ? table(directory, [words.recipientsAddress, words.recipientsName, words.recipientsStatus],
        recipients.map(({ scheme, id, name, status }) =>
          html`<tr><th scope="row"><code>${scheme}:${id}</code></th><td>${name ?? ''}</td><td>${
            status === undefined ? '' : words[`recipients_${status}`]
          }</td></tr>\n`
        ))
      : html`<p>${directory}: ${result === 'unknown' ? words.recipientsUnknown : words.recipientsCannotBeAsked}</p>${
        message === undefined ? html`` : html`<p class="quiet">${message}</p>`
      }`
  )
  return html`<section aria-labelledby="recipients"><h2 id="recipients">${words.recipientsFound}</h2>${reported}</section>`
}

function view (visit: Visit, found: Html, requested = { scheme: '0225', id: '' }): Html {
  const { words } = visit
  const main = html`${found}<section aria-label="${words.eInvoiceRead}"><p>${words.eInvoicesIntro}</p>
<form method="post" action="${at}" enctype="multipart/form-data">
<div class="field"><label for="f-file">${words.eInvoiceFile}</label><p class="help" id="f-file-help">${words.eInvoiceFileHelp}</p>
<input id="f-file" name="file" type="file" required aria-describedby="f-file-help"></div>
<div class="actions"><button>${words.eInvoiceRead}</button>
<button class="second" formaction="${at}/credit">${words.eInvoiceCredit}</button></div>
<p class="quiet">${words.eInvoiceCreditHelp}</p></form></section>
<section aria-labelledby="who"><h2 id="who">${words.recipientsTitle}</h2><p>${words.recipientsIntro}</p>
<form method="get" action="${at}">${
    textField({
      name: 'scheme',
      label: words.recipientsScheme,
      help: words.recipientsSchemeHelp,
      value: requested.scheme,
      required: true,
      isSought: true
    })
  }${textField({ name: 'id', label: words.recipientsId, value: requested.id, required: true, isSought: true })}
<div class="actions"><button class="second">${words.recipientsAsk}</button></div></form></section>`
  return page({ ...visit, path: at }, { title: words.eInvoices, section: 'e-invoices', main })
}

function shown (words: Words, { format, profile, specification, data, totals, problems, warnings, lost }: EInvoiceView): Html {
  const { number, date, currency, seller, customer } = data
  return html`<section aria-labelledby="read"><h2 id="read">${words.eInvoiceFacts}</h2>${
    facts([
      [words.eInvoiceNumber, textOf(number)],
      [words.eInvoiceDate, textOf(date)],
      [words.eInvoiceSeller, nameIn(seller)],
      [words.eInvoiceCustomer, nameIn(customer)],
      [words.eInvoiceTotal, `${totals.total} ${textOf(currency)}`],
      [words.eInvoiceDue, `${totals.amountDue} ${textOf(currency)}`],
      [words.eInvoiceFormat, format],
      [words.eInvoiceProfile, html`${profile} <code>${specification ?? ''}</code>`]
    ])
  }</section>${rulesSection(words, 'problems', words.eInvoiceProblems, problems)}${
    rulesSection(words, 'warnings', words.eInvoiceWarnings, warnings)
  }${
    lost.length === 0 ?
      html`` :
      html`<section aria-labelledby="lost"><h2 id="lost">${words.eInvoiceLost}</h2>${
        table(words.eInvoiceLost, [words.eInvoiceElement, words.eInvoiceText], lost.slice(0, maxShown).map((one) =>
          html`<tr><td>${placeOf(one)}</td><td>${one.value}</td></tr>\n`
        ))
      }</section>`
  }<section aria-labelledby="data"><h2 id="data">${words.eInvoiceData}</h2><details><summary>JSON</summary><pre tabindex="0">${
    pretty(data)
  }</pre></details></section>`
}

function rulesSection (words: Words, id: string, title: string, broken: EInvoiceView['problems']): Html {
  const rows = broken.slice(0, maxShown).map((one) =>
    html`<tr><th scope="row">${one.code}</th><td>${sentenceOf(words, one)}</td><td>${placeIn(words, one.path)}</td><td>${
      placeOf(one)
    }</td></tr>\n`
  )
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${
    rows.length === 0
      ? html`<p>${words.eInvoiceNothing}</p>`
      : table(title, [words.eInvoiceRule, words.eInvoiceRight, words.eInvoicePlace, words.eInvoiceElement], rows)
  }</section>`
}

function placeOf ({ element, line, column }: { element: string, line: number, column: number }): Html {
  return html`${`${String(line)}:${String(column)}`} <code>${element}</code>`
}

function textOf (value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function nameIn (party: Json | undefined): string {
  return isRecord(party) ? textOf((party as JsonObject)['name']) : ''
}
