import type { JsonObject } from '@dispatch/common'
import { DispatchError, presentable } from '@dispatch/contract'
import { isSamePublisher, type Publisher, publisherInWords, widthInWords } from '@dispatch/host'
import { offerOf } from '@dispatch/marketplace'
import semver from 'semver'
import type { AdapterEdit, AdapterUse, Before } from '../store/adapter-changes.ts'
import type { AdapterState, Consent, PackageSummary } from '../store/adapters.ts'
import { companiesInWords } from '../store/named-company.ts'
import { asSentence } from './sentence.ts'

/** A change of an adapter: what it becomes, from what it is. Throws a DispatchError where it may not be made. */
export type Decision = (code: string, before: Before) => AdapterEdit | Promise<AdapterEdit>

/** Installs a version, the latest unless told. */
export function installing ({ version, consent }: { version?: string | undefined, consent: Consent }): Decision {
  return (code, { adapter, packages, pin }) => {
    const desired = packageOf(code, packages, version)
    if (adapter !== undefined) {
      throw conflict('already_installed',
        `"${code}" is installed in version ${versionOf(packages, adapter.integrity)}; another one is an upgrade.`)
    }
    requireSamePublisher(code, pin, desired)
    requireUnrevoked(code, desired)
    const agreed = agree(code, desired, consent)
    const after = { integrity: desired.integrity, previous: null, enabled: true, companies: null, consent: agreed }
    return { action: 'adapter.installed', facts: factsOf(desired, agreed), after }
  }
}

/** Replaces the version that runs; it can be rolled back to. */
export function upgrading ({ version, consent }: { version: string, consent: Consent }): Decision {
  return (code, { adapter, packages, pin }) => {
    const before = installed(code, adapter)
    const desired = packageOf(code, packages, version)
    const from = versionOf(packages, before.integrity)
    if (!semver.gt(version, from)) {
      throw conflict('not_newer', `"${code}" is installed in version ${from}, and ${version} is not newer; to go back is a rollback.`)
    }
    requireSamePublisher(code, pin, desired)
    requireUnrevoked(code, desired)
    const agreed = agree(code, desired, {
      hosts: [...before.consent.hosts, ...consent.hosts],
      services: [...before.consent.services, ...consent.services]
    })
    const after = { ...before, integrity: desired.integrity, previous: before.integrity, consent: agreed }
    return { action: 'adapter.upgraded', facts: { from, ...factsOf(desired, agreed) }, after }
  }
}

/** Which version is gone back to, the one before unless told. */
export type Rollback = { version?: string | undefined }

/** Goes back to the version before, from which it can be gone forward again, or to an older one that asks for nothing more. */
export function rollingBack ({ version }: Rollback = {}): Decision {
  return (code, { adapter, packages, pin }) => {
    const before = installed(code, adapter)
    const from = versionOf(packages, before.integrity)
    const desired = packages.find((one) => version === undefined ? one.integrity === before.previous : one.version === version)
    if (desired === undefined) {
      throw conflict('no_version_before', `There is no version${version === undefined ? '' : ` ${version}`} of "${code}" to go back to.`)
    }
    requireUnrevoked(code, desired)
    const isBefore = desired.integrity === before.previous
    if (!isBefore) {
      if (!semver.lt(desired.version, from)) {
        throw conflict('not_older', `"${code}" is installed in version ${from}: ${desired.version} is not older.`)
      }
      requireSamePublisher(code, pin, desired)
    }
    const consent = isBefore ? before.consent : agree(code, desired, before.consent)
    const facts = { from, version: desired.version }
    return { action: 'adapter.rolled_back', facts, after: { ...before, integrity: desired.integrity, previous: before.integrity, consent } }
  }
}

export const enabling: Decision = (code, { adapter }) => ({
  action: 'adapter.enabled',
  facts: {},
  after: { ...installed(code, adapter), enabled: true }
})

export const disabling: Decision = (code, { adapter }) => ({
  action: 'adapter.disabled',
  facts: {},
  after: { ...installed(code, adapter), enabled: false }
})

/** Leaves it as it is. */
export const keeping: Decision = (code, { adapter }) => ({ action: 'adapter.kept', facts: {}, after: installed(code, adapter) })

/** To whom an adapter is offered: companies, by their ids, or all (null). `force`: those that use it may lose it. */
export type Offering = { companies: readonly number[] | null } & Forcing
/** Whether a change is made that stops what companies dispatch. */
export type Forcing = { force?: boolean | undefined }

/** Offers it to companies. Those that use it and would lose it are in the way. */
export function offering ({ companies, force }: Offering): Decision {
  return async (code, { adapter, uses }) => {
    const before = installed(code, adapter)
    if (companies !== null && force !== true) {
      const isLosing = ({ companyId, kind }: AdapterUse): boolean =>
        (kind === 'configuration' || kind === 'choice') && !companies.includes(companyId) && before.companies?.includes(companyId) !== false
      refuseLosses(`Companies that use "${code}" would not have it any more, and could not dispatch through it`,
        (await uses()).filter(isLosing).map((use) => ({ code: `${use.kind}_needs_it`, message: `${inWords(use)}.` })))
    }
    return {
      action: 'adapter.offered',
      facts: { companies: companies === null ? 'all' : [...companies] },
      after: { ...before, companies: companies === null ? null : [...new Set(companies)].sort((a, b) => a - b) }
    }
  }
}

