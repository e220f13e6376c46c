import { copied, fill, type Html, html, notice, page, time } from '@dispatch/plugins/console'
import type { PasswordLinkView } from '../contract/links.ts'
import type { Visit } from './words.ts'

/** The page that shows a one-time link, once, or says that it is mailed. */
export function linkPage (
  visit: Visit,
  { url, token, expiresAt }: PasswordLinkView,
  { title, intro, email, back }: { title: string, intro: string, email: string, back: Html }
): Html {
  const { words } = visit
  const shown = url ?? token
  const main = html`${
    notice('good', html`<p>${shown === null ? fill(words.linkMailed, { email }) : intro}</p>`)
  }<section aria-label="${words.link}">${shown === null ? html`` : html`<p>${copied(words, shown)}</p>`}
<p class="quiet">${words.linkUntil} ${time(expiresAt)}</p></section><p>${back}</p>`
  return page({ ...visit, path: '/console/company' }, { title, section: 'company', main })
}
