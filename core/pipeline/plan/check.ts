import { type Json, type JsonObject, placesAt, pointer, type Problem, withoutMembers } from '@dispatch/common'
import { clientPointerOf, type DispatchRequest, type Mode, presentable, providerRequestOf, refusal, usualVersion,
  type Version } from '@dispatch/contract'
import { type DataFindings, eInvoiceFileFormats, isKnownField, needsSigners, tooFewSigners } from '@dispatch/documents'
import { capabilitiesOf, checkSettings as settingsProblems, ignoredIn, isGiven, problemsForeseen, uncarriedFields } from '@dispatch/host'
import { checkChannel, checkEInvoiceWords, type CheckInput, checkInvoice, contradictions, type Findings, formatOf, givenDocument,
  isServiceName, services } from '@dispatch/services'
import type { Guard } from '@dispatch/vendor-io'
import { reachesSandbox } from '../../configuration/sandbox.ts'
import type { RedactorFor } from '../../configuration/vault.ts'
import { factsTemplateOf, sharedContent } from '../facts.ts'
import { suppressed } from '../recipients.ts'
import type { StoredTemplate } from '../templates.ts'
import { checkCallback, checkCallbackAddress, checkEvents, checkFormats, checkPapers, checkSignaturePlaces,
  checkSigned } from './chain-checks.ts'
import type { ResolvedRequest, ResolvedStep } from './resolve.ts'
import { type Signing, signingOf, type TemplateFindings } from './template-checks.ts'

/** What the rules need besides the request. `link`: a sample, as long as every document link. `guard`: where callbacks may go. */
export type CheckOptions = {
  templateFindings: TemplateFindings
  foreseen: Foreseen
  /** The problems of its recipients, to whom nothing may be sent. */
  screened?: readonly Problem[]
  /** Those of the time at which it is to be sent. */
  mistimed?: readonly Problem[]
  link: string
  mode: Mode
  now: () => Date
  guard: Guard
  version?: Version
}

/**
 * Checks everything that can be known without a provider, rendering or credits; answers the warnings. Throws all problems of a kind
 * together: first `expectation_failed`, then `validation_failed`, or `configuration_missing` when nothing else is wrong.
 */
export function checkRequest (draft: ResolvedRequest, options: CheckOptions): Problem[] {
  const found = findingsOf(draft, options)
  refuseFaults(found)
  return presentable(allOf(found, 'warnings'))
}

/** The findings of a template without warnings of data that no page shows but a service reads: these are no mistake. */
function withoutRead (findings: Findings, steps: readonly ResolvedStep[]): Findings {
  const { warnings = [] } = findings
  if (!warnings.some(({ code }) => code === 'unused_field')) return findings
  const read = new Set(steps.flatMap(placesRead))
  return { ...findings, warnings: warnings.filter(({ path, code }) => code !== 'unused_field' || !read.has(path)) }
}

/** The places of the data that are fields of a step, or have some below. */
function placesRead ({ service, fields, at }: ResolvedStep): string[] {
  return Object.keys(services[service].stated ?? {}).flatMap((field) => {
    const names = at(field).split('/')
    return [...names.map((_, index) => names.slice(0, index + 1).join('/')), ...placesBelow(fields[field], at(field))]
  })
}

function placesBelow (value: Json | undefined, place: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => {
    const at = pointer(place, name)
    return [at, ...placesBelow(part, at)]
  })
}

/** Everything that keeps a request from being recorded, as {@link checkRequest} throws it. */
export function faultsOf (draft: ResolvedRequest, options: CheckOptions): Problem[] {
  const found = findingsOf(draft, options)
  return [...allOf(found, 'expectations'), ...allOf(found, 'problems')]
}

