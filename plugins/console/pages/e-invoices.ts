import { type Html, html } from '../../html.ts'
import { placeIn } from '../form/place.ts'
import { sentenceOf } from '../form/sentence.ts'
import type { Words } from '../language/language.ts'
import { table } from './layout.ts'

/** Data in one profile and format of e-invoices, as the API tells it. */
type ProfileView = {
  profile: string
  format: string
  fits: boolean
  xml: string | null
  broken: { path: string, code: string, message: string, severity: 'error' | 'warning' }[]
  passed: { code: string, severity: 'error' | 'warning' }[]
}

export type ProfilesView = { data: ProfileView[] }

/** A profile in one format. */
type Choice = { profile: string, format: string }

/** The most characters of XML that a page shows, and the most broken rules. */
const max = { xml: 50_000, broken: 100 }

/**
 * Which profiles of e-invoices data fit: a table of all, and of one of them its XML and its rules. `chosen`: the one; `linkTo`: the page
 * with another one.
 */
export function profilesSections (
  words: Words,
  { data }: ProfilesView,
  { chosen, linkTo }: { chosen: Partial<Choice>, linkTo: (one: Choice) => string }
): Html {
  const fitting = data.filter(({ profile, format }) => profile === chosen.profile && (chosen.format ?? format) === format)
  const [shown] = [...fitting, ...data]
  const rows = data.map((one) => {
    const { profile, format, fits, broken, passed } = one
    return html`<tr><th scope="row"><a href="${linkTo({ profile, format })}#profile"${
      one === shown ? html` aria-current="true"` : html``
    }>${nameOf(words, one)}</a></th><td><span class="badge ${fits ? 'good' : 'bad'}">${
      fits ? words.profileFits : words.profileBroken
    }</span></td><td>${countOf(broken, 'error')}</td><td>${countOf(broken, 'warning')}</td><td>${String(passed.length)}</td></tr>\n`
  })
  return html`<section aria-labelledby="profiles"><h2 id="profiles">${words.profiles}</h2><p>${words.profilesIntro}</p>${
    table(words.profiles, [words.profile, words.status, words.profileErrors, words.profileWarnings, words.profilePassed], rows)
  }</section>${shown === undefined ? html`` : profileSection(words, shown)}`
}

function profileSection (words: Words, view: ProfileView): Html {
  const { xml, broken, passed } = view
  const rows = broken.slice(0, max.broken).map((one) =>
    html`<tr><th scope="row"><code>${one.code}</code></th><td>${
      one.severity === 'error' ? words.profileError : words.profileWarning
    }</td><td>${placeIn(words, one.path)}</td><td>${sentenceOf(words, one)}</td></tr>\n`
  )
  return html`<section aria-labelledby="profile"><h2 id="profile">${nameOf(words, view)}</h2>${
    rows.length === 0
      ? html`<p>${words.profileNothing}</p>`
      : table(words.profileRules, [words.profileRule, words.profileWeight, words.profilePlace, words.profileSentence], rows)
  }${xml === null ? html`` : xmlOf(words, xml)}<details><summary>${words.profilePassed}${words.colon}${
    String(passed.length)
  }</summary><p><code>${passed.map(({ code }) => code).join(' ')}</code></p></details></section>`
}

function xmlOf (words: Words, xml: string): Html {
  return xml.length > max.xml
    ? html`<p>${words.profileXmlLong}</p>`
    : html`<details open><summary>XML</summary><pre tabindex="0">${xml}</pre></details>`
}

function countOf (broken: ProfileView['broken'], severity: 'error' | 'warning'): string {
  return String(broken.filter((one) => one.severity === severity).length)
}

/** The name of a profile, as the form of an invoice has it, and its format. */
function nameOf (words: Words, { profile, format }: Choice): string {
  const names = words as unknown as Readonly<Record<string, string>>
  return `${names[`field_eInvoiceProfile_${profile}`] ?? profile}, ${names[`field_eInvoiceFormat_${format}`] ?? format}`
}
