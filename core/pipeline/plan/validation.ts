import type { ValidationResponse } from '../../contract/response.ts'
import { services } from '../../services/index.ts'
import type { DispatchPlan, PlannedStep } from './plan.ts'

/** What a client reads of a plan that would be followed. */
export function validationOf ({ request, steps, deferred, warnings }: DispatchPlan): ValidationResponse {
  return {
    success: true,
    result: warnings.length === 0 ? 'success' : 'warning',
    warnings: [...warnings],
    plan: [...steps.map(plannedView), ...deferred.map((step) => ({ ...plannedView(step), on: step.deferredOn }))],
    metadata: request.metadata
  }
}

function plannedView ({ service, fields, content, by, price }: PlannedStep): ValidationResponse['plan'][number] {
  const { documentType } = services[service].facts(fields, content?.data ?? {})
  return {
    service,
    ...(by === undefined
      ? {}
      : { providerName: by.provider.code, chosenBy: by.chosenBy, ...(by.sandbox ? { sandbox: true as const } : {}) }),
    ...(documentType === undefined ? {} : { documentType }),
    credits: price
  }
}
