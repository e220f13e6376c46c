import type { ProviderProcess } from '@dispatch/core/source'
import { sdkVersion, widthInWords } from '@dispatch/host'
import { isForSdk, type PackageManifest } from '@dispatch/marketplace'
import { gapsInWords, type Reach } from '@dispatch/sandbox'
import semver from 'semver'
import type { AdapterDetail, AdapterEffect, AdapterEffects, AdapterView, MarketplaceQuery,
  RequestedChange } from '../contract/marketplace.ts'
import type { PackageSummary } from '../store/adapters.ts'
import type { VersionCalls } from '../store/last-day.ts'
import { companiesInWords, type NamedCompany } from '../store/named-company.ts'
import { rolesIn } from '../store/roles.ts'
import { stoppedBy } from './effects.ts'
import { type KnownAdapter, type KnownVersion, latestOf, shownOf, versionsOf } from './offers.ts'
import type { PackagePreview } from './preview.ts'
import { asSentence } from './sentence.ts'

/** Whom an adapter is shown to: an operator sees what is to be installed, and to whom what is installed is offered. */
export type Reader = { companyId: number, isOperator: boolean }

/** The adapters that a reader sees and asks for, by code, from the one after `cursor` on. */
export function viewsOf (records: readonly KnownAdapter[], reader: Reader, query: MarketplaceQuery): AdapterView[] {
  const { limit = 25, cursor = '' } = query
  const seen = records.filter((record) => isSeen(record, reader) && record.code > cursor)
  return seen.map((record) => viewOf(record, reader)).filter((view) => isSelected(view, query)).slice(0, limit)
}

/**
 * What is known of an adapter beside the database and the catalogs: who uses it, what became of its calls, who runs it, what its processes
 * could reach, the companies that have settings which it does not accept, and the package of its latest version.
 */
export type Surroundings = {
  users: readonly NamedCompany[]
  lastDay: readonly VersionCalls[]
  processes: readonly ProviderProcess[]
  gaps: readonly Reach[]
  unserved: readonly NamedCompany[]
  preview: PackagePreview | undefined
}

/** Undefined where the reader does not see it. Without the surroundings it is told without its health. */
export function detailOf (known: KnownAdapter, reader: Reader, around?: Surroundings): AdapterDetail | undefined {
  if (!isSeen(known, reader)) return undefined
  const shown = shownOf(known)
  const manifestOf = manifestsOf(around?.preview)
  const manifest = manifestOf(shown)
  const health = around && healthOf(known, around)
  return {
    ...viewOf(known, reader),
    licence: shown.offer.licence,
    ...(manifest !== undefined && { settings: manifest.provider.settings, manifest }),
    ...(health !== undefined && { health }),
    ...(around !== undefined && known.adapter !== undefined && {
      users: around.users.map(({ id: companyId, name: company }) => ({ companyId, company }))
    }),
    ...(around?.preview !== undefined && 'problem' in around.preview && { problem: around.preview.problem }),
    versions: (reader.isOperator ? versionsOf(known) : [shown]).map((version) => versionView(version, manifestOf(version)))
  }
}

/** Effects that are named at most. */
const maxEffects = 1_000

/** What a change does, those whom it stops first. A version is disabled, and revoked, whomever that stops. */
export function effectsView (effects: readonly AdapterEffect[], { change }: Pick<RequestedChange, 'change'>): AdapterEffects {
  const stopped = stoppedBy(effects)
  const counts = Object.fromEntries([...Map.groupBy(effects, ({ how }) => how)].map(([how, all]) => [how, all.length]))
  return {
    counts,
    refused: stopped.length > 0 && change !== 'disable' && change !== 'revocation',
    effects: [...stopped, ...effects.filter((effect) => !stopped.includes(effect))].slice(0, maxEffects)
  }
}

/** The manifest of a version, where it is here or was looked into. */
function manifestsOf (preview: PackagePreview | undefined): (version: KnownVersion) => PackageManifest | undefined {
  return ({ taken, integrity }) =>
    taken?.manifest ?? (preview !== undefined && 'manifest' in preview && preview.integrity === integrity ? preview.manifest : undefined)
}

function versionView (
  { version, integrity, size, at, sdk, conformance, attested, withdrawn, taken, offer: { licence, services, hosts } }: KnownVersion,
  manifest: PackageManifest | undefined
): AdapterDetail['versions'][number] {
  return {
    version,
    integrity,
    size,
    at,
    sdk,
    licence,
    services,
    hosts,
    wildcards: hosts.map(widthInWords).filter((words) => words !== undefined),
    conformance: attested !== undefined
      ? { status: 'passed', ...attested }
      : conformance.status === 'passed'
      ? { ...conformance, status: 'said_by_author' }
      : conformance,
    ...(taken?.registry !== undefined && { registry: taken.registry }),
    ...(typeof taken?.replayed === 'number' && { replayed: taken.replayed }),
    ...(manifest !== undefined && { changelog: manifest.changelog }),
    here: taken !== undefined,
    ...(withdrawn !== undefined && { withdrawn })
  }
}

