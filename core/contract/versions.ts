import { Type } from 'typebox'

/** The versions of the API, the oldest first, with the day of their release. The last one serves requests that name none. */
export const versions = { '1.0.0': '2026-02-13', '1.0.1': '2026-03-14' } as const
export type Version = keyof typeof versions

const order = Object.keys(versions) as Version[]
export const latestVersion: Version = '1.0.1'

export const ApiVersion = Type.Enum(order, { description: `a version of the API: ${order.join(', ')}` })

/** The version of that name; undefined where there is none. */
export function versionOf (name: string): Version | undefined {
  return order.find((version) => version === name)
}

/** Whether what came with a version is there in another. What does not say was there from the first. */
export function isSince (since: string | undefined, version: Version): boolean {
  return since === undefined || order.findIndex((one) => one === since) <= order.indexOf(version)
}
