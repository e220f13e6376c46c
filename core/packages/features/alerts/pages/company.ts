import { type Html, html, type Words } from '@dispatch/plugins/console'
import { wordsOf } from './words.ts'

/** On the page of the company: the way to its alerts. */
export function companyLink (given: Words): Html {
  const words = wordsOf(given)
  return html`<section aria-labelledby="alerts"><h2 id="alerts">${words.alerts}</h2><p>${words.alertsOfCompany}</p>
<div class="actions"><a class="button second" href="/console/alerts">${words.alertsSet}</a></div></section>`
}
