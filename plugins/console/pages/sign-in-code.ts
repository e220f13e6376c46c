import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import { carried, type KeptForm } from '../session/kept-form.ts'
import { document, notice } from './layout.ts'
import { signInForm, signInPath } from './sign-in.ts'
import { answerForms, type OfferedForms } from './verification-forms.ts'

/** The form for the code of the second factor; after a refusal it says why. */
export function signInCodePage (words: Words, { next, refused, lost = false, verifications, kept }: {
  next: string
  refused?: string
  /** Whether what the reader has sent after the session had ended is not kept. */
  lost?: boolean
  /** Those of the kinds of verification that the user has. */
  verifications: OfferedForms
  /** What the reader has sent after the session had ended. */
  kept?: KeptForm | undefined
}): Html {
  const why = refused === 'rate_limited' ? words.tooManyCodes : words.codeWrong
  const main = html`<p>${verifications.forms[0]?.wait(words) ?? words.codeIntro}</p>${
    lost ? notice('warn', html`<p>${words.keptNot}</p>`) : html``
  }
${refused === undefined ? html`` : notice('bad', html`<p id="refused">${why}</p>`)}
<form method="post" action="/console/sign-in/code" class="stack" id="${signInForm}">
<input type="hidden" name="next" value="${next}">${carried(kept)}
<div class="field"><label for="code">${words.codeLabel}</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required autofocus maxlength="40"${
    refused === undefined ? html`` : html` aria-invalid="true" aria-describedby="refused"`
  }></div>
<div class="actions"><button>${words.signIn}</button>${
    kept === undefined
      ? html`<a href="${signInPath(next)}">${words.signInAgain}</a>`
      : html`<button class="second" formaction="${signInPath(next, '/console/sign-in-again')}" formnovalidate>${words.signInAgain}</button>`
  }</div>
</form>${
    answerForms(words, verifications, {
      at: '/console/sign-in/code',
      use: 'second',
      before: html`<input type="hidden" name="next" value="${next}">`
    })
  }`
  return document(words, {
    title: words.codeTitle,
    main: html`<div class="narrow">${main}</div>`,
    path: signInPath(next, '/console/sign-in/code'),
    carrying: kept && signInForm
  })
}
