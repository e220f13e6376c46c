import { type Html, html, type PageParts, type UserView, type Visit, withQuery } from '@dispatch/plugins/console'
import type { MySingleSignOnView } from '../contract/single-sign-on.ts'
import { ownSingleSignOn } from './single-sign-on.ts'
import { type Words, wordsOf } from './words.ts'

/** What other pages of the console show of single sign-on. */
export const parts: PageParts = {
  signInForms: (words, next, beside) => signInForm(wordsOf(words), next, beside ? html` target="_blank"` : html``),
  account: ownSingleSignOn,
  company: (words) => companySection(wordsOf(words)),
  userFactor: unlinkSection
}

function signInForm (words: Words, next: string, target: Html): Html {
  return html`<hr><form method="post" action="/console/sign-on" class="stack"${target}><input type="hidden" name="next" value="${next}">
<div class="field"><label for="work-email">${words.signOnByAddress}</label>
<input id="work-email" name="email" type="email" autocomplete="username" required></div>
<div class="actions"><button class="second">${words.signOn}</button><a href="${
    withQuery('/console/sign-on', { next })
  }"${target}>${words.signOnByCode}</a></div></form>`
}

function companySection (words: Words): Html {
  return html`
<section aria-labelledby="sign-on"><h2 id="sign-on">${words.signOn}</h2><p>${words.signOnAbout}</p>
<p><a href="/console/company/single-sign-on">${words.signOnSettings}</a></p></section>`
}

/** For a user whom the company's provider knows as somebody else. */
async function unlinkSection ({ api, actor, words: ofConsole }: Visit, { id }: UserView): Promise<Html> {
  const [words, at] = [wordsOf(ofConsole), `/console/company/users/${String(id)}`]
  const { linked } = await api.read<MySingleSignOnView>(`/api/v1/users/${String(id)}/single-sign-on`)
  return !linked || id === actor.userId ?
    html`` :
    html`<section aria-labelledby="unlink"><h2 id="unlink">${words.signOn}</h2><p>${words.signOnUnlinkIntro}</p>
<form method="post" action="${at}/unlink"><div class="actions"><button class="danger">${words.signOnUnlink}</button></div></form></section>
`
}
