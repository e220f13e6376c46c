import type { Problem } from '@dispatch/common'
import { type ChoiceContext, choiceOf, chooseProvider, installedCodes } from '../../configuration/choose.ts'
import { createConfigurationCheck } from '../../configuration/vault.ts'
import type { ChoicesView, ConsideredProvider } from '../../contract/choices.ts'
import type { ServiceName } from '../../contract/service-names.ts'
import type { ChosenBy } from '../../contract/states.ts'
import { type Host, offeredTo } from '../../host/host.ts'
import { type HandedOver, readChoiceHistory } from '../../store/dispatch/choices.ts'
import type { DispatchRecord, StepRecord } from '../../store/dispatch/dispatch-views.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import { checkForeseen, faultsOf } from './check.ts'
import { isSame } from './lists.ts'
import type { ResolvedRequest, ResolvedStep } from './resolve.ts'

/**
 * Tells why the steps of a recorded dispatch have their providers, and why others were passed over. Nothing is stored for it: what was
 * tried is in the timeline, and all else is found out again, by the settings of now.
 */
export type Explain = (record: DispatchRecord) => Promise<ChoicesView>

/** `link`: a sample, as long as every document link. `offered`: the providers that may be chosen. */
type ExplanationOptions = { link: string, offered?: Host | undefined }

/** A step whose provider was chosen, as its row has it. */
type ChosenStep = StepRecord & { provider_code: string, chosen_by: ChosenBy }

/** What is known when one step is explained. */
type Known = {
  chooser: ChoiceContext
  record: DispatchRecord
  /** With the providers of the steps as they are now. */
  draft: ResolvedRequest
  handedOver: readonly HandedOver[]
  find: (draft: ResolvedRequest) => readonly Problem[]
  /** What is found of the draft as it is: the same of another provider is not that one's fault. */
  had: readonly Problem[]
}

export function createExplanation (dependencies: PipelineDependencies, { link, offered = dependencies.host }: ExplanationOptions): Explain {
  const { database, configurations, now, network: { guard } } = dependencies
  const faultsOfSettings = createConfigurationCheck(dependencies.keyring)
  const templateFindings = () => ({ problems: [], warnings: [], signers: 0 })
  return async (record) => {
    const { company_id: companyId, dispatch_id: dispatchId, user_id: userId, created_at: since } = record
    const chooser: ChoiceContext = {
      host: offeredTo(offered, companyId),
      company: await configurations.latest(companyId),
      disk: dependencies.diskRoot !== undefined,
      problemsOf: (provider, configuration) => faultsOfSettings(companyId, provider, configuration)
    }
    const chosen = record.steps.filter(isChosen)
    const { handedOver, settingsChangedAt } = await readChoiceHistory(database, { companyId, dispatchId }, {
      userId,
      services: chosen.map(({ service }) => service),
      providers: [...new Set(chosen.flatMap((step) => codesFor(chooser, record, step)))],
      since
    })
    const draft = await draftOf(dependencies, chooser, record)
    const checking = { templateFindings, foreseen: new Map(), link, mode: 'asynchronous' as const, now, guard }
    const find = (tried: ResolvedRequest): readonly Problem[] => faultsOf(tried, checking)
    const known: Known = { chooser, record, draft, handedOver, find, had: record.data === null ? [] : find(draft) }
    return {
      steps: await Promise.all(record.steps.map((step) => explained(known, step))),
      settingsChangedAt: settingsChangedAt?.toISOString() ?? null
    }
  }
}

async function explained (known: Known, step: StepRecord): Promise<ChoicesView['steps'][number]> {
  const { service, chosen_by: chosenBy } = step
  const codes = isChosen(step) ? codesFor(known.chooser, known.record, step) : []
  return {
    service,
    chosenBy,
    providers: isChosen(step) ? await Promise.all(codes.map((code) => consider(known, step, code))) : []
  }
}

function isChosen (step: StepRecord): step is ChosenStep {
  return step.provider_code !== null && step.chosen_by !== null
}

/** The providers to be told of: the list of the step in its order, that of the default now, and all others that offer the service. */
function codesFor (chooser: ChoiceContext, { user_id: userId }: DispatchRecord, step: ChosenStep): string[] {
  const service = step.service as ServiceName
  const listed = choiceOf(chooser.company, { userId }, service)?.providers ?? []
  const offering = installedCodes(chooser.host).filter((code) => chooser.host.find(code)?.manifest.services[service] !== undefined)
  return [...new Set([
    ...step.providers?.map(({ code }) => code) ?? [],
    step.provider_code,
    ...step.chosen_by === 'request' ? [] : listed.map(({ providerName }) => providerName),
    ...offering
  ])]
}

/** The request of a record with the providers that its steps have, to be checked again. */
async function draftOf ({ templates }: PipelineDependencies, chooser: ChoiceContext, record: DispatchRecord): Promise<ResolvedRequest> {
  const resolved = await Promise.all(record.steps.map(async (step): Promise<ResolvedStep> => {
    const { template_id: id, template_version: version, data } = step.position === 0 ? record : step
    const template = id === null || version === null ? undefined : await templates.findVersion(record.company_id, id, version)
    const service = step.service as ServiceName
    return {
      service,
      fields: step.fields,
      settings: step.request_settings,
      at: (field) => `/${service}/${field}`,
      ...(template === undefined ? {} : { template: { template, data: data ?? {}, path: '/template/data' } }),
      ...(step.provider_code === null ? {} : { choice: chosenNow(chooser, record, service, step.provider_code) }),
      ...(step.deferred_on === null ? {} : { deferredOn: step.deferred_on })
    }
  }))
  const [steps, deferred] = [
    resolved.filter(({ deferredOn }) => deferredOn === undefined),
    resolved.filter(({ deferredOn }) => deferredOn !== undefined)
  ]
  const services = steps.map(({ service }) => service)
  // Of its steps only the resolved ones are checked.
  return { request: { services, metadata: record.metadata, steps: [], deferred: [] }, test: record.test, steps, deferred }
}

