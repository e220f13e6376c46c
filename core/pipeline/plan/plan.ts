import type { Keyring, Problem } from '@dispatch/common'
import { createRequestReader, createUploadReader, type DispatchRequest, dueMoment, isSince, refusal, type ServicePath, usualVersion,
  type ValidationResponse, type Version } from '@dispatch/contract'
import { priceOf, type Prices } from '@dispatch/credits'
import type { Database } from '@dispatch/database'
import type { TemplateWorkers } from '@dispatch/documents'
import type { FileStore } from '@dispatch/files'
import { type Host, type InstalledProvider, offeredTo } from '@dispatch/host'
import { type Facts, services } from '@dispatch/services'
import type { Schedule, StepCandidate } from '@dispatch/tables'
import type { Network } from '@dispatch/vendor-io'
import type { Choice, ListedChoice } from '../../configuration/choose.ts'
import { reachesSandbox } from '../../configuration/sandbox.ts'
import { redactorsOf } from '../../configuration/vault.ts'
import type { Configurations } from '../../store/configuration/configurations.ts'
import type { DispatchCommand } from '../command.ts'
import { findExpiring, withEnclosed } from '../enclosures.ts'
import type { FileShelf } from '../file-shelf.ts'
import { type RecipientBook, screenAll } from '../recipients.ts'
import { type Able, listedIn, type Step, type StepProvider, unbegun } from '../step.ts'
import type { Templates } from '../templates.ts'
import { checkRequest, faultsOf, foresee, type Foreseen } from './check.ts'
import { orderLists } from './lists.ts'
import { withOriginals } from './original.ts'
import { requireAll, requireServices, type ResolveDependencies, type ResolvedRequest, type ResolvedStep,
  resolveRequest } from './resolve.ts'
import { timingOf } from './schedule.ts'
import { createTemplateChecks } from './template-checks.ts'

/** What will be done, who does it and what it costs. Never changed. */
export type DispatchPlan = {
  request: DispatchRequest
  /** Asked for with a test key, or for test environments: nothing real comes of it, now or later. */
  test: boolean
  steps: readonly Step[]
  /** What is done later, each at an event of the dispatch. */
  deferred: readonly Step[]
  facts: Facts
  /** When it is sent, where that is not at once. */
  schedule?: Schedule
  warnings: readonly Problem[]
}

/**
 * `standIn`: the provider of a test when the chosen one has no sandbox.
 */
export type PlanOptions = {
  prices: Prices
  newId: () => string
  standIn?: InstalledProvider | undefined
}

/** The two stages before a request is recorded. Both throw a DispatchError when the request is wrong. */
export type Planner = {
  /** Reads the body. Throws `forbidden` when the actor may not use one of the services. */
  read: (command: DispatchCommand) => DispatchRequest
  /** Finds what the request names, checks the rules and makes the plan. */
  plan: (command: DispatchCommand, request: DispatchRequest) => Promise<DispatchPlan>
}

/**
 * `link`: a sample, as long as every document link. `standIn`: the code of the provider that test keys use when the chosen one has no
 * sandbox. `offered`: the providers that may be chosen; all unless given.
 */
export type PlannerOptions = Pick<PlanOptions, 'prices'> & Pick<ResolveDependencies, 'problemsOf'> & {
  link: string
  standIn?: string
  offered?: Host
}

/** What making a plan takes. */
export type PlannerDependencies = {
  database: Database
  configurations: Configurations
  templates: Templates
  files: FileStore
  host: Host
  network: Pick<Network, 'guard'>
  /** The folder on the operator's disk that providers may write to. */
  diskRoot?: string
  templateWorkers: TemplateWorkers
  recipients: readonly RecipientBook[]
  shelves: readonly FileShelf[]
  keyring: Keyring
  now: () => Date
  /** A UUIDv7. */
  newId: () => string
}

/**
 * Reads requests and plans dispatches. Throws what a client is told of a request: `validation_error` and `validation_failed` with the place
 * of each fault, `configuration_missing` where no provider can do a step.
 */
