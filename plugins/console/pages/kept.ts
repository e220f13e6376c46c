import { type Html, html } from '../../html.ts'
import { fill, type Words } from '../language/language.ts'
import { carried, type KeptForm } from '../session/kept-form.ts'
import type { Visit } from '../session/visit.ts'
import { document, notice, page } from './layout.ts'
import { signInPath } from './sign-in.ts'

/** Leads somebody who has signed in again to the form that their ended session has not sent. */
export function keptPage (words: Words, { path, fields }: KeptForm): Html {
  const main = html`<div class="narrow">${notice('good', html`<p>${words.keptIntro}</p>`)}<form method="post" action="${path}">${
    fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  }<div class="actions"><button autofocus>${words.keptShow}</button><a href="/console">${words.keptLeave}</a></div></form></div>`
  return document(words, { title: words.keptTitle, main, path: '/console' })
}

/** Holds the form until its author has the second factor without which no page takes it; that is set up beside this page. */
export function keptForFactorPage (words: Words, kept: KeptForm, next: string): Html {
  const main = html`<div class="narrow">${notice('warn', html`<p>${words.keptForFactor}</p>`)}
<p><a class="button" href="/console/second-factor" target="_blank">${words.keptSetUp}</a></p>
<form method="post" action="${signInPath(next, '/console/sign-in-again')}">${carried(kept)}<div class="actions">
<button class="second">${words.keptHasFactor}</button></div></form></div>`
  return document(words, { title: words.keptTitle, main, path: '/console' })
}

/** What somebody reads who has signed in beside the page in which a form of theirs waits. */
export function besidePage (visit: Visit): Html {
  const { words } = visit
  const main = html`<div class="narrow">${
    notice('good', html`<p>${fill(words.keptGoBack, { button: words.keptSignedIn })}</p>`)
  }<div class="actions"><a href="/console">${words.keptGoOn}</a></div></div>`
  return page({ ...visit, path: '/console/kept' }, { title: words.keptTitle, main })
}

/** Says to somebody who has signed in again that the form is lost. `next`: where they go on. */
export function lostPage (words: Words, next: string): Html {
  const main = html`<div class="narrow">${
    notice('warn', html`<p>${words.keptGone}</p>`)
  }<div class="actions"><a href="${next}">${words.keptGoOn}</a></div></div>`
  return document(words, { title: words.keptTitle, main, path: '/console' })
}
