import { type Keyring, type Problem, withTimeLimit } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import { areShort, areSimple, RenderError, simplePages, simpleSize } from '@dispatch/documents'
import type { StoredFile } from '@dispatch/files'
import { capabilitiesOf } from '@dispatch/host'
import { furtherDocuments, givenDocument, madeAs, services, takesDocument } from '@dispatch/services'
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { DispatchCommand } from '../command.ts'
import { enclosuresOf } from '../enclosures.ts'
import { shownData } from '../facts.ts'
import { placesOf } from '../places.ts'
import type { DispatchPlan, Rehearsal } from '../plan/plan.ts'
import type { Step } from '../step.ts'
import { type ContentDependencies, type HandOn, prepareContent, type PreparedContent, signersOf } from './content.ts'
import { pagesBefore, tryPageBefore } from './page-before.ts'
import { beginRun, plannedDispatch, type Run } from './run.ts'
import { settlementOfFailure } from './settle.ts'

/** What a rehearsal needs: it makes the content and keeps nothing. */
export type RehearsalDependencies = ContentDependencies & { keyring: Keyring }

/** A validation rehearses everything, a dispatch only what is not made before its answer. */
type Extent = 'everything' | 'what is made later'

/** Milliseconds for the content of a step. What takes longer is not checked. */
const usualLimit = 20_000

const nothing: Rehearsal = { warnings: [], texts: new Map() }

/**
 * Makes the content of a plan on trial where the data may keep it from being made or sent, and keeps nothing of it. The plan is refused as
 * its dispatch would be. A warning says what could not be checked.
 */
export function rehearse (
  dependencies: RehearsalDependencies,
  plan: DispatchPlan,
  command: DispatchCommand,
  { extent, limit = usualLimit }: { extent: Extent, limit?: number }
): Rehearsal | Promise<Rehearsal> {
  const all = [...plan.steps, ...plan.deferred]
  const [first] = plan.steps
  const atOnce = extent === 'everything' || command.mode === 'asynchronous' ? undefined : first
  const steps = all.filter((step) => step !== atOnce && isUncertain(step, plan.steps, extent))
  const paged = all.filter((step) => step !== atOnce && pagesBefore(step) > 0)
  return steps.length + paged.length === 0 ? nothing : rehearseSteps(dependencies, plan, command, { steps, paged, extent, limit })
}

/** Whether the content of a step may not be made, or be too large for its provider, although the step has passed the checks. */
function isUncertain (step: Step, path: readonly Step[], extent: Extent): boolean {
  const { service, fields, template } = step
  const [first] = path
  const limits = limitsOf(step)
  const taken = first !== undefined && first !== step && takesDocument(service, fields) ? [first] : []
  if (enclosuresOf(step).some(({ field }) => field === furtherDocuments || (field === givenDocument && pagesBefore(step) > 0))) return true
  // How long a text becomes is known only when it is made, which takes no longer than to find out whether it has to be.
  return (template !== undefined && services[service].content === 'text') ||
    [step, ...taken].some((source) => hasHardContent(source, path, limits, extent))
}

/** The limits of a step's provider for its content. A page that the host puts before it counts, too. */
function limitsOf (step: Step): { maxPages: number, maxSize: number } {
  const { maxPages = Infinity, maxSize = Infinity } = capabilitiesOf(step.by?.provider, step.service)?.capabilities ?? {}
  return { maxPages: Number(maxPages) - pagesBefore(step), maxSize: Number(maxSize) }
}

/** `limits`: of the provider that gets what is made. A company's own template is tried with its samples only: a header may overflow. */
function hasHardContent (
  { template, ...step }: Step,
  path: readonly Step[],
  { maxPages, maxSize }: ReturnType<typeof limitsOf>,
  extent: Extent
): boolean {
  if (template === undefined) return false
  const format = madeAs(step.service, step.fields)
  const shown = [shownData({ ...step, template }, path), { names: signersOf(path) ?? [] }]
  return !shown.every((data) => areSimple(data, format)) || maxPages <= simplePages || maxSize <= simpleSize ||
    (template.template.companyId !== null && (extent === 'everything' || !shown.every(areShort)))
}

