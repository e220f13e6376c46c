import { type CompanyView, fill, type Html, html, radioField, withQuery, wordFor } from '@dispatch/plugins/console'
import type { AdapterDetail } from '../contract/marketplace.ts'
import type { Words } from './words.ts'

type Version = AdapterDetail['versions'][number]
/** A page of the companies. */
export type Companies = { data: CompanyView[], nextCursor: string | null }

type Shown = { companies: Companies, /** The version that a person has chosen from the list. */ version: string | undefined }

/** What an operator can do with an adapter. */
export function actionSections (words: Words, adapter: AdapterDetail, { companies, version }: Shown): Html {
  const { code, enabled, previous, versions, latest, version: now } = adapter
  const desired = versions.find((one) => one.version === (version ?? latest) && one.withdrawn === undefined)
  if (enabled === undefined) {
    return html`${desired === undefined ? html`` : installSection(words, code, desired)}${
      versions.some(({ here }) => here) ? removeSection(words, code) : html``
    }`
  }
  const running = versions.find((one) => one.version === now)
  const newer = desired === undefined || desired.version === now ? html`` : upgradeSection(words, code, desired, running)
  return html`${newer}${previous === undefined ? html`` : rollbackSection(words, code, { now, previous })}${
    offerSection(words, adapter, companies)
  }${enabledSection(words, code, enabled)}${removeSection(words, code)}`
}

/** What it asks for stands in the form: the consent is what was shown, even where the package has changed meanwhile. */
function consentFields ({ version, hosts, services }: Version): Html {
  return html`<input type="hidden" name="version" value="${version}">${
    hosts.map((host) => html`<input type="hidden" name="host" value="${host}">`)
  }${Object.keys(services).map((service) => html`<input type="hidden" name="service" value="${service}">`)}`
}

function installSection (words: Words, code: string, desired: Version): Html {
  const { version, hosts, services } = desired
  return html`<section aria-labelledby="install"><h2 id="install">${fill(words.installTitle, { version })}</h2>
<p>${words.consentIntro}</p>
<dl><dt>${words.hosts}</dt><dd>${listed(words, hosts.map((host) => hostLine(words, host)))}</dd><dt>${words.services}</dt><dd>${
    listed(words, Object.keys(services).map((name) => wordFor(words, 'service', name)))
  }</dd></dl><hr>
<form method="post" action="/console/marketplace/${code}/install">${consentFields(desired)}
<div class="actions"><button>${words.install}</button></div></form></section>`
}

function upgradeSection (words: Words, code: string, desired: Version, running: Version | undefined): Html {
  const hosts = differenceOf(desired.hosts, running?.hosts ?? [])
  const services = differenceOf(Object.keys(desired.services), Object.keys(running?.services ?? {}))
  const isSame = [hosts, services].every(({ more, less }) => more.length === 0 && less.length === 0)
  const named = (names: readonly string[]): string[] => names.map((name) => wordFor(words, 'service', name))
  const rows = ([
    [words.moreHosts, hosts.more.map((host) => hostLine(words, host))],
    [words.moreServices, named(services.more)],
    [words.fewerHosts, hosts.less],
    [words.fewerServices, named(services.less)]
  ] as const).filter(([, names]) => names.length > 0)
  return html`<section aria-labelledby="upgrade"><h2 id="upgrade">${fill(words.upgradeTitle, { version: desired.version })}</h2>
${
    isSame
      ? html`<p>${words.upgradeSame}</p>`
      : html`<p>${words.upgradeAsks}</p><dl>${
        rows.map(([title, names]) => html`<dt>${title}</dt><dd>${names.map((name) => html`<div>${name}</div>`)}</dd>`)
      }</dl><hr>`
  }
<form method="post" action="/console/marketplace/${code}/upgrade">${consentFields(desired)}
<p class="quiet">${words.upgradeIntro}</p>${
    forceField(words, 'upgrade')
  }<div class="actions"><button>${words.upgrade}</button></div></form></section>`
}

