import { type Html, html } from '../../html.ts'
import { textField } from '../form/fields.ts'
import { fill } from '../language/language.ts'
import type { VerificationForms } from '../session/offered.ts'
import { answerField, typedField, type WaysToProve } from '../session/proof.ts'
import type { Visit } from '../session/visit.ts'
import { notice, page } from './layout.ts'

/**
 * Asks for a proof before what the reader has sent to `path` is done. The page keeps what was sent, and sends it to the same path. Without
 * a password a person signs in again beside it, and sends it then.
 */
export function proofPage (visit: Visit, { path, sent, ways, forms, refused }: {
  path: string
  sent: readonly (readonly [string, string])[]
  ways: WaysToProve
  /** Those of the kinds of verification that the person has. */
  forms: readonly VerificationForms[]
  refused: string | undefined
}): Html {
  const { words, actor, acting: { own } = { own: actor } } = visit
  const kept = html`${sent.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`
  const why = refused === undefined
    ? html``
    : notice('bad', html`<p>${refused === 'rate_limited' ? words.tooManyCodes : words.proofWrong}</p>`)
  const main = html`<div class="narrow"><p>${fill(words.proveIntro, { email: own.email })}</p>${why}${
    ways.password
      ? html`<form method="post" action="${path}" class="stack">${kept}${
        textField({
          name: typedField,
          label: words.proof,
          type: 'password',
          autocomplete: 'current-password',
          required: true,
          autofocus: true
        })
      }<div class="actions"><button>${words.signOnGo}</button><a href="/console">${words.proveNot}</a></div></form>`
      : html``
  }${
    forms.map(({ kind, form }) =>
      form(words, {
        action: path,
        options: `/console/proof/${kind}/options`,
        name: answerField(kind),
        use: 'second',
        before: kept,
        wrong: false
      })
    )
  }${
    ways.provider === undefined ? html`` : html`<p>${words.proveAtProvider}</p>
<p><a class="button second" href="${ways.provider}" target="_blank">${words.signOn}</a></p>
<form method="post" action="${path}">${kept}<div class="actions"><button>${words.signOnGo}</button></div></form>`
  }</div>`
  return page({ ...visit, path: '/console' }, { title: words.proveTitle, main })
}
