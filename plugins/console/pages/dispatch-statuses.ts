import { type Html, html } from '../../html.ts'
import { linesField, radioField, textField } from '../form/fields.ts'
import { wordFor, type Words } from '../language/language.ts'
import { type ApiAnswer, type DispatchView, type SayingsView, withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import type { Confirmation, ConfirmRequest } from './confirm.ts'
import { badge, time } from './layout.ts'

/** What the seller has said of an e-invoice, and what may be said; undefined of anything else. */
export async function readStatuses ({ api }: Visit, { dispatchId, documentType }: DispatchView): Promise<SayingsView | undefined> {
  if (documentType !== 'E_INVOICE') return undefined
  const answer: ApiAnswer<SayingsView> = await api.send('GET', `/api/v1/dispatches/${dispatchId}/statuses`)
  return answer.ok ? answer.body : undefined
}

/** The statuses that were reported, and the form to report another. */
export function statusSection (words: Words, at: string, statuses: SayingsView | undefined): Html {
  if (statuses === undefined || statuses.data.length + statuses.sayable.length === 0) return html``
  const { data, sayable } = statuses
  return html`<section aria-labelledby="statuses"><h2 id="statuses">${words.sellerSays}</h2>${
    data.length === 0 ?
      html`` :
      html`<ul class="list">${
        data.map(({ code, at: since, amounts = [], reason, state, message }) =>
          html`<li><span>${wordFor(words, 'seller', code)}</span> ${badge(words, 'saying', state)} <span class="quiet">${
            [...amounts.map(({ rate, amount }) => `${rate} %${words.colon}${amount}`), reason ?? '', message ?? ''].filter((text) =>
              text !== ''
            )
              .join(' · ')
          }</span> ${time(since)}</li>\n`
        )
      }</ul>`
  }${sayable.length === 0 ? html`` : form(words, at, sayable)}</section>
`
}

function form (words: Words, at: string, sayable: readonly string[]): Html {
  return html`<form method="post" action="${at}/statuses"><p>${words.sellerSaysIntro}</p>
${
    radioField({
      name: 'code',
      label: words.sellerSaysWhat,
      value: sayable[0],
      options: sayable.map((code) => ({ value: code, label: wordFor(words, 'seller', code) }))
    })
  }${linesField({ name: 'amounts', label: words.sellerAmounts, help: words.sellerAmountsHelp, placeholder: '20 24.00' })}${
    textField({ name: 'at', label: words.sellerSaysWhen, help: words.sellerSaysWhenHelp, placeholder: '2026-10-02T10:00:00Z' })
  }${
    textField({ name: 'reason', label: words.sellerSaysNote })
  }<div class="actions"><button class="second">${words.sellerSay}</button></div></form>`
}

/** The body of the request, of what was typed. What is none is left to the API, which says why. */
export function statusIn (body: URLSearchParams): object {
  const textOf = (name: string): string => (body.get(name) ?? '').trim()
  const lines = textOf('amounts').split('\n').map((line) => line.trim()).filter((line) => line !== '')
  const [at, reason] = [textOf('at'), textOf('reason')]
  return {
    code: textOf('code'),
    ...(at !== '' && { at }),
    ...(lines.length > 0 && {
      amounts: lines.map((line) => {
        const [rate = '', amount = ''] = line.replaceAll(',', '.').split(/[\s%:;]+/)
        return { rate, amount }
      })
    }),
    ...(reason !== '' && { reason })
  }
}

/** Asks before a status is reported, which nobody takes back. */
export async function statusAsked (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const { params: { id }, body } = request
  const at = encodeURIComponent(id)
  const { recipient, documentNumber } = await api.read<DispatchView>(`/api/v1/dispatches/${at}`)
  return {
    title: words.sellerSays,
    says: [words.sellerSaysIntro],
    touches: [
      [words.sellerInvoice, documentNumber],
      [words.recipient, recipient],
      [words.sellerSaysWhat, wordFor(words, 'seller', body.get('code') ?? '')],
      [words.sellerAmounts, body.get('amounts') ?? undefined]
    ],
    button: words.sellerSay,
    back: withQuery(`/console/dispatches/${at}`, {})
  }
}
