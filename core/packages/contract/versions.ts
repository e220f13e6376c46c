import { Type } from 'typebox'

/** The versions of the API with their release dates, the oldest first. */
export const versions = { '1.0.0': '2026-02-13', '1.0.1': '2026-03-14', '1.1.0': '2026-11-23' } as const
export type Version = keyof typeof versions

/** The names of the versions, the oldest first. */
export const versionNames = Object.keys(versions) as Version[]
export const latestVersion: Version = '1.1.0'
/** The version that serves requests that name none: a client asks for a newer one with X-API-Version. */
export const usualVersion: Version = '1.0.1'

export const ApiVersion = Type.Enum(versionNames, { description: `a version of the API: ${versionNames.join(', ')}` })

/** The version with that name; undefined for an unknown name. */
export function versionOf (name: string): Version | undefined {
  return versionNames.find((version) => version === name)
}

/** Whether a feature that was added in version `since` exists in `version`. Without `since` it has existed from the first version. */
export function isSince (since: string | undefined, version: Version): boolean {
  return since === undefined || versionNames.findIndex((one) => one === since) <= versionNames.indexOf(version)
}

/** What is told of a field that only a later version has. */
export function laterField (name: string, version: Version): string {
  return `Unknown field "${name}" in version ${version}: with the header "X-API-Version: ${latestVersion}" it is there.`
}
