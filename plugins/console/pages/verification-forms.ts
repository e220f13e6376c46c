import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import type { AnswerForm, VerificationForms } from '../session/offered.ts'

/** The forms that a page offers; `wrong`: the kind whose answer was refused. */
export type OfferedForms = { forms: readonly VerificationForms[], wrong?: string }

/** The forms of a page of the sign-in, each posted to an address of its kind. */
export function answerForms (
  words: Words,
  { forms, wrong }: OfferedForms,
  { at, use, before }: Pick<AnswerForm, 'use' | 'before'> & { at: string }
): Html {
  return html`${
    forms.map(({ kind, form }) => {
      const action = `${at}/${kind}`
      return form(words, { action, options: `${action}/options`, name: 'answer', use, before, wrong: wrong === kind })
    })
  }`
}