async function rehearseSteps (
  dependencies: RehearsalDependencies,
  plan: DispatchPlan,
  command: DispatchCommand,
  { steps, paged, extent, limit }: { steps: readonly Step[], paged: readonly Step[], extent: Extent, limit: number }
): Promise<Rehearsal> {
  const { newId, now } = dependencies
  const run = beginRun(plannedDispatch(plan, command, { dispatchId: newId() }), { runId: newId(), createdAt: now() })
  const { make, sourceOf } = makingOf(stageOf(dependencies), run, plan.steps)
  const texts = new Map<string, string>()
  const warnings: Problem[] = []
  const problems = new Map<unknown, readonly Problem[]>()
  const making = steps.map((step) => ({
    step,
    work: async () => {
      const { made } = await make(step)
      if ('text' in made) texts.set(step.stepId, made.text)
    }
  }))
  const paging = paged.map((step) => ({ step, work: () => tryPageBefore(dependencies, run, step, extent === 'everything') }))
  for (const { step, work } of [...making, ...paging]) {
    try {
      await withTimeLimit(limit, work(), () => new NotInTime())
    } catch (error) {
      const source = sourceOf(error) ?? step
      const placed = placesOf(plan, source)
      const found = problemsIn(error, placed)
      if (found === undefined) warnings.push(notChecked(source, placed('/template/data')))
      else problems.set(error, found)
    }
  }
  // A document and the page before it may be refused for the same.
  const reported = new Map([...problems.values()].flat().map((problem) => [`${problem.path} ${problem.code}`, problem]))
  if (problems.size > 0) throw refusal('validation_failed', [...reported.values()])
  return { warnings, texts }
}

class NotInTime extends Error {}

/** Why the data are refused; undefined where something else kept the content from being made. */
function problemsIn (error: unknown, placed: (place: string) => string): readonly Problem[] | undefined {
  if (error instanceof RenderError && error.problems.some(({ code }) => code === 'too_slow')) return undefined
  const settlement = settlementOfFailure(error, placed)
  return settlement.outcome === 'rejected' ? settlement.error.details ?? [] : undefined
}

function notChecked ({ service }: Step, path: string): Problem {
  return {
    path,
    code: 'not_checked',
    message:
      `Whether the content of "${service}" can be made of these data was not checked, because that takes too long now: the dispatch finds out.`
  }
}

/** What it takes to make content that leaves nothing behind: files stay in memory, and links open nothing. */
function stageOf (dependencies: ContentDependencies): ContentDependencies {
  const { files, templateWorkers } = dependencies
  const kept = new Map<string, Uint8Array>()
  // A copy of a stored file is that file: nothing of it is read until somebody needs it.
  const [copies, sources] = [new Map<string, StoredFile>(), new WeakMap<object, StoredFile>()]
  return {
    ...dependencies,
    files: {
      ...files,
      put (key, bytes) {
        kept.set(key, bytes)
        return Promise.resolve()
      },
      async receive (key, stream) {
        const source = sources.get(stream)
        if (source !== undefined) {
          stream.destroy()
          copies.set(key, source)
          return { size: source.size, sha256: source.sha256, head: Buffer.alloc(0) }
        }
        const bytes = await buffer(stream)
        kept.set(key, bytes)
        return { size: bytes.length, sha256: hash('sha256', bytes), head: bytes }
      },
      async stream (file) {
        const bytes = kept.get(file.key)
        if (bytes !== undefined) return Readable.from([bytes])
        const source = copies.get(file.key) ?? file
        const stream = await files.stream(source)
        sources.set(stream, source)
        return stream
      }
    },
    renderer: { render: (job, { companyId }) => templateWorkers.render(companyId, job), close: () => Promise.resolve() }
  }
}

const nothingToHand: HandOn = () => Promise.resolve(undefined)

type Making = { make: (step: Step) => Promise<PreparedContent>, sourceOf: (error: unknown) => Step | undefined }

/** Makes the content of each step once. What fails belongs to the step that it is made for first: a document may go to several. */
function makingOf (stage: ContentDependencies, run: Run, [first]: readonly Step[]): Making {
  const [made, sources] = [new Map<Step, Promise<PreparedContent>>(), new Map<unknown, Step>()]
  const make = (step: Step): Promise<PreparedContent> => {
    const making = made.get(step) ?? prepareContent(stage, run, step, step === first ? nothingToHand : hand).catch((error: unknown) => {
      if (!sources.has(error)) sources.set(error, step)
      throw error
    })
    made.set(step, making)
    return making
  }
  const hand: HandOn = async () => {
    const isMade = first !== undefined && (first.template !== undefined || enclosuresOf(first).some(({ field }) => field === givenDocument))
    if (!isMade || services[first.service].content !== 'document') return undefined
    const { made: content, document, fresh } = await make(first)
    if (document === undefined || !('signatures' in content)) return undefined
    const stored = fresh.document && { key: fresh.document.storageKey, size: fresh.document.size, sha256: fresh.document.sha256 }
    return { document, signatures: content.signatures, ...(stored === undefined ? {} : { stored }) }
  }
  return { make, sourceOf: (error) => sources.get(error) }
}
