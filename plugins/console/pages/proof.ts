import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import { ApiRefused, type Refusal } from '../session/api.ts'
import { notice } from './layout.ts'

/** `short`: what the summary shows of the label. */
type ProofForm = { action: string, id: string, label: string, short?: string, intro: string, tone: 'second' | 'danger' }

/** A change that needs the password or a code; the form opens on demand. */
export function proofForm (words: Words, { action, id, label, short, intro, tone }: ProofForm): Html {
  const named = short === undefined ? html`` : html` aria-label="${label}"`
  return html`<details><summary${named}>${short ?? label}</summary><p>${intro}</p>
<form method="post" action="${action}"><div class="field"><label for="proof-${id}">${words.proof}</label>
<input id="proof-${id}" name="proof" type="password" required maxlength="1024" autocomplete="current-password"></div>
<div class="actions"><button class="${tone}">${label}</button></div></form></details>`
}

/** Why a change was refused. */
export function refusedProof (words: Words, { status }: Refusal): Html {
  return notice('bad', html`<p>${status === 429 ? words.tooManyCodes : words.proofWrong}</p>`)
}

/** The status of a refusal that the page itself can show; any other takes the place of the page. */
export function statusOf (refusal: Refusal): number {
  if (![400, 403, 409, 429].includes(refusal.status)) throw new ApiRefused(refusal)
  return refusal.status
}
