import { givenDocument, type ServiceName, services } from '@dispatch/services'
import type { Step } from './step.ts'

/** Where a field of a step belongs in a body that nobody has any more. */
export const placeIn = (service: ServiceName) => (field: string): string => field === givenDocument ? `/${field}` : `/${service}/${field}`

/** The steps of a dispatch: those of its path, and those beside it. */
type Steps = { steps: readonly Step[], deferred: readonly Step[] }

/**
 * Finds where a place of a step stands in the client's body. The rules of services speak of their own object, of `/template` for whatever
 * the document of the step is made of, and of `/document` for the one that the request gives.
 */
export function placesOf (all: Steps, step: Step): (place: string) => string {
  const { steps: [first = step] } = all
  const at = fieldsOf(all, step)
  return (place) => {
    const [, top = '', ...below] = place.split('/')
    const [field, ...inside] = below
    if (top === 'template') return [templateOf(all, step), ...below].join('/')
    if (top === givenDocument) return [fieldsOf(all, first)(givenDocument), ...below].join('/')
    return top === step.service && field !== undefined ? [at(field), ...inside].join('/') : place
  }
}

function fieldsOf ({ deferred }: Steps, step: Step): (field: string) => string {
  const index = deferred.filter(({ deferredOn }) => deferredOn !== undefined).findIndex(({ stepId }) => stepId === step.stepId)
  return step.at ?? (index < 0 ? placeIn(step.service) : (field) => `/deferred/${index}/${field}`)
}

/** Where that stands of which the document of a step is made: its own template, or what it takes over. */
function templateOf (all: Steps, step: Step): string {
  const { steps: [first = step] } = all
  const { template, service, fields, stepId } = step.template === undefined ? first : step
  if (template?.path !== undefined) return template.path.replace(/\/data$/, '')
  if (template === undefined && fields[givenDocument] !== undefined) return fieldsOf(all, first)(givenDocument)
  if (template === undefined && services[service].content === 'upload') return '/file'
  return stepId === first.stepId ? '/template' : fieldsOf(all, step)('template')
}
