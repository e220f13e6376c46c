import { type JsonObject, lazy, type Problem, withTimeLimit } from '@dispatch/common'
import { areSimple, RenderError, simplePages, simpleSize } from '@dispatch/documents'
import { refusal } from '../../contract/errors.ts'
import { capabilitiesOf } from '../../host/manifest/capabilities.ts'
import { madeAs, services, takesDocument } from '../../services/index.ts'
import type { DispatchCommand } from '../command.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import type { DispatchPlan, Rehearsal } from '../plan/plan.ts'
import type { Step } from '../step.ts'
import { type ChainDocument, prepareContent } from './content.ts'
import { beginRun, plannedDispatch, type Run } from './run.ts'
import { settlementOfFailure } from './settle.ts'

/** Of a validation everything is rehearsed; of a dispatch only what is not made before its answer. */
type Extent = 'everything' | 'what is made later'

/** Milliseconds for the content of a step. What takes longer is not checked. */
const usualLimit = 20_000

const nothing: Rehearsal = { warnings: [], texts: new Map() }

/**
 * Makes the content of a plan in the threads of templates, and keeps nothing of it, where the data may not let it be made or sent: then the
 * plan is refused as its dispatch would be. A warning says what could not be checked.
 */
export function rehearse (
  dependencies: PipelineDependencies,
  plan: DispatchPlan,
  command: DispatchCommand,
  { extent, limit = usualLimit }: { extent: Extent, limit?: number }
): Rehearsal | Promise<Rehearsal> {
  const all = [...plan.steps, ...plan.deferred]
  const [first] = plan.steps
  const atOnce = extent === 'everything' || command.mode === 'asynchronous' ? undefined : first
  const steps = all.filter((step) => step !== atOnce && isUncertain(step, first, extent))
  return steps.length === 0 ? nothing : rehearseSteps(dependencies, plan, command, { steps, limit })
}

/** Whether the content of a step may not be made, or be too large for its provider, although the step has passed the checks. */
function isUncertain (step: Step, first: Step | undefined, extent: Extent): boolean {
  const { service, fields, template, by } = step
  const limits = capabilitiesOf(by?.provider, service)?.capabilities ?? {}
  const taken = first !== undefined && first !== step && takesDocument(service, fields) ? [first] : []
  // How long a text becomes is known only when it is made, which takes no longer than to find out whether it has to be.
  return (template !== undefined && services[service].content === 'text') ||
    [step, ...taken].some((source) => hasHardData(source, limits, extent))
}

/** `limits`: of the provider that gets what is made. A company's own template is tried with its samples only. */
function hasHardData ({ service, fields, template }: Step, limits: JsonObject, extent: Extent): boolean {
  if (template === undefined) return false
  const { maxPages = Infinity, maxSize = Infinity } = limits as { maxPages?: number, maxSize?: number }
  return !areSimple(template.data, madeAs(service, fields)) || maxPages <= simplePages || maxSize <= simpleSize ||
    (extent === 'everything' && template.template.companyId !== null)
}

async function rehearseSteps (
  dependencies: PipelineDependencies,
  plan: DispatchPlan,
  command: DispatchCommand,
  { steps, limit }: { steps: readonly Step[], limit: number }
): Promise<Rehearsal> {
  const { newId, now } = dependencies
  const run = beginRun(plannedDispatch(plan, command, { dispatchId: newId() }), { runId: newId(), createdAt: now() })
  const stage = stageOf(dependencies)
  const hand = handingOn(stage, run)
  const texts = new Map<string, string>()
  const warnings: Problem[] = []
  const problems: Problem[] = []
  for (const step of steps) {
    const place = step === plan.steps[0] ? '' : `/${step.service}`
    try {
      const { made } = await withTimeLimit(limit, prepareContent(stage, run, step, hand), () => new NotInTime())
      if ('text' in made) texts.set(step.stepId, made.text)
    } catch (error) {
      const found = problemsIn(error, place)
      if (found === undefined) warnings.push(notChecked(step.service, place))
      else problems.push(...found)
    }
  }
  if (problems.length > 0) throw refusal('validation_failed', problems)
  return { warnings, texts }
}

class NotInTime extends Error {}

/** What the data are refused for; undefined where it is nothing of theirs that kept the content from being made. */
function problemsIn (error: unknown, place: string): readonly Problem[] | undefined {
  if (error instanceof RenderError && error.problems.some(({ code }) => code === 'too_slow')) return undefined
  const settlement = settlementOfFailure(error, place)
  return settlement.outcome === 'rejected' ? settlement.error.details ?? [] : undefined
}

function notChecked (service: string, place: string): Problem {
  return {
    path: `${place}/template/data`,
    code: 'not_checked',
    message:
      `Whether the content of "${service}" can be made of these data was not checked, because that takes too long now: the dispatch finds out.`
  }
}

/** What content is made with so that nothing remains: files go nowhere, and links open nothing. */
function stageOf (dependencies: PipelineDependencies): PipelineDependencies {
  const { files, templateWorkers } = dependencies
  return {
    ...dependencies,
    files: { ...files, put: () => Promise.resolve() },
    renderer: { render: (job, { companyId }) => templateWorkers.render(companyId, job), close: () => Promise.resolve() }
  }
}

/** Hands on the document of the first step, which is made when it is first asked for. */
function handingOn (stage: PipelineDependencies, run: Run): () => Promise<ChainDocument | undefined> {
  return lazy(async () => {
    const [first] = run.steps
    if (first === undefined || services[first.service].content !== 'document' || first.template === undefined) return undefined
    const { made, document } = await prepareContent(stage, run, first, () => Promise.resolve(undefined))
    return document === undefined || !('signatures' in made) ? undefined : { document, signatures: made.signatures }
  })
}
