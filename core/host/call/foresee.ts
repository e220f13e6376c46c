import type { JsonObject, Problem } from '@dispatch/common'
import type { ServiceName } from '../../contract/service-names.ts'
import type { InstalledProvider } from '../load/load.ts'
import { breaches } from '../manifest/limits.ts'
import type { AnyProviderCheck, Known, Objection } from '../manifest/provider-check.ts'
import { failureOf } from './failure.ts'

/** Problems that are known before anything is made: from the provider's limits and from its check. Paths are those of the declarations. */
export function problemsForeseen (
  { code, manifest, checks }: Pick<InstalledProvider, 'code' | 'manifest' | 'checks'>,
  service: ServiceName,
  asked: JsonObject,
  known: Known<JsonObject, JsonObject>
): Problem[] {
  const broken = breaches(manifest.services[service]?.limits ?? [], { ...asked, settings: known.requestSettings })
  const told = (message: string): string => `The provider "${code}" does not take this. ${message}`
  return [
    ...broken.map(({ path, message }) => ({ path, code: 'not_supported_by_provider', message: told(message) })),
    ...objectionsOf(checks[service], asked, known).map(({ at: path, code, message }) => ({ path, code, message: told(message) }))
  ]
}

function objectionsOf (check: AnyProviderCheck | undefined, asked: JsonObject, known: Known<JsonObject, JsonObject>): readonly Objection[] {
  try {
    return check?.(structuredClone(asked), structuredClone(known)) ?? []
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined) throw error
    return [{ at: failure.at ?? '', code: failure.code ?? 'not_supported_by_provider', message: failure.message }]
  }
}
