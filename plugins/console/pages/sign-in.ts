import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import { withQuery } from '../session/api.ts'
import { document, notice } from './layout.ts'
import { answerForms, type OfferedForms } from './verification-forms.ts'

/** The form to sign in with; after a refusal it says why, and has the e-mail address filled in. */
export function signInPage (words: Words, { next, email = '', refused, changed = false, verifications }: {
  next: string
  email?: string
  refused?: string
  /** Whether the reader has just changed the password, which has ended the session. */
  changed?: boolean
  /** Those of the kinds of verification that sign in alone. */
  verifications: OfferedForms
}): Html {
  const why = refused === 'rate_limited' ? words.tooManyAttempts : words.wrongCredentials
  const main = html`<p>${words.signInIntro}</p>${changed ? notice('good', html`<p>${words.passwordChanged}</p>`) : html``}
${refused === undefined ? html`` : notice('bad', html`<p id="refused">${why}</p>`)}
<form method="post" action="/console/sign-in" class="stack">
<input type="hidden" name="next" value="${next}">
<div class="field"><label for="email">${words.email}</label>
<input id="email" name="email" type="email" autocomplete="username" required value="${email}"${described(refused)}></div>
<div class="field"><label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="512"${described(refused)}></div>
<div class="actions"><button>${words.signIn}</button><a href="/console/forgotten">${words.forgotten}</a></div>
</form>${
    answerForms(words, verifications, {
      at: '/console/sign-in',
      use: 'alone',
      before: html`<input type="hidden" name="next" value="${next}">`
    })
  }<hr><form method="post" action="/console/sign-on" class="stack"><input type="hidden" name="next" value="${next}">
<div class="field"><label for="work-email">${words.signOnByAddress}</label>
<input id="work-email" name="email" type="email" autocomplete="username" required></div>
<div class="actions"><button class="second">${words.signOn}</button><a href="${
    withQuery('/console/sign-on', { next })
  }">${words.signOnByCode}</a></div></form>`
  return document(words, { title: words.signIn, main: html`<div class="narrow">${main}</div>`, path: signInPath(next) })
}

/** The page with the form. `next`: where it leads to. */
export function signInPath (next: string, path = '/console/sign-in'): string {
  return next === '/console' ? path : `${path}${path.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}`
}

function described (refused: string | undefined): Html {
  return refused === undefined ? html`` : html` aria-invalid="true" aria-describedby="refused"`
}
