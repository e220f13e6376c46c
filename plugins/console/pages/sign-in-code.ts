import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import { document, notice } from './layout.ts'
import { passkeyForm } from './passkey-form.ts'
import { signInPath } from './sign-in.ts'

/** The form for the code of the second factor; after a refusal it says why. */
export function signInCodePage (words: Words, { next, refused, passkeys }: {
  next: string
  refused?: string
  passkeys?: { wrong: boolean }
}): Html {
  const why = refused === 'rate_limited' ? words.tooManyCodes : words.codeWrong
  const main = html`<p>${passkeys === undefined ? words.codeIntro : words.codeIntroPasskey}</p>
${refused === undefined ? html`` : notice('bad', html`<p id="refused">${why}</p>`)}
<form method="post" action="/console/sign-in/code" class="stack">
<input type="hidden" name="next" value="${next}">
<div class="field"><label for="code">${words.codeLabel}</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required autofocus maxlength="40"${
    refused === undefined ? html`` : html` aria-invalid="true" aria-describedby="refused"`
  }></div>
<div class="actions"><button>${words.signIn}</button><a href="${signInPath(next)}">${words.signInAgain}</a></div>
</form>${
    passkeys === undefined ? html`` : passkeyForm(words, {
      action: '/console/sign-in/code/passkey',
      label: words.passkeyUse,
      before: html`<input type="hidden" name="next" value="${next}">`,
      ...passkeys
    })
  }`
  return document(words, {
    title: words.codeTitle,
    main: html`<div class="narrow">${main}</div>`,
    path: signInPath(next, '/console/sign-in/code')
  })
}
