import { type AuditStamp, type Database, type Keyring, type Log, missingCompanies, platform, refusal } from '@dispatch/core'
import { listProcesses, type MigratedSettings } from '@dispatch/core/source'
import type { ReadPackage } from '@dispatch/marketplace'
import type { Reach, Sandbox } from '@dispatch/sandbox'
import semver from 'semver'
import type { CatalogView } from '../contract/marketplace.ts'
import { addPackage, type Belongings, editAdapter, readBefore } from '../store/adapter-changes.ts'
import { type Consent, listAdapters, type NewPackage, readTakenPackage } from '../store/adapters.ts'
import type { AdapterFiles } from './adapter-files.ts'
import type { Catalogs } from './catalogs.ts'
import { requireClaim } from './claims.ts'
import { adapterNotFound, type Decision, disabling, enabling, type Forcing, installing, type Offering, offering, refuseLosses, removing,
  rollingBack, upgrading } from './decisions.ts'
import { createLook } from './look.ts'
import { type KnownAdapter, withOffers } from './offers.ts'
import { companiesUnserved, leftBehind, migrateSettings, writtenFor } from './settings-migration.ts'
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
  lookAround: (known: KnownAdapter) => Promise<Surroundings>
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
  /** Replaces the version that runs, unless a configuration would be served by none any more. */
  upgrade: (code: string, asked: { version: string, consent: Consent } & Forcing, stamp: AuditStamp) => Promise<void>
  /** Goes back to the version before, unless configurations were written for the one that runs. */
  rollBack: (code: string, asked: Forcing, stamp: AuditStamp) => Promise<void>
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
  async function unservedBy ({ adapter, packages }: KnownAdapter): Promise<number[]> {
    const [running, previous] = [adapter?.integrity, adapter?.previous].map((wanted) =>
      packages.find(({ integrity }) => integrity === wanted)
    )
    if (running?.revoked !== null || (await sandbox()).obstacle() !== undefined) return []
    const isBeside = previous?.revoked === null && semver.lt(previous.version, running.version)
    const [taken, beside] = await Promise.all(
      [running, ...isBeside ? [previous] : []].map(({ integrity }) => readTakenPackage(database, integrity))
    )
    return taken === undefined ? [] : await companiesUnserved({ database, keyring, files, sandbox, log }, { running: taken, beside })
  }

  /** What an upgrade makes of the settings of all companies, if it may be made, and stops nobody. */
  async function migrated (
    code: string,
    decide: Decision,
    { adding, force }: Pick<Belongings, 'adding'> & Forcing,
    now: Date
  ): Promise<MigratedSettings[]> {
    const before = await readBefore(database, code, adding, now)
    const { after } = await decide(code, before)
    const [from, to] = await Promise.all(
      [before.adapter, after ?? undefined].map(async (state) =>
        state === undefined || state.integrity === adding?.integrity ? adding : await readTakenPackage(database, state.integrity)
      )
    )
    if (from === undefined || to === undefined) return []
    const options = { database, keyring, files, sandbox, log }
    const settings = await migrateSettings(options, { from, to }, now)
    const serving = before.packages.find(({ integrity, revoked }) => integrity === before.adapter?.previous && revoked === null)
    const earlier = serving === undefined || force === true ? undefined : await readTakenPackage(database, serving.integrity)
    if (earlier !== undefined && semver.lt(earlier.version, from.version)) {
      const stopped = await leftBehind(options, { earlier, running: from, newer: to }, settings)
      refuseLosses(`Only version ${earlier.version} of "${code}" accepts settings that are in use, and would not serve any more`,
        stopped.map((stored) => ({ code: 'settings_of_older_version', message: whoseInWords(stored) })))
    }
    return settings
  }

  /** A rollback stops those whose settings only the version accepts that runs. */
  async function refuseStops (code: string, now: Date): Promise<void> {
    const before = await readBefore(database, code, undefined, now)
    const { after } = await rollingBack(code, before)
    const integrities = [before.adapter?.integrity, after?.integrity]
    const [running, older] = await Promise.all(integrities.map((integrity) => readTakenPackage(database, integrity ?? '')))
    if (running === undefined || older === undefined) return
    // From an older version to a newer one the older one goes on with them.
    if (semver.gt(older.version, running.version) || (await sandbox()).obstacle() !== undefined) return
    const stopped = await writtenFor({ database, keyring, files, sandbox, log }, { running, older })
    refuseLosses(`Settings were written for version ${running.version} of "${code}", and version ${older.version} does not accept them`,
      stopped.map((stored) => ({ code: 'settings_of_newer_version', message: whoseInWords(stored) })))
  }

  return {
    list: async () => withOffers(await listAdapters(database), await catalogs.known()),

    async find (code) {
      const all = withOffers(await listAdapters(database, code), await catalogs.known())
      const found = all.find((known) => known.code === code)
      if (found === undefined) throw adapterNotFound(code)
      return found
    },

    lookAround: async (known) => ({
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

    async upgrade (code, asked, stamp) {
      await requireWalls()
      const [decide, adding] = [upgrading(asked), await fetched(code, asked.version)]
      const settings = await migrated(code, decide, { adding, force: asked.force }, stamp.at)
      await change(code, decide, stamp, { adding, settings })
    },

    async rollBack (code, { force }, stamp) {
      if (force !== true) await refuseStops(code, stamp.at)
      await change(code, rollingBack, stamp)
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

function whoseInWords ({ companyId, userId }: Pick<MigratedSettings, 'companyId' | 'userId'>): string {
  return `${userId === null ? 'Those' : `Those of the user ${userId}`} of the company ${companyId}.`
}
