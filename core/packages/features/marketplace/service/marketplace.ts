import { type AuditStamp, companyNames, missingCompanies, platform } from '@dispatch/accounts'
import type { Keyring, Log } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import { listProcesses, type MigratedSettings } from '@dispatch/core/source'
import type { Database } from '@dispatch/database'
import { offerOf, type ReadPackage } from '@dispatch/marketplace'
import type { Reach, Sandbox } from '@dispatch/sandbox'
import semver from 'semver'
import type { AdapterEffect, AskedChange, CatalogView } from '../contract/marketplace.ts'
import { addPackage, type Belongings, editAdapter, readBefore } from '../store/adapter-changes.ts'
import { type AdapterState, type Consent, listAdapters, type NewPackage, type PackageSummary, readTakenPackage, type TakenPackage,
  usersOf } from '../store/adapters.ts'
import { callsOfLastDay } from '../store/last-day.ts'
import type { NamedCompany } from '../store/named-company.ts'
import { type Roles, rolesIn } from '../store/roles.ts'
import type { AdapterFiles } from './adapter-files.ts'
import type { Catalogs } from './catalogs.ts'
import { requireClaim } from './claims.ts'
import { adapterNotFound, type Decision, disabling, enabling, type Forcing, installing, keeping, type Offering, offering, refuseLosses,
  removing, type Rollback, rollingBack, upgrading } from './decisions.ts'
import { type Effect, effectsOf, ownerKey, type Scene, stoppedBy, whoseInWords } from './effects.ts'
import { createLook } from './look.ts'
import { type KnownAdapter, withOffers } from './offers.ts'
import { migrateSettings, servedBy } from './settings-migration.ts'
import { asNoRoom, inspect, type Smoke, takeIn } from './take-in.ts'
import type { Surroundings } from './views.ts'
import { wantedOf } from './wanted.ts'

/**
 * What operators do about adapters. Each change is one transaction that writes what is to run; then this process follows it, and every
 * other one does by itself. All of it throws a DispatchError whose details have a word for what is wrong.
 */
export type Marketplace = {
  /** What is here and what the catalogs offer, by code. */
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
  add: (bytes: Uint8Array, claim: Claim, stamp: AuditStamp) => Promise<Taken>
  /** Takes in a package of a registry of npm, that of everybody unless told. */
  addFromRegistry: (asked: { npm: string, registry?: string | undefined } & Claim, stamp: AuditStamp) => Promise<Taken>
  /** Installs a version that is here, or else that of a catalog; the newest unless told. */
  install: (code: string, asked: { version?: string | undefined, consent: Consent }, stamp: AuditStamp) => Promise<void>
  /** What a change would do to those who dispatch through an adapter. Nothing is changed. */
  effects: (code: string, change: AskedChange, at: Date) => Promise<AdapterEffect[]>
  /** Replaces the version that runs, unless a configuration would be served by none any more. */
  upgrade: (code: string, asked: { version: string, consent: Consent } & Forcing, stamp: AuditStamp) => Promise<void>
  /**
   * Goes back to the version before, or the older one that is told, unless configurations were written for the one that runs, or nothing
   * can run here that would tell.
   */
  rollBack: (code: string, asked: Rollback & Forcing, stamp: AuditStamp) => Promise<void>
  enable: (code: string, stamp: AuditStamp) => Promise<void>
  disable: (code: string, stamp: AuditStamp) => Promise<void>
  /** Offers it to companies, unless those that use it would lose it. */
  offer: (code: string, asked: Offering, stamp: AuditStamp) => Promise<void>
  remove: (code: string, stamp: AuditStamp) => Promise<void>
}

/** Whose a package is, as an operator says. */
type Claim = { publisher?: string | undefined }
type Taken = { code: string, version: string }

/** `follow` brings this process to what the database says; it waits a moment for the others. */
export type MarketplaceOptions = {
  database: Database
  keyring: Keyring
  log: Log
  files: AdapterFiles
  sandbox: () => Promise<Sandbox>
  follow: () => Promise<unknown>
  catalogs: Catalogs
  smoke: Smoke
}

