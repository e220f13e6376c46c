import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import type { SecondFactorView } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'

/**
 * The form by which a browser answers a question: it is posted to `action`, with the answer in the field `name`. `options`: where the
 * question is asked for, by POST. `use`: in place of the password, or after it. `before` its button stand fields. `wrong`: the answer was
 * refused.
 */
export type AnswerForm = { action: string, options: string, name: string, use: 'alone' | 'second', before: Html, wrong: boolean }

/** What the reader has of a kind of verification, on the page of the second factor. */
export type FactorSection = { kind: string, section: (visit: Visit, state: SecondFactorView) => Promise<Html> }

/** What the console shows of a kind of verification that a browser is asked for. */
export type VerificationForms = FactorSection & {
  form: (words: Words, form: AnswerForm) => Html
  /** What the second page of a sign-in says to somebody who has one. */
  wait: (words: Words) => string
}

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
