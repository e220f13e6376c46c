import type { Keyring, Log, Problem } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import type { Network } from '@dispatch/vendor-io'
import type { Choice } from '../../configuration/choose.ts'
import { redactorsOf } from '../../configuration/vault.ts'
import type { DispatchRecord, StepRecord } from '../../store/dispatch/dispatch-views.ts'
import type { Templates } from '../templates.ts'
import { checkForeseen, faultsOf } from './check.ts'
import { isSame } from './lists.ts'
import { recordedData, recordedTemplate } from './recorded-template.ts'
import type { ResolvedRequest, ResolvedStep } from './resolve.ts'

/** What keeps another provider, but not the present one, from doing a recorded step; nothing where that is no longer known. */
export type Alternatives = {
  /** By the rules of the service. */
  faults: (step: StepRecord, choice: Choice) => readonly Problem[]
  /** By the check of the provider itself. Rejects where that fails. */
  foreseen: (step: StepRecord, choice: Choice) => Promise<readonly Problem[]>
}

/** What judging other providers of a step takes. */
export type AlternativesDependencies = {
  templates: Templates
  network: Pick<Network, 'guard'>
  keyring: Keyring
  log: Log
  now: () => Date
}

/** `link`: a sample, as long as every document link. `choose`: the provider that a step has, as it is now. */
export type AlternativeOptions = { link: string, choose: (step: StepRecord) => Choice | undefined }

export async function findAlternatives (
  dependencies: AlternativesDependencies,
  record: DispatchRecord,
  { link, choose }: AlternativeOptions
): Promise<Alternatives> {
  const planned = new Map<StepRecord, ResolvedStep>()
  for (const step of record.steps) planned.set(step, await plannedStep(dependencies, record, step, choose(step)))
  const draft = draftOf(record, [...planned.values()])
  const find = (tried: ResolvedRequest): readonly Problem[] | undefined => faultsIn(dependencies, record, tried, link)
  // Problems of the draft itself: another provider that has them, too, is not to blame.
  const had = record.data === null ? undefined : find(draft)
  const judged = (step: StepRecord): ResolvedStep | undefined => had === undefined ? undefined : whole(record, step, planned.get(step))
  return {
    faults (step, choice) {
      const one = judged(step)
      const has = one === undefined ? [] : find(withChoice(draft, one, choice)) ?? []
      return has.filter((fault) => had?.some((other) => isSame(fault, other)) === false)
    },
    async foreseen (step, choice) {
      const one = judged(step)
      if (one === undefined) return []
      const { metadata, created_at: now, company_id: companyId } = record
      const redactorFor = redactorsOf(dependencies.keyring, companyId)
      return (await checkForeseen({ ...one, choice }, { data: one.template?.data ?? {}, metadata, now, redactorFor })).problems ?? []
    }
  }
}

/** A step that is known as it was asked for; undefined where its template is gone, and its data cannot be judged. */
function whole (record: DispatchRecord, step: StepRecord, planned: ResolvedStep | undefined): ResolvedStep | undefined {
  const { template_id: id } = step.position === 0 ? record : step
  return id !== null && planned?.template === undefined ? undefined : planned
}

function withChoice (draft: ResolvedRequest, step: ResolvedStep, choice: Choice): ResolvedRequest {
  const replaced = (one: ResolvedStep): ResolvedStep => one === step ? { ...step, choice } : one
  return { ...draft, steps: draft.steps.map(replaced), deferred: draft.deferred.map(replaced) }
}

async function plannedStep (
  dependencies: { templates: Templates, log: Log },
  record: DispatchRecord,
  step: StepRecord,
  choice: Choice | undefined
): Promise<ResolvedStep> {
  const template = await recordedTemplate(dependencies, record, step)
  const data = recordedData(record, step)
  return {
    service: step.service as ServiceName,
    fields: step.fields,
    settings: step.request_settings,
    at: (field) => `/${step.service}/${field}`,
    ...(template === undefined ? {} : { template: { template, data: data ?? {}, path: '/template/data' } }),
    ...(choice === undefined ? {} : { choice }),
    ...(step.deferred_on === null ? {} : { deferredOn: step.deferred_on })
  }
}

/** The request of a record, to be checked again. */
function draftOf ({ metadata, test }: DispatchRecord, planned: readonly ResolvedStep[]): ResolvedRequest {
  const steps = planned.filter(({ deferredOn }) => deferredOn === undefined)
  const deferred = planned.filter(({ deferredOn }) => deferredOn !== undefined)
  const services = steps.map(({ service }) => service)
  // Of its steps only the resolved ones are checked.
  return { request: { services, metadata, steps: [], deferred: [] }, test, steps, deferred }
}

/** What the rules find; undefined where what is stored does not fit them. */
function faultsIn (
  { now, network: { guard }, log }: { network: Pick<Network, 'guard'>, log: Log, now: () => Date },
  { company_id: companyId, dispatch_id: dispatchId }: DispatchRecord,
  draft: ResolvedRequest,
  link: string
): readonly Problem[] | undefined {
  const templateFindings = () => ({ problems: [], warnings: [], signers: 0, showsPictures: () => false })
  try {
    return faultsOf(draft, { templateFindings, foreseen: new Map(), link, mode: 'asynchronous', now, guard })
  } catch (error) {
    log.warn({ err: error, companyId, dispatchId }, 'what is stored of a dispatch could not be checked again')
    return undefined
  }
}