function findingsOf (
  draft: ResolvedRequest,
  { templateFindings, foreseen, screened = [], mistimed = [], link, mode, now, guard, version = usualVersion }: CheckOptions
): Findings[] {
  const { request, steps, deferred } = draft
  const all = [...steps, ...deferred]
  const today = now().toISOString().slice(0, 10)
  const signing = signingOf(steps)
  const given = steps[0]?.enclosed?.find(({ field }) => field === givenDocument)
  const isChain = (step: ResolvedStep): boolean => steps.length > 1 || !steps.includes(step)
  return [
    checkChoices(all),
    checkSandboxes(draft),
    checkCallback(request, mode, version),
    checkCallbackAddress(request, guard),
    checkSignaturePlaces(steps),
    checkFormats(steps),
    checkPapers(steps, deferred),
    checkSigned(steps, deferred),
    checkEvents(steps, deferred),
    { problems: [...screened, ...mistimed] },
    ...all.map((step) => checkSettings(step, version)),
    ...all.flatMap((step) => {
      const own = (findings: Findings): Findings => placed(findings, step)
      return [
        own(checkTruth(step, steps[0])),
        withoutRead(own(checkTemplate(step, { templateFindings, today, signing })), all),
        own(foreseen.get(step) ?? {}),
        own(checkCarried(step, { templateFindings, signing, metadata: request.metadata })),
        own(checkIgnored(step)),
        own(checkStep(step, templateFindings, {
          today,
          otherServices: request.services.filter((name) => name !== step.service),
          ...given === undefined ? {} : { given },
          ...(isChain(step) ? { link } : {})
        }))
      ]
    })
  ]
}

/** Warns of what our own document would show and the vendor's does not. */
function checkCarried (
  { service, fields, choice, template, ...step }: ResolvedStep,
  { templateFindings, signing, metadata }: Pick<Evaluation, 'templateFindings' | 'signing'> & Pick<DispatchRequest, 'metadata'>
): Findings {
  const carries = choice?.provider?.manifest.services[service]?.carries
  if (choice?.provider === undefined || carries === undefined || template === undefined) return {}
  const { warnings } = templateFindings({ ...step, service, fields, choice, template }, signing)
  const unshown = warnings.filter(({ code }) => code === 'unused_field').map(({ path }) => path.slice(usualPlace.length))
  const requested = providerRequestOf(service, fields, { data: template.data, metadata }) ?? {}
  return {
    warnings: uncarriedFields(carries, requested, unshown).map((place) => ({
      path: usualPlace + place,
      code: 'not_carried',
      message: `The document is made by the provider "${choice.provider?.code ?? ''}", which does not get this field.`
    }))
  }
}

/** Warns of fields of the request that the vendor ignores. */
function checkIgnored ({ service, fields, settings, choice, template, at }: ResolvedStep): Findings {
  const ignores = choice?.provider?.manifest.services[service]?.ignores
  if (choice?.provider === undefined || ignores === undefined) return {}
  const said = { [service]: fields, settings, data: template?.data ?? {} }
  const { code } = choice.provider
  return {
    warnings: ignoredIn(ignores, said).flatMap(({ at: place, because }) =>
      placesAt(said, place).filter(({ value }) => isGiven(value)).map(({ path }) => ({
        path: clientPointerOf(service, path, at),
        code: 'unused_field',
        message: `The provider "${code}" does nothing with it.${because === undefined ? '' : ` ${because}`}`
      }))
    )
  }
}

type Surroundings = Pick<CheckInput<never, never>, 'today' | 'otherServices' | 'link' | 'given'>

/** Checks fields that replace those of a recorded step. `data`: of its template, which may be gone. Throws as {@link checkRequest} does. */
export async function checkAgain (
  step: ResolvedStep,
  { now, metadata, redactorFor, screened, ...surroundings }: Omit<Surroundings, 'today'> & {
    data: JsonObject
    screened: readonly Problem[]
    metadata: DispatchRequest['metadata']
    now: () => Date
    redactorFor: RedactorFor
  }
): Promise<void> {
  const { service, fields, choice, template: content, at, enclosed = [] } = step
  const time = now()
  refuseFaults([
    content === undefined
      ? {}
      : contradictions(services[service], {
        fields: saidIn(step),
        data: surroundings.data,
        template: subjectOf(content.template),
        at,
        place: content.path
      }, 'again'),
    services[service].check({
      fields,
      at,
      enclosed,
      template: content === undefined ? {} : subjectOf(content.template),
      provider: providerOf(service, choice),
      today: time.toISOString().slice(0, 10),
      ...surroundings
    }),
    await checkForeseen(step, { data: surroundings.data, metadata, now: time, redactorFor }),
    { problems: [...screened] }
  ])
}

function allOf (found: readonly Findings[], kind: keyof Findings): Problem[] {
  return distinct(found.flatMap((findings) => findings[kind] ?? []))
}

/** The codes of problems that are an error of their own where nothing else is wrong. */
const alone = ['configuration_missing', suppressed] as const

