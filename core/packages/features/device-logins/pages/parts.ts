import { html, type PageParts } from '@dispatch/plugins/console'
import { wordsOf } from './words.ts'

/** What the page for developers shows of logins of devices. */
export const parts: PageParts = {
  keys: (words) => html`<p><a class="button second" href="/console/device">${wordsOf(words).deviceLink}</a></p>`
}
