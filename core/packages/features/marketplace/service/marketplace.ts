import { type AuditStamp, missingCompanies, platform } from '@dispatch/accounts'
import type { Keyring, Log } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import { listProcesses } from '@dispatch/core/source'
import type { Database } from '@dispatch/database'
import { offerOf } from '@dispatch/marketplace'
import type { AdapterEffect, CatalogView, RequestedChange } from '../contract/marketplace.ts'
import { type Belongings, editAdapter, readBefore } from '../store/adapter-changes.ts'
import { type Consent, listAdapters, type NewPackage, usersOf } from '../store/adapters.ts'
import { callsOfLastDay } from '../store/last-day.ts'
import { type AddedPackage, bringIn, type Claim, fetchVersion, requireWalls, type Trying } from './bring-in.ts'
import { adapterNotFound, type Decision, disabling, enabling, type Forcing, installing, keeping, type Offering, offering, removing,
  type Rollback, rollingBack, upgrading } from './decisions.ts'
import { type KnownAdapter, withOffers } from './offers.ts'
import { createPreview } from './preview.ts'
import type { Surroundings } from './views.ts'
import { refuseStops, unservedBy, weigh, type Weighing } from './weighing.ts'

/**
 * What operators do about adapters. Each change is one transaction that writes what is to run; then this process follows it, and every
 * other one does by itself. All of it throws a DispatchError whose details have a word for what is wrong.
 */
export type Marketplace = {
  /** The installed adapters and those that the catalogs offer, by code. */
  list: () => Promise<KnownAdapter[]>
  find: (code: string) => Promise<KnownAdapter>
  /** What an operator is told of it besides: who runs it, and what stands in a package that is only in a catalog. */
  lookAround: (known: KnownAdapter, at: Date) => Promise<Surroundings>
  /** Reads the catalogs again; what they have revoked runs no more. */
  refresh: (stamp: AuditStamp) => Promise<CatalogView[]>
  /**
   * Takes in a package, so that it can be installed. It is tried in the sandbox first. Where a name that it has is somebody's already, the
   * claim says whose it is.
   */
  add: (bytes: Uint8Array, claim: Claim, stamp: AuditStamp) => Promise<AddedPackage>
  /** Takes in a package of a registry of npm, that of everybody unless told. */
  addFromRegistry: (requested: { npm: string, registry?: string | undefined } & Claim, stamp: AuditStamp) => Promise<AddedPackage>
  /** Installs a version that is here, or else that of a catalog; the newest unless told. */
  install: (code: string, requested: { version?: string | undefined, consent: Consent }, stamp: AuditStamp) => Promise<void>
  /** What a change would do to those who dispatch through an adapter. Nothing is changed. */
  effects: (code: string, change: RequestedChange, at: Date) => Promise<AdapterEffect[]>
  /** Replaces the version that runs, unless a configuration would be served by none any more. */
  upgrade: (code: string, requested: { version: string, consent: Consent } & Forcing, stamp: AuditStamp) => Promise<void>
  /**
   * Goes back to the version before, or the older one that is told, unless configurations were written for the one that runs, or nothing
   * can run here that would tell.
   */
  rollBack: (code: string, requested: Rollback & Forcing, stamp: AuditStamp) => Promise<void>
  enable: (code: string, stamp: AuditStamp) => Promise<void>
  disable: (code: string, stamp: AuditStamp) => Promise<void>
  /** Offers it to companies, unless those that use it would lose it. */
  offer: (code: string, requested: Offering, stamp: AuditStamp) => Promise<void>
  remove: (code: string, stamp: AuditStamp) => Promise<void>
}

/** `follow` brings this process to what the database says; it waits a moment for the others. */
export type MarketplaceOptions = Trying & { keyring: Keyring, log: Log, follow: () => Promise<unknown> }

/**
 * Installs, updates and removes adapters for all processes. Throws `validation_failed` for what cannot be run, `consent_required` for more
 * hosts or services than were agreed to, `conflict` and `not_found` as its parts do.
 */