function refuseFaults (found: readonly Findings[]): void {
  const [expectations, problems] = [allOf(found, 'expectations'), allOf(found, 'problems')]
  if (expectations.length > 0) throw refusal('expectation_failed', expectations)
  if (problems.length > 0) throw refusal(alone.find((word) => problems.every(({ code }) => code === word)) ?? 'validation_failed', problems)
}

function checkChoices (steps: readonly ResolvedStep[]): Findings {
  return { problems: steps.flatMap(({ choice }) => choice === undefined || choice.chosen ? [] : [choice.problem]) }
}

/** Refuses a provider without a test environment where the request asks for one. */
function checkSandboxes ({ sandbox, steps, deferred }: ResolvedRequest): Findings {
  if (sandbox === undefined) return {}
  return {
    problems: [...steps, ...deferred].flatMap(({ choice, at }) =>
      choice?.chosen !== true || reachesSandbox(choice.provider, choice.configuration) ? [] : [{
        path: at('providerName'),
        code: 'no_sandbox',
        message: `The provider "${choice.provider.code}" has no test environment, or its configuration does not reach it.`
      }]
    )
  }
}

/** Checks the parameters against the provider's schema. Warns of parameters where no provider is needed. */
function checkSettings ({ service, settings, providerName, choice, at }: ResolvedStep, version: Version): Findings {
  if (choice !== undefined) {
    return {
      problems: choice.provider === undefined
        ? []
        : settingsProblems(choice.provider.manifest.requestSettings, settings, { base: at('settings'), version, service })
    }
  }
  const unused = [...(providerName === undefined ? [] : ['providerName']), ...(Object.keys(settings).length === 0 ? [] : ['settings'])]
  return { warnings: unused.map((field) => ({ path: at(field), code: 'unused_field', message: 'No provider is needed here.' })) }
}

type Evaluation = { templateFindings: TemplateFindings, today: string, signing: Signing | undefined }

function checkTemplate ({ template: content, ...step }: ResolvedStep, { templateFindings, today, signing }: Evaluation): Findings {
  if (content === undefined) return {}
  const { service, fields } = step
  const { template, data } = content
  const found = templateFindings({ ...step, template: content }, signing)
  const isElectronic = formatOf(service, fields) in eInvoiceFileFormats
  const rules = isElectronic ? checkEInvoiceWords : checkInvoice
  const { problems = [], warnings = [] } = template.source.vocabulary === 'invoice'
    ? rules({ data, template: subjectOf(template), today })
    : {}
  // An e-invoice contains every field of the vocabulary, even one that its page does not show.
  const carriesAll = isElectronic || template.source.documentType === 'E_INVOICE'
  return {
    problems: [...found.problems, ...checkSigners(found, signing), ...problems.filter(({ path }) => !isAmong(found.problems, path))],
    warnings: [...warnings, ...found.warnings.filter(({ path }) => !carriesAll || !isWord(path.slice(usualPlace.length)))]
  }
}

/** Whether one of the problems is about a place: what the schema refuses needs no second sentence. */
function isAmong (problems: readonly Problem[], place: string): boolean {
  return problems.some(({ path }) => path === place)
}

/** Refuses a template that has places for more signers than the request names. */
function checkSigners ({ signers }: DataFindings, signing: Signing | undefined): Problem[] {
  if (signing === undefined || signers <= signing.count) return []
  return [{ path: signing.path, code: tooFewSigners, message: needsSigners(signers, signing.count) }]
}

/** Whether the vocabulary of invoices has a field at a JSON pointer. */
function isWord (pointer: string): boolean {
  return isKnownField({ $ref: 'dispatch:invoice' }, pointer.split('/').filter((name) => name !== '' && !/^\d+$/.test(name)))
}

function checkStep (step: ResolvedStep, templateFindings: TemplateFindings, surroundings: Surroundings): Findings {
  const { service, fields, choice, template: content, at, enclosed = [] } = step
  return services[service].check({
    fields,
    at,
    enclosed,
    data: content?.data ?? {},
    template: content === undefined ? {} : {
      ...subjectOf(content.template),
      showsPictures: () => templateFindings({ ...step, template: content }, undefined).showsPictures()
    },
    provider: providerOf(service, choice),
    ...surroundings
  })
}

/** The problems that the chosen providers find themselves, by step: their vendors would refuse the request. */
export type Foreseen = ReadonlyMap<ResolvedStep, Findings>

/** What providers are asked with. `redactorFor` hides the secrets of a configuration in what they say. */
export type Foreseeing = { now: Date, redactorFor: RedactorFor }