/** How an adapter that is installed does. */
function healthOf (known: KnownAdapter, { processes, gaps, unserved, lastDay }: Surroundings): AdapterDetail['health'] {
  const { taken } = shownOf(known)
  if (known.adapter === undefined || taken === undefined) return undefined
  const { count, last } = taken.crashes
  return {
    ...servingOf(runningOf(known, taken, processes), unserved),
    ...(gaps.length > 0 && { risk: gapsInWords(gaps) }),
    lastDay: lastDay.map(({ failures, ...calls }) => ({ ...calls, failures: { ...failures } })),
    crashes: count,
    ...(last !== undefined && { lastCrash: { at: last.at.toISOString(), reason: last.why } })
  }
}

type Running = Pick<NonNullable<AdapterDetail['health']>, 'state' | 'reason'>

/** An adapter that runs, and refuses what companies dispatch, does not do well. */
function servingOf ({ state, reason }: Running, unserved: readonly NamedCompany[]): Running {
  if (state === 'stopped' || unserved.length === 0) return { state, ...(reason !== undefined && { reason }) }
  const who = unserved.length === 1 ? 'the company' : `${unserved.length} companies:`
  const own = `It does not accept the settings of ${who} ${
    companiesInWords(unserved)
  }. Their dispatches are refused until these are saved again.`
  return { state: 'degraded', reason: reason === undefined ? own : `${reason} ${own}` }
}

function runningOf (
  { code, adapter, users, packages }: KnownAdapter,
  { revoked }: PackageSummary,
  processes: readonly ProviderProcess[]
): Running {
  const running = rolesIn(adapter, packages)?.running
  if (revoked !== null && running === undefined) {
    const stopped = users === 1 ? 'one company' : `${users} companies`
    return { state: 'stopped', reason: `The version was revoked: ${asSentence(revoked)} It stops ${stopped}; roll back, or upgrade.` }
  }
  if (running === undefined) return { state: 'stopped', reason: 'It is disabled.' }
  if (processes.length === 0) return { state: 'stopped', reason: 'The service is down.' }
  const runs = ({ providers }: ProviderProcess): boolean => providers.some((one) => one.code === code && one.digest === running.integrity)
  const idle = processes.filter((process) => !runs(process)).length
  if (idle === 0) {
    return revoked === null
      ? { state: 'ok' }
      : { state: 'degraded', reason: `The version was revoked: ${asSentence(revoked)} Version ${running.version} goes on in its place.` }
  }
  const reason = `${idle} of ${processes.length} processes do not run it: GET /api/v1/providers says why.`
  return { state: idle === processes.length ? 'stopped' : 'degraded', reason }
}

function isSelected ({ code, name, publisher = '', state, services, features, languages }: AdapterView, query: MarketplaceQuery): boolean {
  const words = query.q?.toLowerCase().split(/\s+/) ?? []
  const offered = query.service === undefined ? Object.values(services) : [services[query.service]].filter((one) => one !== undefined)
  const has = (field: 'documentTypes' | 'countries', desired: string | undefined): boolean =>
    desired === undefined || offered.some((service) => service[field]?.includes(desired) ?? field === 'countries')
  return offered.length > 0 && has('documentTypes', query.documentType) && has('countries', query.country) &&
    (query.state === undefined || query.state === state) && (query.feature === undefined || features.includes(query.feature)) &&
    (query.language === undefined || languages.includes(query.language)) &&
    words.every((word) => [code, name, publisher, ...Object.keys(services)].some((text) => text.toLowerCase().includes(word)))
}

function isSeen ({ adapter }: KnownAdapter, { companyId, isOperator }: Reader): boolean {
  return isOperator || (adapter?.enabled === true && (adapter.companies === null || adapter.companies.includes(companyId)))
}

function viewOf (known: KnownAdapter, { isOperator }: Reader): AdapterView {
  const { code, adapter, packages, users, tier } = known
  const { version, publisher, withdrawn, vouched, ...shown } = shownOf(known)
  const { name, hosts, services, features = [], languages = [] } = shown.offer
  const previous = packages.find(({ integrity }) => integrity === adapter?.previous)?.version
  const latest = latestOf(known).version
  return {
    code,
    name,
    state: stateOf(known, latest),
    version,
    latest,
    ...(publisher !== null && { publisher }),
    // Whoever writes a package names its publisher: only a catalog knows that it is so.
    tier: vouched ? tier : 'private',
    services,
    features: [...features],
    languages: [...languages],
    hosts,
    ...(withdrawn !== undefined && { reason: withdrawn.reason }),
    ...(adapter !== undefined && { enabled: adapter.enabled }),
    ...(adapter !== undefined && isOperator && {
      usedBy: users,
      ...(previous !== undefined && { previous }),
      offer: adapter.companies === null ? 'all' as const : [...adapter.companies]
    })
  }
}

function stateOf (known: KnownAdapter, latest: string): AdapterView['state'] {
  const { sdk, version, withdrawn } = shownOf(known)
  if (withdrawn?.state === 'revoked') return 'revoked'
  if (!isForSdk(sdk, sdkVersion)) return 'incompatible'
  if (known.adapter === undefined) return 'available'
  return semver.gt(latest, version) ? 'updatable' : 'installed'
}
