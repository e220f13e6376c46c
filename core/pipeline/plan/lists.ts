import type { Problem } from '@dispatch/common'
import { randomInt } from 'node:crypto'
import type { ListedChoice } from '../../configuration/choose.ts'
import { reachesSandbox } from '../../configuration/sandbox.ts'
import type { ResolvedRequest, ResolvedStep } from './resolve.ts'

/** Answers what keeps a request from being recorded. */
type FindFaults = (draft: ResolvedRequest) => Promise<readonly Problem[]>

type Ordered = { draft: ResolvedRequest, warnings: readonly Problem[] }

/**
 * Decides for each step whose default is a list which of its providers are tried, and in what order. Those that cannot do the step are left
 * out, with a warning. If none can, the first is kept: its problems are the answer.
 */
export async function orderLists (draft: ResolvedRequest, find: FindFaults): Promise<Ordered> {
  let ordered: Ordered = { draft, warnings: [] }
  for (const step of [...draft.steps, ...draft.deferred]) {
    if (step.listed === undefined) continue
    const one = await orderList(ordered.draft, { ...step, listed: step.listed }, find)
    ordered = { draft: withStep(ordered.draft, step, one.step), warnings: [...ordered.warnings, ...one.warnings] }
  }
  return ordered
}

/** A provider of a list, and what keeps it alone from doing the step. */
type Candidate = { entry: ListedChoice, own: readonly Problem[] }

async function orderList (
  draft: ResolvedRequest,
  step: ResolvedStep & { listed: readonly ListedChoice[] },
  find: FindFaults
): Promise<{ step: ResolvedStep, warnings: readonly Problem[] }> {
  const { listed, ...rest } = step
  const found: { entry: ListedChoice, faults: readonly Problem[] }[] = []
  for (const entry of listed) {
    const tried = { ...rest, choice: entry.choice }
    found.push({ entry, faults: await find(withStep(draft, step, tried)) })
  }
  // A problem that all providers have is the request's own.
  const isOwn = (problem: Problem): boolean => !found.every(({ faults }) => faults.some((other) => isSame(problem, other)))
  const candidates = found.map(({ entry, faults }) => ({ entry, own: entry.choice.chosen ? faults.filter(isOwn) : faults }))
  const able = drawFirst(candidates.filter(({ entry, own }) => entry.choice.chosen && own.length === 0), ({ entry }) => entry.weight,
    randomInt)
  const [first] = able
  if (first === undefined) return { step: rest, warnings: [] }
  const isOther = ({ entry }: Candidate): boolean => isForTests(draft, entry) !== isForTests(draft, first.entry)
  const tried = able.filter((candidate) => !isOther(candidate)).map(({ entry }) => entry)
  return {
    step: {
      ...rest,
      choice: first.entry.choice,
      ...(able.length === 1 ? {} : { able: able.map(({ entry }) => entry.choice) }),
      ...(tried.length === 1 ? {} : { listed: tried })
    },
    warnings: candidates.flatMap((candidate) => warningOf(candidate, step, isOther(candidate)))
  }
}

function withStep (draft: ResolvedRequest, step: ResolvedStep, other: ResolvedStep): ResolvedRequest {
  // A step of the draft may be a copy by now, but its place in the request is its own.
  const replaced = (one: ResolvedStep): ResolvedStep => one.at === step.at ? other : one
  return { ...draft, steps: draft.steps.map(replaced), deferred: draft.deferred.map(replaced) }
}

/**
 * Puts one of them to the front, drawn by the weights. Without weights the order stays. `draw` answers a whole number below `total`, each
 * as often.
 */
export function drawFirst<T> (
  listed: readonly T[],
  weightOf: (one: T) => number | undefined,
  draw: (total: number) => number
): readonly T[] {
  const total = listed.reduce((sum, one) => sum + (weightOf(one) ?? 0), 0)
  if (total === 0) return listed
  let left = draw(total)
  const index = listed.findIndex((one) => (left -= weightOf(one) ?? 0) < 0)
  return [...listed.slice(index, index + 1), ...listed.slice(0, index), ...listed.slice(index + 1)]
}

/** Whether a provider would do a request in a test environment. */
function isForTests ({ test }: ResolvedRequest, { choice }: ListedChoice): boolean | undefined {
  if (!choice.chosen) return undefined
  return test ? reachesSandbox(choice.provider, choice.configuration) : choice.configuration.sandbox
}

/** Whether two problems are the same one. */
export function isSame (one: Problem, other: Problem): boolean {
  return one.path === other.path && one.code === other.code && one.message === other.message
}

function warningOf ({ entry: { choice }, own: [problem] }: Candidate, { at, service }: ResolvedStep, isOther: boolean): Problem[] {
  const name = choice.chosen ? choice.provider.code : choice.provider?.code
  const what = name === undefined ? 'A provider' : `The provider "${name}"`
  const left = (why: string): Problem[] => [{
    path: at('providerName'),
    code: 'provider_left_out',
    message: `${what} of the list for "${service}" is left out here: ${why}`
  }]
  const fault = choice.chosen ? problem : choice.problem
  if (fault !== undefined) return left(fault.message)
  return isOther ? left('one has a test environment, and the first of this dispatch does not, or the other way round.') : []
}
