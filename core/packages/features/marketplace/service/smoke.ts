import type { Smoke } from './try-package.ts'

/** Replays the fixtures of a package. The kit is loaded when the first package is taken in. */
export const smoke: Smoke = async (provider, folder) => {
  const kit = await import('@dispatch/conformance/smoke')
  return await kit.smoke(provider, folder)
}