export function createMarketplace (options: MarketplaceOptions): Marketplace {
  const { database, catalogs, sandbox } = options
  const preview = createPreview(catalogs)
  return {
    list: async () => withOffers(await listAdapters(database), await catalogs.known()),

    async find (code) {
      const all = withOffers(await listAdapters(database, code), await catalogs.known())
      const found = all.find((known) => known.code === code)
      if (found === undefined) throw adapterNotFound(code)
      return found
    },

    lookAround: async (known, at) => ({
      users: known.adapter === undefined ? [] : await usersOf(database, known.code),
      lastDay: known.adapter === undefined ? [] : await callsOfLastDay(database, known.code, at),
      processes: await listProcesses(database),
      // What an adapter that is installed could reach here.
      gaps: known.adapter === undefined ? [] : (await sandbox()).state().gaps,
      unserved: await unservedBy(options, known),
      preview: await preview(known)
    }),

    async refresh (stamp) {
      const { views, revoked } = await catalogs.refresh(stamp)
      if (revoked) await options.follow()
      return views
    },

    add: (bytes, claim, stamp) => bringIn(options, { bytes }, claim, stamp),
    addFromRegistry: async ({ npm, registry, publisher }, stamp) =>
      bringIn(options, await catalogs.readNpm(npm, registry), { publisher }, stamp),

    async install (code, requested, stamp) {
      await requireWalls(sandbox)
      const adding = await fetchVersion(options, code, requested.version)
      await change(options, code, installing({ ...requested, version: adding?.version ?? requested.version }), stamp, { adding })
    },

    async effects (code, requested, at) {
      await requireWalls(sandbox)
      return (await weigh(options, code, await weighingOf(options, code, requested), at)).effects
    },

    upgrade: (code, requested, stamp) => upgrade(options, code, requested, stamp),
    rollBack: (code, requested, stamp) => rollBack(options, code, requested, stamp),
    enable: (code, stamp) => change(options, code, enabling, stamp),
    disable: (code, stamp) => change(options, code, disabling, stamp),
    remove: (code, stamp) => change(options, code, removing, stamp),

    async offer (code, requested, stamp) {
      await requireCompanies(database, requested.companies ?? [])
      await change(options, code, offering(requested), stamp)
    }
  }
}

/** Writes what is to run, in one transaction; then this process follows it. */
async function change (
  { database, follow }: MarketplaceOptions,
  code: string,
  decide: Decision,
  stamp: AuditStamp,
  belongings: Belongings = {}
): Promise<void> {
  await editAdapter(database, { code, companyId: platform.companyId, ...belongings }, (before) => decide(code, before), stamp)
  await follow()
}

async function upgrade (
  options: MarketplaceOptions,
  code: string,
  { force, ...desired }: Parameters<Marketplace['upgrade']>[1],
  stamp: AuditStamp
): Promise<void> {
  await requireWalls(options.sandbox)
  const [decide, adding] = [upgrading(desired), await fetchVersion(options, code, desired.version)]
  const { effects, settings } = await weigh(options, code, { decide, adding }, stamp.at)
  if (force !== true) {
    refuseStops(
      `No version would serve settings that are in use: version ${desired.version} of "${code}" neither accepts nor migrates them`,
      'settings_of_older_version',
      effects
    )
  }
  await change(options, code, decide, stamp, { adding, settings })
}

async function rollBack (
  options: MarketplaceOptions,
  code: string,
  { force, version }: Rollback & Forcing,
  stamp: AuditStamp
): Promise<void> {
  const [decide, adding] = [rollingBack({ version }), await gone(options, code, version)]
  if (force !== true) {
    await requireWalls(options.sandbox)
    const { effects } = await weigh(options, code, { decide, adding }, stamp.at)
    refuseStops(`Settings were written for the version of "${code}" that runs, and the older one does not accept them`,
      'settings_of_newer_version', effects)
  }
  await change(options, code, decide, stamp, { adding })
}

/** What is decided of a change that is asked for. */
async function weighingOf (options: MarketplaceOptions, code: string, change: RequestedChange): Promise<Weighing> {
  switch (change.change) {
    case 'upgrade': {
      const adding = await fetchVersion(options, code, change.version)
      const { packages } = await readBefore(options.database, code, adding, new Date(0))
      const manifest = packages.find(({ version }) => version === change.version)?.manifest
      const { hosts = [], services = {} } = manifest === undefined ? {} : offerOf(manifest)
      return { adding, decide: upgrading({ version: change.version ?? '', consent: { hosts, services: Object.keys(services) } }) }
    }
    case 'rollback':
      return { adding: await gone(options, code, change.version), decide: rollingBack(change) }
    case 'offer':
      return { decide: offering({ companies: change.companies, force: true }) }
    case 'disable':
      return { decide: disabling }
    case 'revocation':
      return { decide: keeping, revoking: true }
  }
}

/** An older version that is not here any more. */
async function gone (options: MarketplaceOptions, code: string, version: string | undefined): Promise<NewPackage | undefined> {
  return version === undefined ? undefined : await fetchVersion(options, code, version)
}

async function requireCompanies (database: Database, companies: readonly number[]): Promise<void> {
  const missing = companies.length === 0 ? [] : await missingCompanies(database, companies)
  if (missing.length === 0) return
  throw refusal('validation_failed', missing.map((id) => ({
    path: '/companies',
    code: 'unknown_company',
    message: `There is no company ${id}.`
  })))
}
