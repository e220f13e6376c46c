import semver from 'semver'
import type { AdapterState, PackageSummary } from './adapters.ts'

type Version = Pick<PackageSummary, 'version' | 'revoked'>

/** What serves of an adapter: the version that runs, and the older one beside it, which goes on with settings that only it accepts. */
export type Roles<Kind> = { running: Kind, beside: Kind | undefined }

/**
 * What serves of two versions. Where the wanted one is revoked, the one before it goes on in its place. After a rollback nothing goes on
 * beside the older one: the newer one was left for a reason.
 */
export function rolesOf<Kind extends Version> (desired: Kind, previous: Kind | undefined): Roles<Kind> {
  const beside = previous?.revoked === null && semver.lt(previous.version, desired.version) ? previous : undefined
  return desired.revoked === null || beside === undefined ? { running: desired, beside } : { running: beside, beside: undefined }
}

/** What serves of an adapter that is in this state. Undefined where nothing does: it is disabled, or revoked without one before. */
export function rolesIn<Kind extends Version & { integrity: string }> (
  state: Pick<AdapterState, 'integrity' | 'previous' | 'enabled'> | undefined,
  packages: readonly Kind[]
): Roles<Kind> | undefined {
  if (state?.enabled !== true) return undefined
  const [desired, previous] = [state.integrity, state.previous].map((one) => packages.find(({ integrity }) => integrity === one))
  if (desired === undefined) return undefined
  const roles = rolesOf(desired, previous)
  return roles.running.revoked === null ? roles : undefined
}