/** Throws `conflict` where a change would stop what companies dispatch, with a detail for each. */
export function refuseLosses (what: string, losses: readonly { code: string, message: string }[]): void {
  if (losses.length === 0) return
  const details = losses.map((loss) => ({ path: '', ...loss }))
  throw new DispatchError('conflict',
    `${what}: the details say which. "force" does it nevertheless, and what they dispatch through it is refused then.`, {
    details: presentable(details)
  })
}

/** Removes it and its packages, unless somebody needs it. */
export const removing: Decision = async (code, { adapter, packages, uses }) => {
  if (adapter === undefined && packages.length === 0) throw adapterNotFound(code)
  const needed = await uses()
  if (adapter !== undefined && needed.length > 0) {
    const details = needed.map((use) => ({ path: '', code: `${use.kind}_needs_it`, message: `${inWords(use)}.` }))
    throw new DispatchError('conflict', `Companies need "${code}": the details say which, and what for.`, { details: presentable(details) })
  }
  return { action: 'adapter.removed', facts: adapter === undefined ? {} : { version: versionOf(packages, adapter.integrity) }, after: null }
}

const needs: Record<AdapterUse['kind'], string> = {
  configuration: 'settings for it',
  choice: 'defaults that name it',
  dispatch: 'dispatches by it that have not ended',
  delivery: 'open deliveries by it'
}

function inWords ({ companyId: id, company: name, kind, count }: AdapterUse): string {
  return `The company ${companiesInWords([{ id, name }])} has ${needs[kind]}: ${count}`
}

function requireSamePublisher (code: string, pin: Publisher | undefined, { version, publisher }: PackageSummary): void {
  if (pin === undefined || isSamePublisher(pin, publisher)) return
  throw conflict('other_publisher',
    `The code "${code}", and the secrets that are stored for it, belong to ${publisherInWords(pin)}; version ` +
      `${version} is ${publisherInWords(publisher)}. An operator may give them to it: PUT /api/v1/providers/${code}/publisher.`)
}

function requireUnrevoked (code: string, { version, revoked }: PackageSummary): void {
  if (revoked !== null) throw conflict('version_revoked', `Version ${version} of "${code}" was revoked: ${asSentence(revoked)}`)
}

/** The error for a change that what is installed does not allow. `code` is the word of its details. */
export function conflict (code: string, message: string): DispatchError {
  return new DispatchError('conflict', message, { details: [{ path: '', code, message }] })
}

/** The error for a code that no package has. */
export function adapterNotFound (code: string): DispatchError {
  return notFound('adapter_unknown', `There is no adapter "${code}": add its package, or refresh the catalogs.`)
}

function notFound (code: string, message: string): DispatchError {
  return new DispatchError('not_found', message, { details: [{ path: '', code, message }] })
}

function packageOf (code: string, packages: readonly PackageSummary[], version: string | undefined): PackageSummary {
  if (packages.length === 0) throw adapterNotFound(code)
  const desired = version === undefined
    ? packages.toSorted((a, b) => semver.rcompare(a.version, b.version))[0]
    : packages.find((one) => one.version === version)
  if (desired !== undefined) return desired
  throw notFound('version_unknown',
    `There is no version ${version ?? ''} of "${code}"; there are ${packages.map((one) => one.version).slice(0, 10).join(', ')}.`)
}

function installed (code: string, adapter: AdapterState | undefined): AdapterState {
  if (adapter === undefined) throw notFound('not_installed', `No adapter "${code}" is installed: install it first.`)
  return adapter
}

function versionOf (packages: readonly PackageSummary[], integrity: string): string {
  return packages.find((one) => one.integrity === integrity)?.version ?? 'unknown'
}

/** What the version may do: exactly what it asks for. Throws `consent_required` with what the consent does not list. */
function agree (code: string, desired: PackageSummary, consent: Consent): Consent {
  const { hosts, services } = offerOf(desired.manifest)
  const requested = { hosts, services: Object.keys(services) }
  const lacking = {
    hosts: requested.hosts.filter((host) => !consent.hosts.includes(host)),
    services: requested.services.filter((service) => !consent.services.includes(service))
  }
  if (lacking.hosts.length === 0 && lacking.services.length === 0) return requested
  const details = [
    ...lacking.hosts.map((host) => ({
      path: '/consent/hosts',
      code: 'host',
      message: [`It asks for the host "${host}".`, widthInWords(host)].filter((words) => words !== undefined).join(' ')
    })),
    ...lacking.services.map((service) => ({ path: '/consent/services', code: 'service', message: `It asks for the service "${service}".` }))
  ]
  const names = [...lacking.hosts, ...lacking.services].join(', ')
  throw new DispatchError('consent_required',
    `Version ${desired.version} of "${code}" asks for ${names}: list in "consent" what it may have.`, {
    details: presentable(details)
  })
}

function factsOf ({ version, integrity }: PackageSummary, { hosts, services }: Consent): JsonObject {
  return { version, integrity, hosts: [...hosts], services: [...services] }
}
