import { isForSdk } from '@dispatch/marketplace'
import semver from 'semver'
import type { AdapterDetail, AdapterView, MarketplaceQuery } from '../contract/marketplace.ts'
import core from '../package.json' with { type: 'json' }
import { type KnownAdapter, type KnownVersion, versionsOf } from './offers.ts'

/** Whom an adapter is shown to: an operator sees what is to be installed, and to whom what is installed is offered. */
export type Reader = { companyId: number, isOperator: boolean }

/** The adapters that a reader sees and asks for, by code, from the one after `cursor` on. */
export function viewsOf (records: readonly KnownAdapter[], reader: Reader, query: MarketplaceQuery): AdapterView[] {
  const { limit = 25, cursor = '' } = query
  const seen = records.filter((record) => isSeen(record, reader) && record.code > cursor)
  return seen.map((record) => viewOf(record, reader)).filter((view) => isWanted(view, query)).slice(0, limit)
}

/** Undefined where the reader does not see it. */
export function detailOf (known: KnownAdapter, reader: Reader): AdapterDetail | undefined {
  if (!isSeen(known, reader)) return undefined
  const shown = shownOf(known)
  const versions = reader.isOperator ? versionsOf(known) : [shown]
  return {
    ...viewOf(known, reader),
    ...(shown.taken !== undefined && { manifest: shown.taken.manifest }),
    versions: versions.map(({ version, integrity, size, at, conformance, withdrawn, taken }) => ({
      version,
      integrity,
      size,
      at,
      conformance: conformance.status,
      here: taken !== undefined,
      ...(withdrawn !== undefined && { withdrawn })
    }))
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

function isSeen ({ adapter }: KnownAdapter, { companyId, isOperator }: Reader): boolean {
  return isOperator || (adapter?.enabled === true && (adapter.companies === null || adapter.companies.includes(companyId)))
}

function viewOf (known: KnownAdapter, { isOperator }: Reader): AdapterView {
  const { code, adapter, packages, users, tier } = known
  const { version, publisher, withdrawn, ...shown } = shownOf(known)
  const { name, hosts, services } = shown.offer
  const previous = packages.find(({ integrity }) => integrity === adapter?.previous)?.version
  const latest = latestOf(known).version
  return {
    code,
    name,
    state: stateOf(known, latest),
    version,
    latest,
    ...(publisher !== null && { publisher }),
    tier,
    services,
    hosts,
    ...(withdrawn !== undefined && { reason: withdrawn.reason }),
    ...(adapter !== undefined && { enabled: adapter.enabled }),
    ...(adapter !== undefined && isOperator && {
      ...(previous !== undefined && { previous }),
      offer: adapter.companies === null ? 'all' as const : [...adapter.companies],
      usedBy: users
    })
  }
}

function stateOf (known: KnownAdapter, latest: string): AdapterView['state'] {
  const { sdk, version, withdrawn } = shownOf(known)
  if (withdrawn?.state === 'revoked') return 'revoked'
  if (!isForSdk(sdk, core.version)) return 'incompatible'
  if (known.adapter === undefined) return 'available'
  return semver.gt(latest, version) ? 'updatable' : 'installed'
}

/** The version that runs, else the latest. */
function shownOf (known: KnownAdapter): KnownVersion {
  return versionsOf(known).find(({ taken }) => taken !== undefined && taken.integrity === known.adapter?.integrity) ?? latestOf(known)
}

/** The newest version that can be installed, else the newest of all. */
function latestOf (known: KnownAdapter): KnownVersion {
  const versions = versionsOf(known)
  const latest = versions.find(({ withdrawn, sdk }) => withdrawn === undefined && isForSdk(sdk, core.version)) ?? versions[0]
  if (latest === undefined) throw new TypeError('An adapter has a version.')
  return latest
}
