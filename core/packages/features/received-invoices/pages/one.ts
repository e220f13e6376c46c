import { choiceField, facts, fill, type Html, html, notice, page, previewFrame, reasonOf, said, sentenceOf, table, textField, time,
  type Typed, wrongOf } from '@dispatch/plugins/console'
import { type AnswerView, reasonCodes, type ReceivedInvoiceDetails } from '../contract/received-invoices.ts'
import { statusWord } from './status-word.ts'
import type { Visit, Words } from './words.ts'

const at = '/console/received'

/** A received e-invoice: what it says, its files, what was said of it, and a form to say more. */
export function one (visit: Visit, received: ReceivedInvoiceDetails, typed?: Typed): Html {
  const { words } = visit
  const { id, invoice, state, problem, file, statuses, sayable, provider, remoteId, receivedAt, keptUntil, sandbox } = received
  const path = `${at}/${id}`
  const amount = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : `${text} ${invoice?.currency ?? ''}`.trim()
  const frame = state === 'readable' && file !== null
    ? html`<section aria-labelledby="page"><h2 id="page">${words.receivedPage}</h2>${
      previewFrame(words, { name: words.receivedPage, source: `${path}/page` })
    }</section>`
    : html``
  const main = html`<p><a href="${at}">${words.receivedAll}</a></p>${
    problem === null ? html`` : notice('warn', html`<p>${words.receivedUnreadable} ${sentenceOf(words, problem)}</p>`)
  }<section aria-label="${words.receivedFacts}">${
    facts([
      [words.status, received.status === null ? words[`receivedState_${state}`] : statusWord(words, received.status)],
      [words.receivedNumber, invoice?.number],
      [words.receivedDate, invoice?.date],
      [words.receivedDue, invoice?.dueDate],
      [words.receivedSeller, [invoice?.seller, invoice?.sellerId].filter((text) => text !== undefined).join(', ')],
      [words.receivedTotal, amount(invoice?.total)],
      [words.receivedAmountDue, amount(invoice?.amountDue)],
      [words.receivedProfile, invoice === null ? undefined : `${invoice.format} ${invoice.profile}`],
      [words.receivedBroken, invoice === null || invoice.brokenRules === 0 ? undefined : String(invoice.brokenRules)],
      [words.receptionProvider, html`${provider}${sandbox ? html` (${words.receivedSandbox})` : html``} <code>${remoteId}</code>`],
      [words.receivedAt, time(receivedAt)],
      [words.receivedKeptUntil, time(keptUntil)]
    ])
  }${
    file === null
      ? html``
      : html`<ul><li><a href="${path}/file">${fill(words.receivedFile, { name: file.filename })}</a></li>${
        state === 'readable' ? html`<li><a href="${path}/pdf">${words.receivedPdf}</a></li>` : html``
      }</ul>`
  }</section>${frame}${saidSection(words, statuses)}${sayable.length === 0 ? html`` : answerForm(words, path, sayable, typed)}`
  return page({ ...visit, path }, { title: invoice?.number ?? words.receivedNoNumber, section: 'received-invoices', main })
}

function saidSection (words: Words, statuses: readonly AnswerView[]): Html {
  if (statuses.length === 0) return html``
  return html`<section aria-labelledby="said"><h2 id="said">${words.receivedSaid}</h2>${
    table(words.receivedSaid, [words.status, words.receivedReason, words.receivedSaidAt, words.receivedOutcome], statuses.map((status) => {
      const { code, reasonCode, reason, amount, at: when, state, message } = status
      return html`<tr><th scope="row">${statusWord(words, code)}</th><td>${
        [reasonCode, reason, amount].filter((text) => text !== undefined).join(', ')
      }</td><td>${time(when)}</td><td>${words[`receivedAnswer_${state}`]}${
        message === undefined ? html`` : html`<div class="quiet">${reasonOf(words, { reason: message })}</div>`
      }</td></tr>\n`
    }))
  }</section>`
}

function answerForm (words: Words, path: string, sayable: readonly string[], typed: Typed | undefined): Html {
  const field = (name: string, label: string) => ({
    name,
    label,
    value: typed?.body.get(name) ?? '',
    wrong: wrongOf(words, typed, `/${name}`)
  })
  return html`<section aria-labelledby="say"><h2 id="say">${words.receivedSayMore}</h2>${
    said(words, typed, 'code', 'reasonCode', 'reason', 'amount')
  }<form method="post" action="${path}/statuses" novalidate>${
    choiceField({
      ...field('code', words.status),
      options: sayable.map((value) => ({ value, label: statusWord(words, value) }))
    })
  }${
    choiceField({
      ...field('reasonCode', words.receivedReasonCode),
      help: words.receivedReasonCodeHelp,
      options: reasonCodes.map((value) => ({ value, label: value })),
      none: words.receivedNoReason
    })
  }${textField(field('reason', words.receivedReason))}${
    textField({ ...field('amount', words.receivedAmount), help: words.receivedAmountHelp })
  }<div class="actions"><button>${words.receivedSay}</button></div></form></section>`
}