export function createMarketplace ({ database, keyring, log, files, sandbox, follow, catalogs, smoke }: MarketplaceOptions): Marketplace {
  const look = createLook(catalogs)
  const migrating = { database, keyring, files, sandbox, log }

  async function change (code: string, decide: Decision, stamp: AuditStamp, belongings: Belongings = {}): Promise<void> {
    await editAdapter(database, { code, companyId: platform.companyId, ...belongings }, (before) => decide(code, before), stamp)
    await follow()
  }

  /** The package of a catalog, where the wanted version is not here; undefined where no catalog has it either. */
  async function fetched (code: string, version: string | undefined): Promise<NewPackage | undefined> {
    const [record] = await listAdapters(database, code)
    const wanted = wantedOf(await catalogs.known(), { code, version, here: record?.packages ?? [] })
    if (wanted === undefined) return undefined
    const { source, attested, read } = wanted
    const { bytes, registry } = await read()
    return await takeIn(bytes, { source, attested, registry, files, sandbox, smoke })
  }

  /** What an operator brings, if nobody else has its names. */
  async function added ({ bytes, registry }: ReadPackage, { publisher }: Claim, stamp: AuditStamp): Promise<Taken> {
    await requireWalls()
    const found = inspect(bytes)
    const { pin, packages } = await readBefore(database, found.manifest.provider.code, undefined, stamp.at)
    requireClaim(found, { pin, packages, catalogs: await catalogs.known() }, publisher)
    const taken = await takeIn(bytes, { source: '', registry, files, sandbox, smoke })
    await addPackage(database, taken, platform.companyId, stamp)
    return taken
  }

  /** Nothing new runs where the walls around it are too few. */
  async function requireWalls (): Promise<void> {
    const obstacle = (await sandbox().catch(asNoRoom)).obstacle()
    if (obstacle !== undefined) throw refusal('validation_failed', [{ path: '', code: 'walls_missing', message: obstacle }])
  }

  /** What an adapter that is installed could reach here. */
  async function gapsAround ({ adapter }: KnownAdapter): Promise<readonly Reach[]> {
    return adapter === undefined ? [] : (await sandbox()).state().gaps
  }

  /** Companies that have settings which no version that serves accepts. */
  async function unservedBy ({ code, adapter, packages }: KnownAdapter): Promise<NamedCompany[]> {
    const roles = rolesIn(adapter, packages)
    if (roles === undefined || (await sandbox()).obstacle() !== undefined) return []
    const all = await servedBy(migrating, code, await takenOf(roles))
    const names = await companyNames(database, all.flatMap(({ companyId, served }) => served === undefined ? [companyId] : []))
    return [...names].map(([id, name]) => ({ id, name }))
  }

  /** A package that is here, or that is not taken in yet. */
  async function packageOf (wanted: { integrity: string } | undefined, adding?: NewPackage): Promise<TakenPackage | undefined> {
    if (wanted === undefined) return undefined
    return wanted.integrity === adding?.integrity ? adding : await readTakenPackage(database, wanted.integrity)
  }

  /** The packages of the versions that serve. */
  async function takenOf (
    { running, beside }: Roles<Pick<PackageSummary, 'integrity'>>,
    adding?: NewPackage
  ): Promise<Roles<TakenPackage> | undefined> {
    const [first, second] = await Promise.all([packageOf(running, adding), packageOf(beside, adding)])
    return first && { running: first, beside: second }
  }

  /** What a change would do, were it made now, and the settings that it would make. Only where adapters can run. */
  async function weigh (code: string, { decide, adding, revoking = false }: Weighing, now: Date): Promise<Weighed> {
    const before = await readBefore(database, code, adding, now)
    const { after } = await decide(code, before)
    const isRevoked = ({ integrity }: PackageSummary): boolean => revoking && integrity === before.adapter?.integrity
    const packages = before.packages.map((one) => isRevoked(one) ? { ...one, revoked: 'It would be revoked.' } : one)
    const [present, next] = [rolesIn(before.adapter, before.packages), rolesIn(after ?? undefined, packages)]
    const [from, to] = await Promise.all([present, next].map(async (roles) => roles && await takenOf(roles, adding)))
    // Also where nothing runs now: it is disabled, or revoked.
    const [older, newer] = await Promise.all([packageOf(before.adapter, adding), packageOf(after ?? undefined, adding)])
    const isUpgrade = older !== undefined && newer !== undefined && semver.gt(newer.version, older.version)
    const settings = isUpgrade ? await migrateSettings(migrating, { from: older, to: newer }, now) : []
    const scene = async (roles: Roles<TakenPackage> | undefined, state: AdapterState | null | undefined): Promise<Scene> => ({
      configurations: await servedBy(migrating, code, roles),
      running: roles?.running.version,
      companies: state?.companies ?? null
    })
    const scenes = await Promise.all([scene(from, before.adapter), scene(to, after)])
    return { effects: await named(effectsOf(...scenes, new Set(settings.map(ownerKey)))), settings }
  }

  async function named (effects: readonly Effect[]): Promise<AdapterEffect[]> {
    const names = await companyNames(database, effects.map(({ companyId }) => companyId))
    return effects.map((effect) => ({ ...effect, company: names.get(effect.companyId) ?? '' }))
  }

  /** What is decided of a change that is asked for. */
  async function asked (code: string, change: AskedChange): Promise<Weighing> {
    switch (change.change) {
      case 'upgrade': {
        const adding = await fetched(code, change.version)
        const { packages } = await readBefore(database, code, adding, new Date(0))
        const manifest = packages.find(({ version }) => version === change.version)?.manifest
        const { hosts = [], services = {} } = manifest === undefined ? {} : offerOf(manifest)
        return { adding, decide: upgrading({ version: change.version ?? '', consent: { hosts, services: Object.keys(services) } }) }
      }
      case 'rollback':
        return { adding: await gone(code, change.version), decide: rollingBack(change) }
      case 'offer':
        return { decide: offering({ companies: change.companies, force: true }) }
      case 'disable':
        return { decide: disabling }
      case 'revocation':
        return { decide: keeping, revoking: true }
    }
  }

  /** An older version that is not here any more. */
  async function gone (code: string, version: string | undefined): Promise<NewPackage | undefined> {
    return version === undefined ? undefined : await fetched(code, version)
  }

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
      gaps: await gapsAround(known),
      unserved: await unservedBy(known),
      looked: await look(known)
    }),

    async refresh (stamp) {
      const { views, revoked } = await catalogs.refresh(stamp)
      if (revoked) await follow()
      return views
    },

    add: (bytes, claim, stamp) => added({ bytes }, claim, stamp),
    addFromRegistry: async ({ npm, registry, publisher }, stamp) => added(await catalogs.readNpm(npm, registry), { publisher }, stamp),

    async install (code, asked, stamp) {
      await requireWalls()
      const adding = await fetched(code, asked.version)
      await change(code, installing({ ...asked, version: adding?.version ?? asked.version }), stamp, { adding })
    },

    async effects (code, change, at) {
      await requireWalls()
      return (await weigh(code, await asked(code, change), at)).effects
    },

    async upgrade (code, { force, ...wanted }, stamp) {
      await requireWalls()
      const [decide, adding] = [upgrading(wanted), await fetched(code, wanted.version)]
      const { effects, settings } = await weigh(code, { decide, adding }, stamp.at)
      if (force !== true) {
        refuseStops(
          `No version would serve settings that are in use: version ${wanted.version} of "${code}" neither accepts nor migrates them`,
          'settings_of_older_version',
          effects
        )
      }
      await change(code, decide, stamp, { adding, settings })
    },

    async rollBack (code, { force, version }, stamp) {
      const [decide, adding] = [rollingBack({ version }), await gone(code, version)]
      if (force !== true) {
        await requireWalls()
        const { effects } = await weigh(code, { decide, adding }, stamp.at)
        refuseStops(`Settings were written for the version of "${code}" that runs, and the older one does not accept them`,
          'settings_of_newer_version', effects)
      }
      await change(code, decide, stamp, { adding })
    },
    enable: (code, stamp) => change(code, enabling, stamp),
    disable: (code, stamp) => change(code, disabling, stamp),
    remove: (code, stamp) => change(code, removing, stamp),

    async offer (code, asked, stamp) {
      const { companies } = asked
      const missing = companies === null ? [] : await missingCompanies(database, companies)
      if (missing.length > 0) {
        throw refusal('validation_failed', missing.map((id) => ({
          path: '/companies',
          code: 'unknown_company',
          message: `There is no company ${id}.`
        })))
      }
      await change(code, offering(asked), stamp)
    }
  }
}

/** A change that is weighed. `adding`: a package that it brings. `revoking`: as if the version that runs were revoked. */
type Weighing = { decide: Decision, adding?: NewPackage | undefined, revoking?: boolean }
type Weighed = { effects: AdapterEffect[], settings: MigratedSettings[] }

/** Throws `conflict` with those who could not dispatch any more. */
function refuseStops (what: string, code: string, effects: readonly AdapterEffect[]): void {
  refuseLosses(what, stoppedBy(effects).map((effect) => ({ code, message: whoseInWords(effect) })))
}
