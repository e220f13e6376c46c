import { type Fills, type Found, type Html, html, type Visit, withQuery, type Words } from '@dispatch/plugins/console'
import type { ContactView, OwnDetails } from '../contract/contacts.ts'
import { wordsOf } from './forms.ts'

/** The contacts and own details with which the form of a request can be filled. */
export const fills: Fills = {
  async own ({ api }) {
    const { seller = {}, bankDetails = {} } = await api.read<OwnDetails>('/api/v1/company/details')
    return { party: { ...seller }, account: { ...bankDetails } }
  },
  async recipients ({ api }, q) {
    const { data } = await api.read<{ data: ContactView[] }>(withQuery('/api/v1/contacts', { q, limit: '50' }))
    return data.map(({ id: _id, createdAt: _created, updatedAt: _updated, ...party }) => party)
  },
  page: '/console/contacts'
}

/** On the page of the company: the way to its details. */
export function companyLink (given: Words): Html {
  const words = wordsOf(given)
  return html`<section aria-labelledby="own-details"><h2 id="own-details">${words.ownDetails}</h2><p>${words.ownDetailsIntro}</p>
<div class="actions"><a class="button second" href="/console/company/details">${words.ownDetailsSet}</a></div></section>`
}

/** The contacts with a text in their name or address. */
export async function findContacts ({ words, api }: Visit, q: string): Promise<Found[]> {
  const { data } = await api.read<{ data: ContactView[] }>(withQuery('/api/v1/contacts', { q, limit: '6' }))
  return data.map(({ id, name, city = '' }) => ({
    kind: wordsOf(words).contacts,
    title: name,
    path: `/console/contacts/${id}`,
    about: city
  }))
}
