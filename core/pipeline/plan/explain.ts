import type { Log } from '@dispatch/common'
import type { ChoicesView, ConsideredProvider } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { type Host, offeredTo } from '@dispatch/host'
import type { ServiceName } from '@dispatch/services'
import { type Choice, type ChoiceContext, choiceOf, chooseProvider, installedCodes } from '../../configuration/choose.ts'
import type { Configurations } from '../../store/configuration/configurations.ts'
import { type Left, readLastChange, readLeft } from '../../store/dispatch/choices.ts'
import type { DispatchRecord, StepRecord } from '../../store/dispatch/dispatch-views.ts'
import { type Alternatives, type AlternativesDependencies, findAlternatives } from './alternatives.ts'
import { type ChosenStep, whyChosen, whyLeft, whyNotChosen } from './choice-reasons.ts'
import type { ResolveDependencies } from './resolve.ts'

/**
 * Tells why the steps of a recorded dispatch have their providers, and why others were passed over. Nothing is stored for it: what was
 * tried is in the timeline, and all else is found out again, by the settings of now. Whatever fails is told of the provider concerned.
 */
export type Explain = (record: DispatchRecord) => Promise<ChoicesView>

/** What explaining the choice of a provider needs. */
export type ExplanationDependencies = AlternativesDependencies & {
  database: Database
  configurations: Configurations
  host: Host
  diskRoot?: string
}

/** `link`: a sample, as long as every document link. `offered`: the providers that may be chosen. */
type ExplanationOptions = Pick<ResolveDependencies, 'problemsOf'> & { link: string, offered?: Host | undefined }

/** What is known when one step is explained. */
type Known = {
  log: Log
  chooser: ChoiceContext
  record: DispatchRecord
  left: readonly Left[]
  alternatives: Alternatives
}

/** Explains by which provider each step of a dispatch was done, and why not by another one. */
export function createExplanation (dependencies: ExplanationDependencies, options: ExplanationOptions): Explain {
  return async (record) => {
    const { company_id: companyId, dispatch_id: dispatchId, user_id: userId, created_at: since } = record
    const chooser = await chooserOf(dependencies, record, options)
    const left = await readLeft(dependencies.database, companyId, dispatchId)
    const alternatives = await findAlternatives(dependencies, record, {
      link: options.link,
      choose: (step) => step.provider_code === null ? undefined : chosenNow(chooser, record, step, step.provider_code)
    })
    const known: Known = { log: dependencies.log, chooser, record, left, alternatives }
    const steps = await Promise.all(record.steps.map((step) => explained(known, step)))
    const changed = await readLastChange(dependencies.database, companyId, {
      userId,
      services: steps.map(({ service }) => service),
      providers: [...new Set(steps.flatMap(({ providers }) => providers.map(({ providerName }) => providerName)))],
      since
    })
    return { steps, settingsChangedAt: changed?.toISOString() ?? null }
  }
}

/** Chooses by the settings of now. */
async function chooserOf (
  { host, configurations, diskRoot }: { configurations: Configurations, host: Host, diskRoot?: string },
  { company_id: companyId }: DispatchRecord,
  { offered = host, problemsOf }: ExplanationOptions
): Promise<ChoiceContext> {
  return {
    host: offeredTo(offered, companyId),
    company: await configurations.latest(companyId),
    disk: diskRoot !== undefined,
    problemsOf: (provider, configuration) => problemsOf(companyId, provider, configuration)
  }
}

async function explained (known: Known, step: StepRecord): Promise<ChoicesView['steps'][number]> {
  const { service, chosen_by: chosenBy } = step
  const providers = isChosen(step) ? codesFor(known, step).map((code) => consider(known, step, code)) : []
  return { service, chosenBy, providers: await Promise.all(providers) }
}

function isChosen (step: StepRecord): step is ChosenStep {
  return step.provider_code !== null && step.chosen_by !== null
}

/** The providers to be told of: the list of the step in its order, those tried, that of the default now, and all that offer the service. */
function codesFor ({ chooser, left, record: { user_id: userId } }: Known, step: ChosenStep): string[] {
  const service = step.service as ServiceName
  const listed = choiceOf(chooser.company, { userId }, service)?.providers ?? []
  const offering = installedCodes(chooser.host).filter((code) => chooser.host.find(code)?.manifest.services[service] !== undefined)
  return [...new Set([
    ...step.providers?.map(({ code }) => code) ?? [],
    ...left.flatMap(({ stepId, code }) => stepId === step.step_id && code !== null ? [code] : []),
    step.provider_code,
    ...step.chosen_by === 'request' ? [] : listed.map(({ providerName }) => providerName),
    ...offering
  ])]
}

function chosenNow (chooser: ChoiceContext, { user_id: userId }: DispatchRecord, step: StepRecord, code: string): Choice {
  return chooseProvider(chooser, { userId }, step.service as ServiceName, code)
}

async function consider (known: Known, step: ChosenStep, code: string): Promise<ConsideredProvider> {
  const entry = step.providers?.find((one) => one.code === code)
  const { weight, after } = entry ?? {}
  return {
    providerName: code,
    ...code === step.provider_code ? { outcome: 'chosen', reason: whyChosen(step, known.left) } : await whyNot(known, step, code),
    ...(weight === undefined ? {} : { weight }),
    ...(after === undefined ? {} : { after })
  }
}

type Passed = Pick<ConsideredProvider, 'outcome' | 'reason'>

async function whyNot (known: Known, step: ChosenStep, code: string): Promise<Passed> {
  const { log, left, chooser, record } = known
  const { company_id: companyId, dispatch_id: dispatchId } = record
  const last = left.findLast((one) => one.stepId === step.step_id && one.code === code)
  if (last !== undefined) return { outcome: 'tried', reason: whyLeft(last) }
  if (step.providers?.some((one) => one.code === code) === true) {
    return { outcome: 'not_needed', reason: `It stands in the list, and comes into question where "${step.provider_code}" does not send.` }
  }
  try {
    return await whyNotNow(known, step, chosenNow(chooser, record, step, code), code)
  } catch (error) {
    log.warn({ err: error, companyId, dispatchId, provider: code }, 'the check of a provider does not answer')
    return { outcome: 'unusable', reason: 'Its check does not answer.' }
  }
}

async function whyNotNow ({ alternatives, chooser, record }: Known, step: ChosenStep, choice: Choice, code: string): Promise<Passed> {
  if (!choice.chosen) return { outcome: 'unusable', reason: choice.problem.message }
  const isListed = (): boolean => isListedNow(chooser, record, step, code)
  const faults = alternatives.faults(step, choice)
  const [fault] = faults.length > 0 || !isListed() ? faults : await alternatives.foreseen(step, choice)
  return fault === undefined
    ? { outcome: 'not_chosen', reason: whyNotChosen(step, isListed) }
    : { outcome: 'unsupported', reason: fault.message }
}

function isListedNow (chooser: ChoiceContext, { user_id: userId }: DispatchRecord, step: ChosenStep, code: string): boolean {
  const { providers } = choiceOf(chooser.company, { userId }, step.service as ServiceName) ?? {}
  return step.chosen_by !== 'request' && providers?.some(({ providerName }) => providerName === code) === true
}