function chosenNow (chooser: ChoiceContext, { user_id: userId }: DispatchRecord, service: ServiceName, code: string) {
  return chooseProvider(chooser, { userId }, service, code)
}

async function consider (known: Known, step: ChosenStep, code: string): Promise<ConsideredProvider> {
  const entry = step.providers?.find((one) => one.code === code)
  const { weight, after } = entry ?? {}
  return {
    providerName: code,
    ...code === step.provider_code ? { outcome: 'chosen', reason: whyChosen(known, step) } : await whyNot(known, step, code),
    ...(weight === undefined ? {} : { weight }),
    ...(after === undefined ? {} : { after })
  }
}

const choosing = { user: 'the default of the user', company: 'the default of the company' } as const

function whyChosen ({ handedOver }: Known, step: ChosenStep): string {
  const { chosen_by: chosenBy, providers: list, provider_code: code } = step
  if (step.configured_by === 'nobody') {
    return 'It stands in for the chosen provider, which has no test environment, because the request is a test.'
  }
  if (chosenBy === 'request') return 'The request names it.'
  const before = handedOver.findLast((one) => one.stepId === step.step_id && one.next === code)
  const of = `the list that is ${choosing[chosenBy]}`
  if (before !== undefined) return `It follows "${before.code}" in ${of}.`
  if (list === null) return `It is ${choosing[chosenBy]}.`
  const total = list.reduce((sum, { weight = 0 }) => sum + weight, 0)
  const { weight = 0 } = list.find((one) => one.code === code) ?? {}
  return total === 0 ? `It is the first of ${of}.` : `It was drawn from ${of}, with a weight of ${weight} in ${total}.`
}

type Passed = Pick<ConsideredProvider, 'outcome' | 'reason'>

async function whyNot (known: Known, step: ChosenStep, code: string): Promise<Passed> {
  const left = known.handedOver.findLast((one) => one.stepId === step.step_id && one.code === code)
  if (left !== undefined) {
    return { outcome: 'tried', reason: `It surely did not send it ("${left.error}"), and "${left.next}" was tried next.` }
  }
  if (step.providers?.some((one) => one.code === code) === true) {
    return { outcome: 'not_needed', reason: `It stands in the list, and comes into question where "${step.provider_code}" does not send.` }
  }
  const { chooser, record } = known
  const choice = chosenNow(chooser, record, step.service as ServiceName, code)
  if (!choice.chosen) return { outcome: 'unusable', reason: choice.problem.message }
  const [fault] = await ownFaults(known, step, code)
  return fault === undefined
    ? { outcome: 'not_chosen', reason: whyNotChosen(known, step, code) }
    : { outcome: 'unsupported', reason: fault.message }
}

/** What keeps another provider from doing the step, and not the one that has it. */
async function ownFaults ({ draft, record, chooser, find, had }: Known, step: ChosenStep, code: string): Promise<readonly Problem[]> {
  // The data of the request are no longer kept.
  if (record.data === null) return []
  const planned = [...draft.steps, ...draft.deferred][record.steps.indexOf(step)]
  if (planned === undefined) return []
  const tried = { ...planned, choice: chosenNow(chooser, record, planned.service, code) }
  const replaced = (one: ResolvedStep): ResolvedStep => one === planned ? tried : one
  const has = find({ ...draft, steps: draft.steps.map(replaced), deferred: draft.deferred.map(replaced) })
  const own = has.filter((fault) => !had.some((other) => isSame(fault, other)))
  if (own.length > 0 || !isListedNow(chooser, record, step, code)) return own
  const content = { data: planned.template?.data ?? {}, metadata: record.metadata, now: record.created_at }
  return (await checkForeseen(tried, content)).problems ?? []
}

function isListedNow (chooser: ChoiceContext, { user_id: userId }: DispatchRecord, step: ChosenStep, code: string): boolean {
  const { providers } = choiceOf(chooser.company, { userId }, step.service as ServiceName) ?? {}
  return step.chosen_by !== 'request' && providers?.some(({ providerName }) => providerName === code) === true
}

function whyNotChosen ({ chooser, record }: Known, step: ChosenStep, code: string): string {
  if (step.chosen_by === 'request') return `The request names "${step.provider_code}".`
  if (isListedNow(chooser, record, step, code)) {
    return step.status === 'uncertain'
      ? 'It stands in the list, but after a doubt nobody else is tried: it could be sent twice.'
      : 'It stands in the list now, but was not in it, or could not do the step, when the dispatch was planned.'
  }
  return step.providers === null
    ? `${step.chosen_by === 'user' ? 'The default of the user' : 'The default of the company'} is "${step.provider_code}".`
    : `It does not stand in the list that is ${choosing[step.chosen_by]}.`
}
