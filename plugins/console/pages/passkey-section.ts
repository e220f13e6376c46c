import { type Html, html } from '../../html.ts'
import { textField } from '../form/fields.ts'
import { fill, type Words } from '../language/language.ts'
import type { PasskeyView } from '../session/api.ts'
import { time } from './layout.ts'
import { passkeyForm } from './passkey-form.ts'
import { proofForm } from './proof.ts'

const at = '/console/second-factor/passkeys'

/** The passkeys of the reader, and the form that adds one; `wrong`: a new one was refused. `name`: what is in its field. */
export function passkeySection (words: Words, passkeys: readonly PasskeyView[], { wrong, name }: { wrong: boolean, name: string }): Html {
  const before = textField({
    name: 'name',
    label: words.name,
    help: words.passkeyNameHelp,
    value: name,
    required: true
  })
  return html`<section aria-labelledby="passkeys"><h2 id="passkeys">${words.passkeys}</h2><p>${words.passkeysIntro}</p>${
    passkeys.length === 0 ? html`` : html`<ul class="list">${passkeys.map((passkey) => entry(words, passkey))}</ul>`
  }${
    passkeyForm(words, { action: at, label: words.passkeyAdd, wrong, before })
  }<noscript><p>${words.passkeyScript}</p></noscript></section>`
}

function entry (words: Words, { id, name, createdAt, usedAt }: PasskeyView): Html {
  return html`<li><strong>${name}</strong><span class="quiet">${words.created}${words.colon}${
    time(createdAt)
  } · ${words.keyUsed}${words.colon}${usedAt === null ? words.keyUsedNever : time(usedAt)}</span>
<details><summary aria-label="${fill(words.passkeyNameFull, { name })}">${words.rename}</summary>
<form method="post" action="${at}/${id}/name"><div class="field"><label for="name-${id}">${words.name}</label>
<input id="name-${id}" name="name" value="${name}" required maxlength="60" autocomplete="off"></div>
<div class="actions"><button class="second">${words.save}</button></div></form></details>${
    proofForm(words, {
      action: `${at}/${id}/remove`,
      id,
      label: fill(words.passkeyRemoveFull, { name }),
      short: words.passkeyRemove,
      intro: words.passkeyRemoveIntro,
      tone: 'danger'
    })
  }</li>
`
}
