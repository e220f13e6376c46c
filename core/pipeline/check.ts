import { isDeliveryService } from '../contract/delivery.ts'
import { presentable, refusal, type Problem } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { checkSettings } from '../host/settings.ts'
import { services } from '../services/index.ts'
import { checkInvoice } from '../services/invoice.ts'
import type { Facts, Findings, Subject } from '../services/service.ts'
import type { StoredTemplate } from '../store/templates.ts'
import type { Draft, DraftStep, Plan, PlannedStep } from './plan.ts'
import type { TemplateChecks } from './template-checks.ts'

/** What the rules need besides the draft. `prices` in credits, by service; a service without one has its own. */
export type Rules = { templateChecks: TemplateChecks, prices: Readonly<Record<string, number>>, now: () => Date }

/**
 * Checks everything that can be known without a provider, rendering or credits, and makes the plan. Throws all problems of
 * a kind together: first `expectation_failed`, then `validation_failed`, or `configuration_missing` when nothing else is wrong.
 */
export function check (draft: Draft, { templateChecks, prices, now }: Rules): Plan {
  const { request, steps } = draft
  const today = now().toISOString().slice(0, 10)
  const found = [
    checkChoices(steps),
    checkCallback(draft),
    checkRequestSettings(draft),
    ...steps.flatMap((step) => [checkTemplate(step, templateChecks, today), checkStep(draft, step, today)].map((findings) => placed(findings, step)))
  ]
  refuseFaults(found)
  return {
    request,
    steps: steps.map((step) => planned(step, prices)),
    deferred: [],
    facts: steps.reduce<Facts>((facts, step) => ({ ...services[step.service].facts(step.fields, step.template?.data ?? {}), ...facts }), {}),
    warnings: presentable(allOf(found, 'warnings'))
  }
}

/** Checks the fields that take the place of a recorded step's. Throws as {@link check} does. */
export function checkAgain (step: DraftStep, at: (field: string) => string, { data, now }: { data: JsonObject, now: () => Date }): void {
  const { service, fields, choice } = step
  refuseFaults([services[service].check({ fields, at, data, template: {}, provider: providerOf(service, choice), today: now().toISOString().slice(0, 10) })])
}

function allOf (found: readonly Findings[], kind: keyof Findings): Problem[] {
  return distinct(found.flatMap((findings) => findings[kind] ?? []))
}

function refuseFaults (found: readonly Findings[]): void {
  const [expectations, problems] = [allOf(found, 'expectations'), allOf(found, 'problems')]
  if (expectations.length > 0) throw refusal('expectation_failed', expectations)
  if (problems.length > 0) throw refusal(problems.every(({ code }) => code === 'configuration_missing') ? 'configuration_missing' : 'validation_failed', problems)
}

function checkChoices (steps: readonly DraftStep[]): Findings {
  return { problems: steps.flatMap(({ choice }) => choice === undefined || choice.chosen ? [] : [choice.problem]) }
}

function checkCallback ({ request }: Draft): Findings {
  if (request.callbackUrl === undefined || request.services.some(isDeliveryService)) return {}
  return { problems: [{ path: '/callbackUrl', code: 'not_supported', message: `Nothing is called back for "${request.services.join('/')}" yet; leave the field out and read the dispatch with GET /api/v1/dispatches/{id}.` }] }
}

/** The parameters go to a provider; where there is none, they are for nobody. */
function checkRequestSettings ({ request: { settings, providerName }, steps }: Draft): Findings {
  const providers = steps.flatMap(({ choice }) => choice?.provider ?? [])
  if (steps.some(({ choice }) => choice !== undefined)) return { problems: providers.flatMap(({ manifest }) => checkSettings(manifest.requestSettings, settings, '/settings')) }
  const unused = [...(providerName === undefined ? [] : ['providerName']), ...(Object.keys(settings).length === 0 ? [] : ['settings'])]
  return { warnings: unused.map((field) => ({ path: `/${field}`, code: 'unused_field', message: 'No provider is needed here.' })) }
}

function checkTemplate ({ template: content }: DraftStep, templateChecks: TemplateChecks, today: string): Findings {
  if (content === undefined) return {}
  const { template, data } = content
  const { fits, unused } = templateChecks(template)
  const { problems = [], warnings = [] } = template.source.vocabulary === 'invoice' ? checkInvoice({ data, template: subjectOf(template), today }) : {}
  return { problems: [...fits(data), ...problems], warnings: [...warnings, ...unused(data)] }
}

function checkStep ({ request }: Draft, { service, fields, choice, template: content }: DraftStep, today: string): Findings {
  return services[service].check({
    fields,
    at: (field) => request.at(service, field),
    data: content?.data ?? {},
    template: content === undefined ? {} : subjectOf(content.template),
    provider: providerOf(service, choice),
    today
  })
}

function subjectOf ({ source: { documentType, vocabulary, currency } }: StoredTemplate): Subject<never, never>['template'] {
  return {
    ...(documentType === undefined ? {} : { documentType }),
    ...(vocabulary === undefined ? {} : { vocabulary }),
    ...(currency === undefined ? {} : { currency })
  }
}

/** What the rules may know of a provider: nothing of its secrets. */
function providerOf (service: DraftStep['service'], choice: DraftStep['choice']): Subject<JsonObject, JsonObject>['provider'] {
  const capabilities = choice?.provider?.manifest.services[service]?.capabilities
  if (choice?.provider === undefined || capabilities === undefined) return undefined
  return { code: choice.provider.code, capabilities, ...(choice.chosen ? { settings: choice.configuration.settings.plain } : {}) }
}

function planned ({ service, fields, settings, template: content, choice }: DraftStep, prices: Rules['prices']): PlannedStep {
  const price = prices[service] ?? services[service].price
  const step = { service, fields, requestSettings: settings, ...(content === undefined ? {} : { content: { template: content.template, data: content.data } }) }
  if (choice?.chosen !== true) return { ...step, price }
  const { provider, chosenBy, configuration: { userId, sandbox } } = choice
  return { ...step, price: sandbox ? 0 : price, by: { provider, chosenBy, configuredBy: userId === null ? 'company' : 'user', sandbox } }
}

const usualPlace = '/template/data'

/** Rules speak of data where it usually stands; it may stand elsewhere in the request. */
function placed (findings: Findings, { template }: DraftStep): Findings {
  if (template === undefined || template.path === usualPlace) return findings
  const place = (problem: Problem): Problem => problem.path.startsWith(`${usualPlace}/`) || problem.path === usualPlace ? { ...problem, path: template.path + problem.path.slice(usualPlace.length) } : problem
  return Object.fromEntries(Object.entries(findings).map(([kind, problems]) => [kind, problems.map(place)]))
}

/** The schema of the data and the business rules may find the same fault: it is told once. */
function distinct (problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>()
  return problems.filter(({ path, code }) => !seen.has(`${path} ${code}`) && seen.add(`${path} ${code}`))
}
