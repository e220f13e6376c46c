import type { JsonObject, Problem } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { ServiceName } from '@dispatch/services'
import { nothingToHide, type OfConfiguration, redactError, type Redactor } from '@dispatch/vendor-io'
import { failureOf } from '@dispatch/vendor-io/outcome'
import { runAs } from '../contain/stray-errors.ts'
import { LoadTimeout } from '../load/load-error.ts'
import type { InstalledProvider } from '../load/load.ts'
import { breaches } from '../manifest/limits.ts'
import type { AnyProviderCheck, Known, Objection } from '../manifest/provider-check.ts'

/**
 * Problems that are known before anything is made: from the provider's limits and from its check. Paths are those of the declarations. The
 * result is a promise only if the check runs in a process of its own.
 */
export function problemsForeseen (
  { code, manifest, checks }: Pick<InstalledProvider, 'code' | 'manifest' | 'checks'>,
  service: ServiceName,
  requested: JsonObject,
  known: Known<JsonObject, JsonObject>,
  { account, redactor = nothingToHide }: OfConfiguration = {}
): Problem[] | Promise<Problem[]> {
  const broken = breaches(manifest.services[service]?.limits ?? [], { ...requested, settings: known.requestSettings })
  const reported = (message: string): string => `The provider "${code}" does not accept this. ${message}`
  const problems = (objections: readonly Objection[]): Problem[] => [
    ...broken.map(({ path, message }) => ({ path, code: 'not_supported_by_provider', message: reported(message) })),
    ...objections.length === 0 ? [] : redacted(objections, redactor()).map(({ at: path, code, message }) => ({
      path,
      code,
      message: reported(message)
    }))
  ]
  const objections = runAs({ provider: code }, () => objectionsOf(checks[service], requested, known, { account, redactor }))
  return objections instanceof Promise ? objections.then(problems) : problems(objections)
}

function redacted (objections: readonly Objection[], { text }: Redactor): Objection[] {
  return objections.map(({ at, code, message }) => ({ at: text(at), code: text(code), message: text(message) }))
}

function objectionsOf (
  check: AnyProviderCheck | undefined,
  requested: JsonObject,
  known: Known<JsonObject, JsonObject>,
  { account, redactor }: { account: string | undefined, redactor: () => Redactor }
): ReturnType<AnyProviderCheck> {
  const thrown = (error: unknown): readonly Objection[] => thrownObjections(error, redactor())
  try {
    const objections = check?.(structuredClone(requested), structuredClone(known), account) ?? []
    return objections instanceof Promise ? objections.catch(thrown) : objections
  } catch (error) {
    return thrown(error)
  }
}

/** The refusal that a check reports by throwing. Where it could not be asked, nothing is wrong with the request. */
function thrownObjections (error: unknown, redact: Redactor): readonly Objection[] {
  if (error instanceof LoadTimeout) throw new DispatchError('provider_unavailable', error.message, { cause: error })
  const failure = failureOf(error)
  if (failure === undefined) throw redactError(error, redact)
  if (failure.word === 'provider_unavailable') {
    throw new DispatchError('provider_unavailable', redact.text(failure.message), { cause: redactError(error, redact) })
  }
  return [{ at: failure.at ?? '', code: failure.code ?? 'not_supported_by_provider', message: failure.message }]
}
