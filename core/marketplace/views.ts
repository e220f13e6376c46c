import { isForSdk, offerOf } from '@dispatch/marketplace'
import semver from 'semver'
import type { AdapterDetail, AdapterView, MarketplaceQuery } from '../contract/marketplace.ts'
import core from '../package.json' with { type: 'json' }
import type { AdapterRecord, PackageSummary } from '../store/vendor/adapters.ts'

/** Whom an adapter is shown to: an operator sees what is to be installed, and to whom what is installed is offered. */
export type Reader = { companyId: number, isOperator: boolean }

/** The adapters that a reader sees and asks for, by code, from the one after `cursor` on. */
export function viewsOf (records: readonly AdapterRecord[], reader: Reader, query: MarketplaceQuery): AdapterView[] {
  const { limit = 25, cursor = '' } = query
  const seen = records.filter((record) => isSeen(record, reader) && record.code > cursor)
  return seen.map((record) => viewOf(record, reader)).filter((view) => isWanted(view, query)).slice(0, limit)
}

/** Undefined where the reader does not see it. */
export function detailOf (record: AdapterRecord, reader: Reader): AdapterDetail | undefined {
  if (!isSeen(record, reader)) return undefined
  const shown = shownOf(record)
  const versions = reader.isOperator ? record.packages : [shown]
  return {
    ...viewOf(record, reader),
    manifest: shown.manifest,
    versions: versions.map(({ version, integrity, size, at }) => ({ version, integrity, size, at: at.toISOString() }))
  }
}

function isWanted ({ code, name, publisher = '', state, services }: AdapterView, query: MarketplaceQuery): boolean {
  const words = query.q?.toLowerCase().split(/\s+/) ?? []
  const offered = query.service === undefined ? Object.values(services) : [services[query.service]].filter((one) => one !== undefined)
  const has = (field: 'documentTypes' | 'countries', wanted: string | undefined): boolean =>
    wanted === undefined || offered.some((service) => service[field]?.includes(wanted) ?? field === 'countries')
  return offered.length > 0 && has('documentTypes', query.documentType) && has('countries', query.country) &&
    (query.state === undefined || query.state === state) &&
    words.every((word) => [code, name, publisher].some((text) => text.toLowerCase().includes(word)))
}

function isSeen ({ adapter }: AdapterRecord, { companyId, isOperator }: Reader): boolean {
  return isOperator || (adapter?.enabled === true && (adapter.companies === null || adapter.companies.includes(companyId)))
}

function viewOf (record: AdapterRecord, { isOperator }: Reader): AdapterView {
  const { code, adapter, packages, users } = record
  const shown = shownOf(record)
  const { name, hosts, services } = offerOf(shown.manifest)
  const previous = packages.find(({ integrity }) => integrity === adapter?.previous)?.version
  const latest = latestOf(packages).version
  return {
    code,
    name,
    state: stateOf(record, shown, latest),
    version: shown.version,
    latest,
    ...(shown.publisher.author !== null && { publisher: shown.publisher.author }),
    services,
    hosts,
    ...(adapter !== undefined && { enabled: adapter.enabled }),
    ...(adapter !== undefined && isOperator && {
      ...(previous !== undefined && { previous }),
      offer: adapter.companies === null ? 'all' as const : [...adapter.companies],
      usedBy: users
    })
  }
}

function stateOf ({ adapter }: AdapterRecord, shown: PackageSummary, latest: string): AdapterView['state'] {
  if (!isForSdk(shown.manifest.sdk, core.version)) return 'incompatible'
  if (adapter === undefined) return 'available'
  return semver.gt(latest, shown.version) ? 'updatable' : 'installed'
}

/** The package that runs, else the latest. */
function shownOf ({ adapter, packages }: AdapterRecord): PackageSummary {
  return packages.find(({ integrity }) => integrity === adapter?.integrity) ?? latestOf(packages)
}

function latestOf (packages: readonly PackageSummary[]): PackageSummary {
  const [latest] = packages.toSorted((a, b) => semver.rcompare(a.version, b.version))
  if (latest === undefined) throw new TypeError('An adapter has a package.')
  return latest
}