export function createPlanner (dependencies: PlannerDependencies, options: PlannerOptions): Planner {
  const { prices, link, problemsOf, standIn, offered = dependencies.host } = options
  const readers = new Map<string, (body: unknown) => DispatchRequest>()
  const { configurations, templates, diskRoot, now, newId, keyring, network: { guard } } = dependencies
  const catalogs = { configurations, templates, disk: diskRoot !== undefined, problemsOf }
  const templateChecks = createTemplateChecks(dependencies.templateWorkers)
  return {
    read ({ actor, services: path, body, version = usualVersion }) {
      // Before the body is read: an actor who may not use a service does not learn its fields.
      requireServices(actor, path)
      const key = `${path.join('/')} ${version}`
      const reader = readers.get(key) ?? readerOf(path, version)
      readers.set(key, reader)
      const request = reader(body)
      requireAll(actor, request)
      return request
    },

    async plan ({ actor, mode = 'synchronous', sandbox, version = usualVersion, batchId, approval, asOf }, request) {
      const resolved = await resolveRequest({ ...catalogs, host: offeredTo(offered, actor.companyId), version }, actor, request,
        sandbox === undefined ? {} : { sandbox })
      const whole = await withEnclosed(dependencies, actor, await withOriginals(dependencies, actor, resolved))
      const { draft: read, templateFindings } = await templateChecks(whole)
      // A row of a batch is checked before it is handed over: only then has its time passed while it waited.
      const mayBeLate = batchId !== undefined || (approval !== undefined && 'approvalId' in approval)
      // Due times go by the clock of the database: that of this process may be another.
      const time = request.schedule === undefined ? now() : asOf ?? await dependencies.database.time()
      const { schedule, problems } = timingOf(request.schedule, read.steps, time, mayBeLate)
      const mistimed = schedule?.dueAt === undefined
        ? problems
        : await findExpiring(dependencies, actor.companyId, [...read.steps, ...read.deferred], dueMoment(schedule.dueAt))
      // Nobody waits for what is sent later.
      const checking = { templateFindings, link, mode: schedule?.dueAt === undefined ? mode : 'asynchronous' as const, now, guard, version }
      const redactorFor = redactorsOf(keyring, actor.companyId)
      const foreseen = (tried: ResolvedRequest): Promise<Foreseen> => foresee(tried, { now: now(), redactorFor })
      const { draft, warnings: left } = await orderLists(read,
        async (tried) => faultsOf(tried, { ...checking, foreseen: await foreseen(tried) }))
      const [reported, screened] = await Promise.all([
        foreseen(draft),
        // Plain texts are sent as planned, perhaps long after their request began; whatever is sent later is screened again.
        screenAll(dependencies.recipients, actor.companyId, [...draft.steps, ...draft.deferred], {
          latest: checking.mode === 'synchronous'
        })
      ])
      const warnings = checkRequest(draft, { ...checking, foreseen: reported, screened, mistimed })
      const plan = planOf(draft, [...left, ...warnings], {
        prices,
        newId,
        standIn: standIn === undefined ? undefined : dependencies.host.find(standIn)
      })
      return schedule === undefined ? plan : { ...plan, schedule }
    }
  }
}

/** An upload is a form whose fields are texts; every other body is JSON. */
function readerOf (path: ServicePath, version: Version): (body: unknown) => DispatchRequest {
  return services[path[0]].content === 'upload' ? createUploadReader(path) : createRequestReader(path, version)
}

/** The plan of a request that passed the checks. Throws `configuration_missing` when a test has no provider. */
export function planOf (
  { request, test, steps, deferred }: ResolvedRequest,
  warnings: readonly Problem[],
  { prices, newId, standIn }: PlanOptions
): DispatchPlan {
  const plan = (step: ResolvedStep): Step => {
    const { requestSettings, price, by, able } = test ? doneInTest(step, standIn) : done(step, prices)
    const { service, fields, at, template, deferredOn } = step
    return {
      stepId: newId(),
      service,
      fields,
      at,
      requestSettings,
      price,
      ...(template === undefined ? {} : { template: { template: template.template, data: template.data, path: template.path } }),
      ...(by === undefined ? {} : { by }),
      ...(able === undefined ? {} : { able }),
      ...(deferredOn === undefined ? {} : { deferredOn }),
      content: {},
      state: deferredOn === undefined ? unbegun : { ...unbegun, status: 'waiting' }
    }
  }
  return {
    request,
    test,
    steps: steps.map(plan),
    deferred: deferred.map(plan),
    facts: steps.reduce<Facts>((facts, step) => ({ ...services[step.service].facts(step.fields, step.template?.data ?? {}), ...facts }),
      {}),
    warnings
  }
}

