import { companyNames } from '@dispatch/accounts'
import type { MigratedSettings } from '@dispatch/core/source'
import type { Database } from '@dispatch/database'
import semver from 'semver'
import type { AdapterEffect } from '../contract/marketplace.ts'
import { readBefore } from '../store/adapter-changes.ts'
import { type AdapterState, type NewPackage, type PackageSummary, readStoredPackage, type StoredPackage } from '../store/adapters.ts'
import type { NamedCompany } from '../store/named-company.ts'
import { type Roles, rolesIn } from '../store/roles.ts'
import { type Decision, refuseLosses } from './decisions.ts'
import { type Effect, effectsOf, ownerKey, type Scene, stoppedBy, whoseInWords } from './effects.ts'
import type { KnownAdapter } from './offers.ts'
import { migrateSettings, type MigrationPlace, servedBy } from './settings-migration.ts'

/** A change that is weighed. `adding`: a package that it brings. `revoking`: as if the version that runs were revoked. */
export type Weighing = { decide: Decision, adding?: NewPackage | undefined, revoking?: boolean }
export type Weighed = { effects: AdapterEffect[], settings: MigratedSettings[] }

/** What a change would do, were it made now, and the settings that it would make. Only where adapters can run. */
export async function weigh (
  place: MigrationPlace,
  code: string,
  { decide, adding, revoking = false }: Weighing,
  now: Date
): Promise<Weighed> {
  const { database } = place
  const before = await readBefore(database, code, adding, now)
  const { after } = await decide(code, before)
  const isRevoked = ({ integrity }: PackageSummary): boolean => revoking && integrity === before.adapter?.integrity
  const packages = before.packages.map((one) => isRevoked(one) ? { ...one, revoked: 'It would be revoked.' } : one)
  const [present, next] = [rolesIn(before.adapter, before.packages), rolesIn(after ?? undefined, packages)]
  const [from, to] = await Promise.all([present, next].map(async (roles) => roles && await takenOf(database, roles, adding)))
  // Also where nothing runs now: it is disabled, or revoked.
  const [older, newer] = await Promise.all([before.adapter, after ?? undefined].map((state) => packageOf(database, state, adding)))
  const isUpgrade = older !== undefined && newer !== undefined && semver.gt(newer.version, older.version)
  const settings = isUpgrade ? await migrateSettings(place, { from: older, to: newer }, now) : []
  const scene = async (roles: Roles<StoredPackage> | undefined, state: AdapterState | null | undefined): Promise<Scene> => ({
    configurations: await servedBy(place, code, roles),
    running: roles?.running.version,
    companies: state?.companies ?? null
  })
  const scenes = await Promise.all([scene(from, before.adapter), scene(to, after)])
  return { effects: await named(database, effectsOf(...scenes, new Set(settings.map(ownerKey)))), settings }
}

/** Companies that have settings which no version that serves accepts. */
export async function unservedBy (place: MigrationPlace, { code, adapter, packages }: KnownAdapter): Promise<NamedCompany[]> {
  const { database, sandbox } = place
  const roles = rolesIn(adapter, packages)
  if (roles === undefined || (await sandbox()).obstacle() !== undefined) return []
  const all = await servedBy(place, code, await takenOf(database, roles))
  const names = await companyNames(database, all.flatMap(({ companyId, served }) => served === undefined ? [companyId] : []))
  return [...names].map(([id, name]) => ({ id, name }))
}

/** The packages of the versions that serve. */
async function takenOf (
  database: Database,
  { running, beside }: Roles<Pick<PackageSummary, 'integrity'>>,
  adding?: NewPackage
): Promise<Roles<StoredPackage> | undefined> {
  const [first, second] = await Promise.all([packageOf(database, running, adding), packageOf(database, beside, adding)])
  return first && { running: first, beside: second }
}

/** A package that is here, or that is not taken in yet. */
async function packageOf (
  database: Database,
  desired: { integrity: string } | undefined,
  adding?: NewPackage
): Promise<StoredPackage | undefined> {
  if (desired === undefined) return undefined
  return desired.integrity === adding?.integrity ? adding : await readStoredPackage(database, desired.integrity)
}

async function named (database: Database, effects: readonly Effect[]): Promise<AdapterEffect[]> {
  const names = await companyNames(database, effects.map(({ companyId }) => companyId))
  return effects.map((effect) => ({ ...effect, company: names.get(effect.companyId) ?? '' }))
}

/** Throws `conflict` with those who could not dispatch any more. */
export function refuseStops (what: string, code: string, effects: readonly AdapterEffect[]): void {
  refuseLosses(what, stoppedBy(effects).map((effect) => ({ code, message: whoseInWords(effect) })))
}
