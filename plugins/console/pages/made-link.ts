import { type Html, html } from '../../html.ts'
import type { PasswordLinkView } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'
import { notice, page, time } from './layout.ts'

/** The page that shows a one-time link, once. */
export function linkPage (
  visit: Visit,
  { url, token, expiresAt }: PasswordLinkView,
  { title, intro, back }: { title: string, intro: string, back: Html }
): Html {
  const { words } = visit
  const main = html`${notice('good', html`<p>${intro}</p>`)}<section aria-label="${words.link}"><p><code>${url ?? token}</code></p>
<p class="quiet">${words.linkUntil} ${time(expiresAt)}</p></section><p>${back}</p>`
  return page({ ...visit, path: '/console/company' }, { title, section: 'company', main })
}
