import { type Html, html } from '../../html.ts'
import { fill, type Words } from '../language/language.ts'
import { carried, type KeptForm } from '../session/kept-form.ts'
import type { Visit } from '../session/visit.ts'
import { document, notice, page } from './layout.ts'
import { signInPath } from './sign-in.ts'

/** The id of the form of these pages that carries a kept one along: a change of the language does, too. */
const carrying = 'kept'

type Waiting = { kept: KeptForm, next: string }

/** Holds a kept form. `buttons`: what its reader does with it. */
function waitingForm ({ kept, next }: Waiting, buttons: Html): Html {
  return html`<form method="post" action="${signInPath(next, '/console/sign-in-again')}" id="${carrying}">
<input type="hidden" name="next" value="${next}">${carried(kept)}${buttons}</form>`
}

function waitingPage (words: Words, main: Html): Html {
  return document(words, { title: words.keptTitle, main: html`<div class="narrow">${main}</div>`, path: '/console', carrying })
}

/** Leads somebody who has signed in again to the form that their ended session has not sent. */
export function keptPage (words: Words, { kept, next }: Waiting): Html {
  const { path, fields } = kept
  return waitingPage(words,
    html`${notice('good', html`<p>${words.keptIntro}</p>`)}<form method="post" action="${path}">${
      fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
    }<div class="actions"><button autofocus>${words.keptShow}</button><a href="/console">${words.keptLeave}</a></div></form>
${waitingForm({ kept, next }, html``)}`)
}

/** Holds the form until its author has the second factor without which no page takes it; that is set up beside this page. */
export function keptForFactorPage (words: Words, waiting: Waiting): Html {
  return waitingPage(words, html`${notice('warn', html`<p>${words.keptForFactor}</p>`)}
<p><a class="button" href="/console/second-factor" target="_blank">${words.keptSetUp}</a></p>
${waitingForm(waiting, html`<div class="actions"><button class="second">${words.keptHasFactor}</button></div>`)}`)
}

/** Holds the form where its reader has signed in beside it as somebody else than its author. */
export function keptForAuthorPage (words: Words, waiting: Waiting): Html {
  return waitingPage(words,
    html`${notice('warn', html`<p>${words.keptForAuthor}</p>`)}${
      waitingForm(waiting,
        html`<div class="actions"><button formaction="${
          signInPath(waiting.next, '/console/sign-in-again?author=1')
        }">${words.keptAuthor}</button><a href="/console">${words.keptLeave}</a></div>`)
    }`)
}

/** What somebody reads who has signed in beside the page in which a form of theirs waits. */
export function besidePage (visit: Visit): Html {
  const { words } = visit
  const main = html`<div class="narrow">${
    notice('good', html`<p>${fill(words.keptGoBack, { button: words.keptSignedIn })}</p>`)
  }<div class="actions"><a href="/console">${words.keptGoOn}</a></div></div>`
  return page({ ...visit, path: '/console/kept' }, { title: words.keptTitle, main })
}

/** Says to somebody that the form is lost, and why. `next`: where they go on. */
export function lostPage (words: Words, next: string, why = words.keptGone): Html {
  const main = html`<div class="narrow">${
    notice('warn', html`<p>${why}</p>`)
  }<div class="actions"><a href="${next}">${words.keptGoOn}</a></div></div>`
  return document(words, { title: words.keptTitle, main, path: '/console' })
}
