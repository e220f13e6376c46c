import { html, type PageParts } from '@dispatch/plugins/console'
import { passwordLinkSection } from './password-link.ts'
import { wordsOf } from './words.ts'

/** What other pages of the console show of links. */
export const parts: PageParts = {
  signInLinks: (words, beside) =>
    html`<a href="/console/forgotten"${beside ? html` target="_blank"` : html``}>${wordsOf(words).forgotten}</a>`,
  users: (words) => html`<hr><p><a href="/console/company/invitations">${wordsOf(words).invitationNew}</a></p>`,
  userPassword: passwordLinkSection
}
