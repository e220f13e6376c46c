import { fill, type Html, html, proofForm, textField, time, type Visit } from '@dispatch/plugins/console'
import type { PasskeyView } from '../contract/passkeys.ts'
import { passkeyForm } from './form.ts'
import { wordsOf } from './words.ts'

const at = '/console/second-factor/passkeys'

type AllWords = ReturnType<typeof wordsOf>

/** The passkeys of the reader, and the form that adds one; `wrong`: a new one was refused. `name`: what is in its field. */
export async function passkeySection (visit: Visit, { wrong = false, name }: { wrong?: boolean, name?: string } = {}): Promise<Html> {
  const words = wordsOf(visit.words)
  const { data: passkeys } = await visit.api.read<{ data: PasskeyView[] }>('/api/v1/my/passkeys')
  const before = textField({
    name: 'name',
    label: words.name,
    help: words.passkeyNameHelp,
    value: name ?? words.passkeyNameUsual,
    required: true
  })
  return html`<section aria-labelledby="passkeys"><h2 id="passkeys">${words.passkeys}</h2><p>${words.passkeysIntro}</p>${
    passkeys.length === 0 ? html`` : html`<ul class="list">${passkeys.map((passkey) => entry(words, passkey))}</ul>`
  }${
    passkeyForm(words, { action: at, options: `${at}/options`, name: 'answer', label: words.passkeyAdd, wrong, before })
  }<noscript><p>${words.passkeyScript}</p></noscript></section>`
}

function entry (words: AllWords, { id, name, createdAt, usedAt }: PasskeyView): Html {
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
