import { type Html, html } from '../../html.ts'
import { fill } from '../language/language.ts'
import type { UserView } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'

/** The form that begins it, for somebody else, by a reader who acts as themselves. */
export function actSection ({ words, actor, acting }: Visit, user: UserView): Html {
  if (acting !== undefined || user.id === actor.userId || user.disabled) return html``
  return html`<section aria-labelledby="act"><h2 id="act">${words.act}</h2><p>${words.actIntro}</p>
<form method="post" action="/console/act/${String(user.id)}"><div class="actions"><button class="second">${
    fill(words.actAs, { email: user.email })
  }</button></div></form></section>`
}
