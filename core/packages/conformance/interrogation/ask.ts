import type { JsonObject } from '@dispatch/common'
import type { CallRun } from '../run/run.ts'
import { patientVendor } from '../run/scripted-vendor.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { type Base, type Change, endOf, requestsOf, type Trial, tried } from '../values/trial.ts'
import { type Facts, factsOf } from './facts.ts'

/** The changes of a dispatch besides its request. */
export type Circumstances = Partial<Pick<Base['prepared']['call'], 'settings' | 'sandbox' | 'exchange' | 'idempotencyKey'>>

/**
 * A dispatch that was tried. `requested`: what the provider was asked, with the request's `settings`. `complete`: it made all the requests
 * of its fixture.
 */
export type Answered = { facts: Facts, run: CallRun, requested: JsonObject, complete: boolean }

/** Tries a request with changes, unless the service or the provider refuses them before anything is made. */
export async function askWith (
  subject: ProviderUnderTest,
  base: Base,
  changes: readonly Change[],
  circumstances: Circumstances = {}
): Promise<Answered | undefined> {
  const trial = await fitting(base, changes)
  return trial === undefined ? undefined : await askThis(subject, base, trial, circumstances)
}

async function fitting (base: Base, changes: readonly Change[]): Promise<Trial | undefined> {
  try {
    const trial = await tried(base, changes)
    return trial.changes.length < changes.length ? undefined : trial
  } catch {
    // No client can send it.
    return undefined
  }
}

/** Makes a dispatch with a vendor in this process, which answers as the fixture says. */
export async function askThis (
  { play }: ProviderUnderTest,
  base: Base,
  { request, documents, requestSettings }: Pick<Trial, 'request' | 'documents' | 'requestSettings'>,
  circumstances: Circumstances = {}
): Promise<Answered> {
  const { prepared } = base
  const call = { ...prepared.call, ...circumstances, verb: 'dispatch', request, documents, requestSettings } as const
  const run = await play({ ...prepared, call }, {}, patientVendor)
  const isDone = run.result.outcome === 'accepted' || run.seen.handed.length > 0
  return {
    facts: factsOf(run),
    run,
    requested: { ...request, settings: requestSettings },
    complete: isDone && endOf(requestsOf(base), run) === undefined
  }
}

/** The same with nothing changed in the request. */
export async function askAgain (subject: ProviderUnderTest, base: Base, circumstances: Circumstances = {}): Promise<Answered> {
  return await askThis(subject, base, await tried(base, []), circumstances)
}

/** The settings of a call with others in place of some. */
export function settingsWith ({ prepared: { call } }: Base, changed: JsonObject): JsonObject {
  return { ...call.settings, ...changed }
}