/** Asks the chosen providers for the problems that they find themselves. */
export async function foresee ({ request: { metadata }, steps, deferred }: ResolvedRequest, asking: Foreseeing): Promise<Foreseen> {
  const findings = [...steps, ...deferred].map(
    async (step): Promise<[ResolvedStep, Findings]> => [
      step,
      await checkForeseen(step, { data: step.template?.data ?? {}, metadata, ...asking })
    ]
  )
  return new Map(await Promise.all(findings))
}

/** The problems that the provider finds itself. A promise when the provider runs in a process of its own. */
export function checkForeseen (
  { service, fields, settings, choice, at }: ResolvedStep,
  { now, redactorFor, ...content }: { data: JsonObject, metadata: DispatchRequest['metadata'] } & Foreseeing
): Findings | Promise<Findings> {
  const requested = providerRequestOf(service, fields, content, capabilitiesOf(choice?.provider, service)?.capabilities)
  if (choice?.chosen !== true || requested === undefined) return {}
  const { provider, configuration } = choice
  const { settings: { plain }, sandbox, account } = configuration
  const known = { settings: plain, requestSettings: settings, sandbox, now }
  const placed = (problems: readonly Problem[]): Findings => ({
    problems: problems.map((problem) => ({ ...problem, path: clientPointerOf(service, problem.path, at) }))
  })
  const problems = problemsForeseen(provider, service, requested, known, { account, redactor: () => redactorFor(configuration) })
  return problems instanceof Promise ? problems.then(placed) : placed(problems)
}

/**
 * What the fields of a step and the data of its document state must be the same, and its template must be made for the service. A deferred
 * step may send a copy to somebody else.
 */
function checkTruth (step: ResolvedStep, first: ResolvedStep | undefined): Findings {
  const { service, fields, template: own, at, deferredOn } = step
  const content = sharedContent({ service, fields, ...(own === undefined ? {} : { template: own }) }, first)
  if (content === undefined) return {}
  const { template, data, path: place } = content
  const { source: { service: made, alsoFor = [] } } = template
  const said = { fields: saidIn(step), data, template: factsTemplateOf(template), at, place }
  const isCopy = own === undefined && deferredOn !== undefined
  const { problems = [], warnings = [] } = isCopy ? {} : contradictions(services[service], said, 'first')
  const named = { warnings: services[service].checkDocument?.(fields, data) ?? [] }
  return {
    problems: [
      ...own === undefined ? [] : checkChannel(services[service], {
        services: [made, ...alsoFor].filter(isServiceName).map((name) => services[name]),
        path: place.slice(0, -'/data'.length)
      }),
      ...problems
    ],
    warnings: [...warnings, ...placed(named, { template: content }).warnings ?? []]
  }
}

/** What the client says in the fields of a step. */
function saidIn ({ fields, made }: ResolvedStep): JsonObject {
  return made === undefined ? fields : withoutMembers(fields, [pointer('', made)]) as JsonObject
}

function subjectOf (template: StoredTemplate): CheckInput<never, never>['template'] {
  const { documentType, currency } = template.source
  return {
    ...factsTemplateOf(template),
    ...(documentType === undefined ? {} : { documentType }),
    ...(currency === undefined ? {} : { currency })
  }
}

/** What the rules may know of a provider: its capabilities and its plain settings, never its secrets. */
function providerOf (service: ResolvedStep['service'], choice: ResolvedStep['choice']): CheckInput<JsonObject, JsonObject>['provider'] {
  const facts = capabilitiesOf(choice?.provider, service)
  return facts && { ...facts, ...(choice?.chosen === true ? { settings: choice.configuration.settings.plain } : {}) }
}

const usualPlace = '/template/data'

/** Moves the paths of findings to where the data really is in the request; the rules assume `/template/data`. */
function placed (findings: Findings, { template }: Pick<ResolvedStep, 'template'>): Findings {
  if (template === undefined || template.path === usualPlace) return findings
  const place = (problem: Problem): Problem =>
    problem.path.startsWith(`${usualPlace}/`) || problem.path === usualPlace
      ? { ...problem, path: template.path + problem.path.slice(usualPlace.length) }
      : problem
  return Object.fromEntries(Object.entries(findings).map(([kind, problems]) => [kind, problems.map(place)]))
}

/** Reports a fault once when the data's schema and a business rule both find it. */
function distinct (problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>()
  return problems.filter(({ path, code }) => !seen.has(`${path} ${code}`) && seen.add(`${path} ${code}`))
}
