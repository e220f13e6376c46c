import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import { carried, type KeptForm } from '../session/kept-form.ts'
import { type ConsoleParts, partsAt } from '../session/visit.ts'
import { document, notice } from './layout.ts'
import { answerForms, type OfferedForms } from './verification-forms.ts'

/** The form to sign in with; after a refusal it says why, and has the e-mail address filled in. */
export function signInPage (words: Words, { next, email = '', refused, changed = false, lost = false, verifications, parts, kept }: {
  next: string
  email?: string
  refused?: string
  /** Whether the reader has just changed the password, which has ended the session. */
  changed?: boolean
  /** Whether what the reader has sent after the session had ended is not kept. */
  lost?: boolean
  /** Those of the kinds of verification that sign in alone. */
  verifications: OfferedForms
  /** What the reader has sent after the session had ended. */
  kept?: KeptForm | undefined
  parts: ConsoleParts
}): Html {
  const why = refused === 'rate_limited' ? words.tooManyAttempts : words.wrongCredentials
  const main = html`<p>${words.signInIntro}</p>${changed ? notice('good', html`<p>${words.passwordChanged}</p>`) : html``}${
    lost ? notice('warn', html`<p>${words.keptNot}</p>`) : html``
  }
${refused === undefined ? html`` : notice('bad', html`<p id="refused">${why}</p>`)}
<form method="post" action="/console/sign-in" class="stack" id="${signInForm}">
<input type="hidden" name="next" value="${next}">${carried(kept)}${
    kept === undefined ? html`` : notice('warn', html`<p>${words.keptWaits}</p>`)
  }
<div class="field"><label for="email">${words.email}</label>
<input id="email" name="email" type="email" autocomplete="username" required${email === '' ? autofocus : html``} value="${email}"${
    described(refused)
  }></div>
<div class="field"><label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${
    email === '' ? html`` : autofocus
  } maxlength="512"${described(refused)}></div>
<div class="actions"><button>${words.signIn}</button>${partsAt(parts, 'signInLinks').map((part) => part(words, kept !== undefined))}</div>
</form>${
    answerForms(words, verifications, {
      at: '/console/sign-in',
      use: 'alone',
      before: html`<input type="hidden" name="next" value="${next}">`
    })
  }${others(words, parts, { next, kept })}`
  return document(words, {
    title: words.signIn,
    main: html`<div class="narrow">${main}</div>`,
    path: signInPath(next),
    carrying: kept && signInForm
  })
}

/** The other ways to sign in: beside what waits here, where something does, so that it is not lost, and back to it. */
function others (words: Words, parts: ConsoleParts, { next, kept }: { next: string, kept: KeptForm | undefined }): Html {
  const ways = partsAt(parts, 'signInForms')
  if (kept === undefined) return html`${ways.map((part) => part(words, next, false))}`
  return html`${ways.map((part) => part(words, '/console/kept', true))}<p>${words.keptBeside}</p><div class="actions">
<button class="second" form="${signInForm}" formaction="${
    signInPath(next, '/console/sign-in-again')
  }" formnovalidate>${words.keptSignedIn}</button></div>`
}

/** The id of the form that carries along what the reader has sent: the fields stand in it alone, and the script takes them elsewhere. */
export const signInForm = 'sign-in'

/** The page with the form. `next`: where it leads to. */
export function signInPath (next: string, path = '/console/sign-in'): string {
  return next === '/console' ? path : `${path}${path.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}`
}

const autofocus = html` autofocus`

function described (refused: string | undefined): Html {
  return refused === undefined ? html`` : html` aria-invalid="true" aria-describedby="refused"`
}
