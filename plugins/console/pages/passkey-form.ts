import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'

/**
 * A form that a passkey answers, in a field with the `name`, to the question at `options`. The script shows it: without one, a browser has
 * no way to a passkey. `before` the button stand fields.
 */
export function passkeyForm (
  words: Words,
  { action, options = `${action}/options`, name = 'answer', label, before = html``, wrong = false }: {
    action: string
    options?: string
    name?: string
    label: string
    before?: Html
    wrong?: boolean
  }
): Html {
  return html`<form method="post" action="${action}" class="stack" data-passkey="${options}" hidden>
<input type="hidden" name="${name}" data-answer><p class="notice bad" role="alert"${
    wrong ? html`` : html` hidden`
  }>${words.passkeyFailed}</p>${before}
<div class="actions"><button class="second">${label}</button></div></form>`
}
