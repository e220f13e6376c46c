import { presentable, refusal, type Problem } from '../contract/errors.ts'
import { checkSettings } from '../host/settings.ts'
import { services } from '../services/index.ts'
import type { Facts, Findings } from '../services/service.ts'
import type { Draft, DraftStep, Plan, PlannedStep } from './plan.ts'
import type { TemplateChecks } from './template-checks.ts'

/** What the rules need besides the draft. `prices` in credits, by service; a service without one has its own. */
export type Rules = { templateChecks: TemplateChecks, prices: Readonly<Record<string, number>>, now: () => Date }

/**
 * Checks everything that can be known without a provider, rendering or credits, and makes the plan. Throws all problems
 * together: as `validation_failed`, or as `configuration_missing` when nothing else is wrong.
 */
export function check (draft: Draft, { templateChecks, prices, now }: Rules): Plan {
  const { request, template, steps } = draft
  const { data } = request.template
  const today = now().toISOString().slice(0, 10)
  const { fits, unused } = templateChecks(template)
  const found = steps.map((step) => checkStep(draft, step, today))
  const problems = distinct([
    ...steps.flatMap((step) => step.chosen ? [] : [step.problem]),
    ...checkCallback(draft),
    ...steps.flatMap((step) => step.provider === undefined ? [] : checkSettings(step.provider.manifest.requestSettings, request.settings, '/settings')),
    ...fits(data),
    ...found.flatMap((findings) => findings.problems)
  ])
  if (problems.length > 0) throw refusal(problems.every(({ code }) => code === 'configuration_missing') ? 'configuration_missing' : 'validation_failed', problems)
  return {
    request,
    template,
    steps: steps.flatMap((step) => planned(step, prices)),
    facts: steps.reduce<Facts>((facts, step) => ({ ...services[step.service].facts(step.fields, data), ...facts }), {}),
    warnings: presentable(distinct([...found.flatMap((findings) => findings.warnings), ...unused(data)]))
  }
}

function checkStep ({ request, template }: Draft, { service, fields, provider }: DraftStep, today: string): Findings {
  const capabilities = provider?.manifest.services[service]?.capabilities
  const { documentType, vocabulary, currency } = template.source
  return services[service].check({
    fields,
    at: (field) => request.at(service, field),
    data: request.template.data,
    template: {
      ...(documentType === undefined ? {} : { documentType }),
      ...(vocabulary === undefined ? {} : { vocabulary }),
      ...(currency === undefined ? {} : { currency })
    },
    provider: provider === undefined || capabilities === undefined ? undefined : { code: provider.code, capabilities },
    today
  })
}

function checkCallback ({ request }: Draft): Problem[] {
  if (request.callbackUrl === undefined) return []
  return [{ path: '/callbackUrl', code: 'not_supported', message: 'Callbacks are not sent yet; leave the field out and read the dispatch with GET /api/v1/dispatches/{id}.' }]
}

function planned (step: DraftStep, prices: Rules['prices']): PlannedStep[] {
  if (!step.chosen) return []
  const { service, fields, provider, chosenBy, configuration } = step
  const { sandbox } = configuration
  const price = sandbox ? 0 : prices[service] ?? services[service].price
  return [{ service, fields, provider, chosenBy, configuredBy: configuration.userId === null ? 'company' : 'user', sandbox, price }]
}

/** The schema of the data and the business rules may find the same fault: it is told once. */
function distinct (problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>()
  return problems.filter(({ path, code }) => !seen.has(`${path} ${code}`) && seen.add(`${path} ${code}`))
}
