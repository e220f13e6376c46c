import { type Html, html } from '../../html.ts'
import { sentenceOf } from '../form/sentence.ts'
import { fill, type Words } from '../language/language.ts'
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

/** The most characters of XML that a page shows, and the most broken rules of one profile. */
const most = { xml: 100_000, broken: 200 }

/** Which profiles of e-invoices data fit: a table of all, and of each its XML and its rules. */
export function profilesSections (words: Words, { data }: ProfilesView): Html {
  const rows = data.map(({ profile, format, fits, broken, passed }) =>
    html`<tr><th scope="row"><a href="#${idOf(profile, format)}">${nameOf(words, profile)}, ${format}</a></th><td><span class="badge ${
      fits ? 'good' : 'bad'
    }">${fits ? words.profileFits : words.profileBroken}</span></td><td>${countOf(broken, 'error')}</td><td>${
      countOf(broken, 'warning')
    }</td><td>${String(passed.length)}</td></tr>\n`
  )
  return html`<section aria-labelledby="profiles"><h2 id="profiles">${words.profiles}</h2><p>${words.profilesIntro}</p>${
    table(words.profiles, [words.profile, words.status, words.profileErrors, words.profileWarnings, words.profilePassed], rows)
  }</section>${data.map((one) => profileSection(words, one))}`
}

function profileSection (words: Words, { profile, format, xml, broken, passed }: ProfileView): Html {
  const id = idOf(profile, format)
  const shown = broken.slice(0, most.broken).map((one) =>
    html`<tr><th scope="row">${one.code}</th><td>${
      one.severity === 'error' ? words.profileError : words.profileWarning
    }</td><td><code>${one.path}</code></td><td>${sentenceOf(words, one)}</td></tr>\n`
  )
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${nameOf(words, profile)}, ${format}</h2>${
    shown.length === 0
      ? html`<p>${words.profileNothing}</p>`
      : table(fill(words.profileRulesOf, { profile, format }), [words.profileRule, words.profileWeight, words.profilePlace,
        words.profileSentence], shown)
  }${xml === null ? html`` : xmlOf(words, xml)}<details><summary>${words.profilePassed}${words.colon}${String(passed.length)}</summary><p>${
    passed.map(({ code }) => code).join(', ')
  }</p></details></section>`
}

function xmlOf (words: Words, xml: string): Html {
  return xml.length > most.xml
    ? html`<p>${words.profileXmlLong}</p>`
    : html`<details><summary>XML</summary><pre tabindex="0">${xml}</pre></details>`
}

function countOf (broken: ProfileView['broken'], severity: 'error' | 'warning'): string {
  return String(broken.filter((one) => one.severity === severity).length)
}

function idOf (profile: string, format: string): string {
  return `profile-${profile}-${format}`
}

/** The name of a profile, as the form of an invoice has it. */
function nameOf (words: Words, profile: string): string {
  const name = `field_eInvoiceProfile_${profile}`
  return Object.hasOwn(words, name) ? (words as unknown as Record<string, string>)[name] ?? profile : profile
}
