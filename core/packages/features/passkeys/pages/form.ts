import { type AnswerForm, type Html, html, type Words } from '@dispatch/plugins/console'
import { wordsOf } from './words.ts'

/** A form that a passkey answers. The script shows it: without one, a browser has no way to a passkey. */
export function passkeyForm (
  words: Words,
  { action, options, name, label, before, wrong }: Omit<AnswerForm, 'use'> & { label: string }
): Html {
  return html`<form method="post" action="${action}" class="stack" data-passkey="${options}" hidden>
<input type="hidden" name="${name}" data-answer><p class="notice bad" role="alert"${wrong ? html`` : html` hidden`}>${
    wordsOf(words).passkeyFailed
  }</p>${before}
<div class="actions"><button class="second">${label}</button></div></form>`
}