/** Who does a step, with which parameters, and for how much. */
type Doing = Pick<Step, 'requestSettings' | 'price' | 'able'> & { by?: StepProvider & { provider: InstalledProvider } }

function done ({ service, settings, choice, listed, able }: ResolvedStep, prices: Prices): Doing {
  const price = (sandbox: boolean): number => priceOf(service, { prices, sandbox })
  if (choice?.chosen !== true) return { requestSettings: settings, price: price(false) }
  const ableOf = (one: Choice): Able[] => {
    if (!one.chosen) return []
    const { provider: { code }, configuration: { sandbox } } = one
    return [{ code, sandbox, price: price(sandbox) }]
  }
  const { provider, chosenBy, configuration: { sandbox } } = choice
  return {
    requestSettings: settings,
    price: price(sandbox),
    ...(able === undefined ? {} : { able: able.flatMap(ableOf) }),
    by: { ...usedOf(choice), provider, chosenBy, sandbox, ...(listed === undefined ? {} : { list: listed.flatMap(candidateOf) }) }
  }
}

/** A provider of a list as it is recorded. */
function candidateOf ({ choice, ...entry }: ListedChoice): StepCandidate[] {
  return choice.chosen ? [{ ...entry, ...usedOf(choice) }] : []
}

function usedOf ({ provider: { code, version }, configuration: { userId } }: Extract<Choice, { chosen: true }>) {
  return { code, version, configuredBy: userId === null ? 'company' as const : 'user' as const }
}

/**
 * A test costs nothing. It runs in the sandbox of the chosen provider, or with the stand-in, which does not get the parameters that were
 * meant for the chosen one.
 */
function doneInTest (step: ResolvedStep, standIn: InstalledProvider | undefined): Doing {
  const { by, requestSettings } = done(step, {})
  if (by === undefined || step.choice?.chosen !== true) return { requestSettings, price: 0 }
  if (reachesSandbox(by.provider, step.choice.configuration)) return { requestSettings, price: 0, by: { ...by, sandbox: true } }
  if (standIn?.manifest.services[step.service] === undefined) {
    throw refusal('configuration_missing', [{
      path: step.at('providerName'),
      code: 'no_sandbox',
      message: `The provider "${by.code}" has no sandbox, and there is none to stand in for it: it cannot be tested.`
    }])
  }
  const { code, version } = standIn
  const { list: _, ...chosen } = by
  return { requestSettings: {}, price: 0, by: { ...chosen, code, version, provider: standIn, configuredBy: 'nobody', sandbox: true } }
}

/** What making the content of a plan has shown beforehand: warnings, and the texts by the id of their step. */
export type Rehearsal = { warnings: readonly Problem[], texts: ReadonlyMap<string, string> }

/** The plan as the answer to a validation shows it in a version of the API. */
export function validationOf (
  plan: DispatchPlan,
  { warnings: found, texts }: Rehearsal,
  version: Version = usualVersion
): ValidationResponse {
  const { request, steps, deferred, schedule, facts: { recipient } } = plan
  const warnings = [...plan.warnings, ...found]
  return {
    success: true,
    result: warnings.length === 0 ? 'success' : 'warning',
    warnings,
    ...(recipient !== undefined && isSince('1.1.0', version) && { recipient }),
    ...(schedule?.dueAt === undefined ? {} : { sendAt: schedule.dueAt }),
    plan: [...steps, ...deferred].map((step) => plannedView(step, texts.get(step.stepId))),
    metadata: request.metadata
  }
}

function plannedView (
  { service, fields, template, by, price, deferredOn }: Step,
  text: string | undefined
): ValidationResponse['plan'][number] {
  const { documentType } = services[service].facts(fields, template?.data ?? {})
  return {
    service,
    ...(by === undefined ? {} : {
      providerName: by.code,
      chosenBy: by.chosenBy,
      ...listedIn(by.list),
      ...(by.sandbox ? { sandbox: true as const } : {})
    }),
    ...(documentType === undefined ? {} : { documentType }),
    ...services[service].measure?.(fields, text === undefined ? {} : { text }),
    credits: price,
    ...(deferredOn === undefined ? {} : { on: deferredOn })
  }
}