function differenceOf (after: readonly string[], before: readonly string[]): { more: string[], less: string[] } {
  return { more: after.filter((name) => !before.includes(name)), less: before.filter((name) => !after.includes(name)) }
}

function rollbackSection (words: Words, code: string, { now, previous }: { now: string, previous: string }): Html {
  return html`<section aria-labelledby="rollback"><h2 id="rollback">${fill(words.rollbackTitle, { version: previous })}</h2>
<p>${fill(words.rollbackIntro, { version: now })}</p><form method="post" action="/console/marketplace/${code}/rollback">
${forceField(words, 'rollback')}<div class="actions"><button class="second">${
    fill(words.rollback, { version: previous })
  }</button></div></form></section>`
}

function offerSection (words: Words, { code, offer = 'all' }: AdapterDetail, { data: companies, nextCursor }: Companies): Html {
  const chosen = offer === 'all' ? [] : offer
  // What is offered to a company that does not stand in the list stays offered to it.
  const others = chosen.filter((id) => !companies.some((company) => company.id === id))
  const options = [{ value: 'all', label: words.offerAll }, { value: 'chosen', label: words.offerChosen }]
  return html`<section aria-labelledby="offer"><h2 id="offer">${words.offer}</h2><p>${words.offerIntro}</p>
<form method="post" action="/console/marketplace/${code}/offer">${
    radioField({ name: 'to', label: words.offerTo, value: offer === 'all' ? 'all' : 'chosen', options })
  }<fieldset><legend>${words.companies}</legend>${
    companies.map(({ id, name }) =>
      html`<div class="choice"><input type="checkbox" id="company-${String(id)}" name="company" value="${String(id)}"${
        chosen.includes(id) ? html` checked` : html``
      }><label for="company-${String(id)}">${name} <span class="quiet">${String(id)}</span></label></div>`
    )
  }${others.map((id) => html`<input type="hidden" name="company" value="${String(id)}">`)}</fieldset>
${forceField(words, 'offer')}<div class="actions"><button class="second">${words.save}</button></div></form>${
    nextCursor === null
      ? html``
      : html`<hr><p><a href="${withQuery(`/console/marketplace/${code}`, { companies: nextCursor })}" rel="next">${words.offerMore}</a></p>`
  }</section>`
}

/** For changes that companies would notice. */
function forceField (words: Words, form: string): Html {
  return html`<div class="choice"><input type="checkbox" id="${form}-force" name="force" value="true"><label for="${form}-force">${words.forceChange}</label></div>`
}

function enabledSection (words: Words, code: string, isEnabled: boolean): Html {
  const [title, intro, action] = isEnabled
    ? [words.disable, words.disableIntro, 'disable']
    : [words.enable, words.enableIntro, 'enable']
  return html`<section aria-labelledby="enabled"><h2 id="enabled">${title}</h2><p>${intro}</p>
<form method="post" action="/console/marketplace/${code}/${action}"><div class="actions"><button class="second">${title}</button></div></form>
</section>`
}

function removeSection (words: Words, code: string): Html {
  return html`<section aria-labelledby="remove"><h2 id="remove">${words.removeAdapter}</h2><p>${words.removeAdapterIntro}</p>
<form method="post" action="/console/marketplace/${code}/remove"><div class="actions"><button class="danger">${words.removeAdapter}</button></div>
</form></section>`
}

/** A host that it asks for; of a wildcard also how wide it is, and where settings of each configuration name it, that they do. */
export function hostLine (words: Words, host: string): Html {
  const width = host.startsWith('*.')
    ? fill(words.wildcardHost, { suffix: host.slice(1) })
    : host.includes('{')
    ? words.configuredHost
    : undefined
  return width === undefined ? html`${host}` : html`${host} <div class="quiet">${width}</div>`
}

function listed (words: Words, names: readonly (string | Html)[]): Html {
  return names.length === 0 ? html`<span class="quiet">${words.none}</span>` : html`${names.map((name) => html`<div>${name}</div>`)}`
}
