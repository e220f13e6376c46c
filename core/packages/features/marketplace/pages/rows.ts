import { badge, documentTypeName, fill, type Html, html, numberOf, reasonOf, time, wordFor } from '@dispatch/plugins/console'
import type { AdapterDetail } from '../contract/marketplace.ts'
import { hostLine } from './adapter-actions.ts'
import type { Words } from './words.ts'

type Row = readonly [title: string, value: string | Html]
type Health = NonNullable<AdapterDetail['health']>
type Version = AdapterDetail['versions'][number]

/** What an adapter is, can and needs, and how it does: the rows of its page. */
export function rowsOf (words: Words, adapter: AdapterDetail): Row[] {
  const { version, latest, publisher, tier, services, features, languages, hosts, licence, usedBy, users = [], health, settings } = adapter
  return [
    [words.publisher, html`${publisher ?? words.unnamedPublisher} · ${wordFor(words, 'tier', tier)}`],
    [words.version, html`${version}${latest === version ? html`` : html` (${fill(words.latestIs, { version: latest })})`}`],
    [words.services, html`${Object.entries(services).map(([name, service]) => serviceLine(words, name, service))}`],
    [words.features, features.length === 0 ? words.none : features.map((feature) => wordFor(words, 'feature', feature)).join(' · ')],
    [words.languages, languages.length === 0 ? words.languagesUntold : languages.join(', ')],
    [words.hosts, html`${hosts.map((host) => html`<div>${hostLine(words, host)}</div>`)}`],
    ...settings === undefined ? [] : [[words.secretsNeeded, secretsOf(words, settings)] as const],
    [words.licence, licence],
    ...usedBy === undefined ? [] : [[words.use, useOf(words, usedBy, users)] as const],
    ...health === undefined ? [] : [[words.health, healthOf(words, health)] as const, [words.lastDay, lastDayOf(words, health)] as const]
  ]
}

/** The result of the kit for a version, and who reports it. */
export function conformanceOf (words: Words, { status, passed = 0, by = '' }: Version['conformance']): string {
  return fill(wordFor(words, 'conformance', status), { n: passed, by })
}

function useOf (words: Words, usedBy: number, users: NonNullable<AdapterDetail['users']>): Html {
  const names = users.map(({ companyId, company }) => `${company} (${companyId})`)
  return html`${fill(words.usedBy, { n: usedBy })}${names.length === 0 ? html`` : html`<div class="quiet">${names.join(', ')}</div>`}`
}

/** The titles of the settings that are secret, those that it needs in any case first. */
function secretsOf (
  words: Words,
  { properties = {}, required = [] }: { properties?: object, required?: readonly string[] }
): string | Html {
  const secrets = Object.entries(properties as Readonly<Record<string, { title?: string, 'x-secret'?: boolean }>>)
    .filter(([, schema]) => schema['x-secret'] === true)
  const [needed, others] = [secrets.filter(([name]) => required.includes(name)), secrets.filter(([name]) => !required.includes(name))]
  const titles = (all: typeof secrets): string => all.map(([name, { title = name }]) => title).join(', ')
  if (secrets.length === 0) return words.none
  return html`<div lang="en">${titles(needed)}</div>${
    others.length === 0 ? html`` : html`<div class="quiet">${words.secretsPerhaps}<span lang="en">${titles(others)}</span></div>`
  }`
}

function serviceLine (words: Words, name: string, { documentTypes = [], countries }: AdapterDetail['services'][string]): Html {
  const limits = [documentTypes.map((type) => documentTypeName(words, type)).join(', '),
    countries === undefined ? words.allCountries : countries.join(', ')]
  return html`<div>${wordFor(words, 'service', name)} <span class="quiet">${limits.filter((text) => text !== '').join(' · ')}</span></div>`
}

function healthOf (words: Words, { state, reason, risk, crashes, lastCrash }: Health): Html {
  return html`${badge(words, 'health', state)} ${fill(words.crashes, { n: crashes })}${
    reason === undefined ? html`` : html`<div>${reasonOf(words, { reason })}</div>`
  }${risk === undefined ? html`` : html`<div>${reasonOf(words, { reason: risk })}</div>`}${
    lastCrash === undefined ? html`` : html`<div class="quiet">${time(lastCrash.at)} ${reasonOf(words, lastCrash)}</div>`
  }`
}

function lastDayOf (words: Words, { lastDay }: Health): string | Html {
  if (lastDay.length === 0) return words.lastDayNone
  return html`${
    lastDay.map(({ version, calls, accepted, failures, latency }) => {
      const failed = Object.entries(failures).sort(([, a], [, b]) => b - a)
        .map(([word, n]) => `${fill(wordFor(words, 'cause', word), { provider: words.theVendor })}${words.colon}${numberOf(words, n)}`)
      return html`<div>${fill(words.lastDayCalls, { version, calls: numberOf(words, calls), accepted: numberOf(words, accepted) })}${
        latency === undefined ? html`` : html` ${
          fill(words.lastDayLatency, {
            p50: numberOf(words, latency.p50),
            p95: numberOf(words, latency.p95)
          })
        }`
      }${failed.length === 0 ? html`` : html`<div class="quiet">${failed.join(' · ')}</div>`}</div>`
    })
  }`
}
