import { type Actor, requireService } from '@dispatch/accounts'
import type { Problem } from '@dispatch/common'
import { type DispatchRequest, isSince, refusal, type RequestStep, type Stated, usualVersion, type Version } from '@dispatch/contract'
import type { Host, InstalledProvider } from '@dispatch/host'
import { type Enclosed, isStatedIn, needsProvider, type ServiceName, services } from '@dispatch/services'
import { type Choice, type ChoiceContext, chooseListed, chooseProvider, type ListedChoice } from '../../configuration/choose.ts'
import type { Configurations, StoredConfiguration } from '../../store/configuration/configurations.ts'
import { factsTemplateOf } from '../facts.ts'
import type { TemplateContent } from '../step.ts'
import type { Templates } from '../templates.ts'
import { inSellerLanguage } from './seller-language.ts'

/**
 * A request with the templates and providers that it names, before the rules are checked. `test`: nothing real comes of it. `sandbox`: its
 * vendors must have test environments.
 */
export type ResolvedRequest = {
  request: DispatchRequest
  test: boolean
  sandbox?: true
  steps: readonly ResolvedStep[]
  /** Those that wait for an event of the dispatch. */
  deferred: readonly ResolvedStep[]
}

/**
 * `made`: the field that its template makes. `choice`: of its provider, where the service needs one. `listed`: of a list, all in the order
 * in which they are tried. `able`: of a list, all that can do it, whichever is drawn. `enclosed`: the documents that its fields name.
 */
export type ResolvedStep = Omit<RequestStep, 'template' | 'stated' | 'untitled'> & {
  template?: ResolvedTemplate
  made?: string
  enclosed?: readonly Enclosed[]
  choice?: Choice
  listed?: readonly ListedChoice[]
  able?: readonly Choice[]
}

/** `path`: where the data stands in the client's body. */
export type ResolvedTemplate = TemplateContent & { path: string }

/** `version`: of the API that the request asks for. */
export type ResolveDependencies = { configurations: Configurations, templates: Templates, host: Host } & {
  version?: Version
  disk?: boolean
  problemsOf: (companyId: number, provider: InstalledProvider, configuration: StoredConfiguration) => readonly Problem[]
}

/** Throws `forbidden` unless the actor may use every one of the services. */
export function requireServices (actor: Actor, services: readonly ServiceName[]): void {
  for (const service of services) requireService(actor, service)
}

/** Throws `forbidden` unless the actor may use every service of the request, now or later. */
export function requireAll (actor: Actor, { services, deferred }: DispatchRequest): void {
  requireServices(actor, [...services, ...deferred.map(({ service }) => service)])
}

/**
 * Finds what a request names: its templates, and a provider with a configuration for each step that needs one. Throws `template_not_found`.
 */
export async function resolveRequest (
  catalogs: ResolveDependencies,
  actor: Actor,
  request: DispatchRequest,
  where: { sandbox?: true } = {}
): Promise<ResolvedRequest> {
  const { companyId } = actor
  const chooser: ChoiceContext = {
    host: catalogs.host,
    version: catalogs.version ?? usualVersion,
    company: await catalogs.configurations.of(companyId),
    disk: catalogs.disk ?? false,
    problemsOf: (provider, configuration) => catalogs.problemsOf(companyId, provider, configuration)
  }
  const contentOf = async (named: NonNullable<RequestStep['template']>): Promise<ResolvedTemplate> => {
    const { data, path } = named
    const template = await catalogs.templates.find(companyId, named)
    return { data: isSince('1.1.0', catalogs.version ?? usualVersion) ? inSellerLanguage(template, data) : data, path, template }
  }
  const resolve = async ({ template, ...step }: RequestStep): Promise<StatedStep> => ({
    ...step,
    ...(template === undefined ? {} : { template: await contentOf(template) }),
    ...(needsProvider(step.service) ? choicesFor(chooser, actor, step) : {})
  })
  const steps = takeStatements(await Promise.all([...request.steps, ...request.deferred].map(resolve)))
  return {
    request,
    test: actor.key?.mode === 'test' || where.sandbox === true,
    ...where,
    steps: steps.slice(0, request.steps.length),
    deferred: steps.slice(request.steps.length)
  }
}

type StatedStep = ResolvedStep & Pick<RequestStep, 'stated' | 'untitled'>

/**
 * The steps with the fields that the request leaves out and the data of their documents state; a subject that a template makes itself is
 * left to it. Throws `validation_error` where a field is required that the template does not state.
 */
export function takeStatements (steps: readonly StatedStep[]): ResolvedStep[] {
  const [first] = steps
  const problems: Problem[] = []
  const whole = steps.map(({ stated = {}, untitled, ...step }) => {
    const { service, template: content = first?.template, at } = step
    const made = untitled === undefined ? undefined : subjectMadeBy(step)
    if (made === undefined) problems.push(...untitled ?? [])
    const known = content === undefined ? {} : factsTemplateOf(content.template)
    const { taken = [], left = [] } = Object.groupBy(Object.entries(stated).filter(([field]) => field !== made),
      ([field]) => isStatedIn(known, services[service], field) ? 'taken' : 'left')
    const missing = left.filter(([field]) => services[service].required.includes(field))
    problems.push(...missing.map(([field, { path }]) => ({
      path: at(field),
      code: 'required',
      message: `The field "${field}" is required: the template does not say that "${path}" is meant.`
    })))
    return withFields(step, Object.fromEntries(taken))
  })
  if (problems.length > 0) throw refusal('validation_error', problems)
  return whole
}

/** The field of a step that the subject of its template replaces; undefined where there is none. */
export function subjectMadeBy ({ service, fields, template }: Pick<ResolvedStep, 'service' | 'fields'> & { template?: TemplateContent }):
  | string
  | undefined
{
  const { subject } = services[service].template ?? {}
  return subject === undefined || fields[subject] !== undefined || template?.template.source.subject === undefined ? undefined : subject
}

/** A step with fields of the data, whose problems are told there. */
function withFields (step: ResolvedStep, taken: Readonly<Record<string, Stated>>): ResolvedStep {
  const fields = Object.fromEntries(Object.entries(taken).map(([field, { value }]) => [field, value]))
  return { ...step, fields: { ...step.fields, ...fields }, at: (field) => taken[field]?.path ?? step.at(field) }
}

/** The choice of a step's provider, or of several. A problem points to the field `providerName`. */
function choicesFor (
  chooser: ChoiceContext,
  actor: Actor,
  { service, providerName, at }: Omit<RequestStep, 'template'>
): Pick<ResolvedStep, 'choice' | 'listed'> {
  const placed = (choice: Choice): Choice =>
    choice.chosen ? choice : { ...choice, problem: { ...choice.problem, path: at('providerName') } }
  const listed = providerName === undefined ? chooseListed(chooser, actor, service) : undefined
  return {
    choice: placed(chooseProvider(chooser, actor, service, providerName)),
    ...(listed === undefined ? {} : { listed: listed.map((entry) => ({ ...entry, choice: placed(entry.choice) })) })
  }
}
