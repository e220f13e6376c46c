import { document, fill, type Html, html, notice, signInPath, textField, withQuery } from '@dispatch/plugins/console'
import type { SignOnRefusal } from '../contract/single-sign-on.ts'
import type { Words } from './words.ts'

const narrow = (words: Words, title: string, main: Html, { head, path = '/console/sign-on' }: { head?: Html, path?: string } = {}): Html =>
  document(words, { title, main: html`<div class="narrow">${main}</div>`, path, head })

/** Whose sign-on it is. */
type SignOnName = { company: string, issuer: string }

type SignOnForm = { company: string, next: string, fresh?: boolean, refused?: string, name?: SignOnName }

/** Where a person enters the code of their company; or is told, where they come with one, whose it is and where they are about to go. */
export function signOnPage (words: Words, { company, next, fresh, refused, name }: SignOnForm): Html {
  const given = name === undefined
    ? textField({ name: 'company', label: words.signOnCode, value: company, required: true })
    : html`<input type="hidden" name="company" value="${company}"><input type="hidden" name="seen" value="${name.issuer}">`
  const main = html`${name === undefined ? html`<p>${words.signOnIntro}</p>` : naming(words, name)}${
    refused === undefined ? html`` : notice('bad', html`<p>${refused}</p>`)
  }
<form method="post" action="/console/sign-on" class="stack"><input type="hidden" name="next" value="${next}">${
    fresh === true ? html`<input type="hidden" name="fresh" value="on">` : html``
  }
${given}
<div class="actions"><button>${words.signOnGo}</button></div></form><hr><p><a href="${signInPath(next)}">${words.signOnPassword}</a></p>`
  return narrow(words, words.signOn, main, {
    path: signInPath(next, withQuery('/console/sign-on', refused === undefined ? { company } : {}))
  })
}

/** A page that leads to the provider: at once, or when the person has read whose it is. */
export function leavingPage (words: Words, { url, ...name }: SignOnName & { url: string }, { atOnce }: { atOnce: boolean }): Html {
  const main = html`${naming(words, name)}<p><a href="${url}">${fill(words.signOnLeaving, { host: new URL(url).host })}</a></p>`
  return narrow(words, words.signOn, main, atOnce ? { head: onwards(url) } : {})
}

/** Whoever is led here by somebody else's link sees whose people sign in at this provider. */
function naming (words: Words, { company, issuer }: SignOnName): Html {
  return html`<p>${words.signOnWhose}</p>
<dl><dt>${words.company}</dt><dd>${company}</dd><dt>${words.signOnIssuer}</dt><dd>${issuer}</dd></dl>`
}

/** A page that leads on at once, after the provider has let a person in. */
export function returnedPage (words: Words, next: string): Html {
  return narrow(words, words.signOn, html`<p><a href="${next}">${words.signOnOnwards}</a></p>`, { head: onwards(next) })
}

/** Whether the account with which a person has come back is to be linked: they prove that they are the user. */
export function linkAccountPage (words: Words, account: { name: string, host: string }, refused?: number): Html {
  const why = refused === undefined
    ? html``
    : notice('bad', html`<p id="refused">${refused === 429 ? words.tooManyCodes : words.proofWrong}</p>`)
  const main = html`<p>${fill(words.signOnLinkAsk, account)}</p>${why}
<form method="post" action="/console/sign-on/link/finish" class="stack">
${textField({ name: 'proof', label: words.proof, type: 'password', autocomplete: 'current-password', required: true })}
<div class="actions"><button>${words.signOnLink}</button><a href="/console/sessions">${words.account}</a></div></form>`
  return narrow(words, words.signOnLink, main)
}

/** Why a person whom a provider has sent back is not signed in. */
export function signOnRefused (words: Words, why: SignOnRefusal): Html {
  const main = html`<p>${words[`signOnRefused_${why}`]}</p><p><a href="/console/sign-in">${words.signIn}</a></p>`
  return narrow(words, words.signOnRefusedTitle, main)
}

/** Why the account of a person who is signed in was not linked. */
export function linkRefused (words: Words, why: SignOnRefusal): Html {
  const main = html`<p>${words[`signOnRefused_${why}`]}</p><p><a href="/console/sessions">${words.account}</a></p>`
  return narrow(words, words.signOnLink, main)
}

const onwards = (url: string): Html => html`<meta http-equiv="refresh" content="0; url=${url}">`
