import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import type { KeptForm } from '../session/kept-form.ts'
import { document, notice } from './layout.ts'

/** Leads somebody who has signed in again to the form that their ended session has not sent. */
export function keptPage (words: Words, { path, fields }: KeptForm): Html {
  const main = html`<div class="narrow">${notice('good', html`<p>${words.keptIntro}</p>`)}<form method="post" action="${path}">${
    fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  }<div class="actions"><button autofocus>${words.keptShow}</button><a href="/console">${words.keptLeave}</a></div></form></div>`
  return document(words, { title: words.keptTitle, main, path: '/console' })
}

/** Says to somebody who has signed in again that the form is lost. `next`: where they go on. */
export function lostPage (words: Words, next: string): Html {
  const main = html`<div class="narrow">${
    notice('warn', html`<p>${words.keptGone}</p>`)
  }<div class="actions"><a href="${next}">${words.keptGoOn}</a></div></div>`
  return document(words, { title: words.keptTitle, main, path: '/console' })
}
