import { type Html, html } from '../../html.ts'
import { radioField, textField } from '../form/fields.ts'
import type { Words } from '../language/language.ts'

/** What a person has found, as they typed it. */
export type Finding = { outcome?: string | undefined, reason?: string | undefined }

/** The form by which somebody who has asked the vendor ends a doubt. */
export function resolveForm (words: Words, action: string, intro: string, { outcome, reason }: Finding = {}): Html {
  return html`<form method="post" action="${action}"><p>${intro}</p>
${
    radioField({
      name: 'outcome',
      label: words.resolveOutcome,
      value: outcome,
      options: [{ value: 'accepted', label: words.resolveAccepted }, { value: 'rejected', label: words.resolveRejected }]
    })
  }
${
    textField({ name: 'reason', label: words.resolveReason, value: reason, required: true })
  }<div class="actions"><button>${words.resolve}</button></div></form>`
}

/** What was typed into the form. */
export function readFinding (body: URLSearchParams): { outcome: string, reason: string } {
  return { outcome: body.get('outcome') ?? '', reason: body.get('reason') ?? '' }
}
